/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Includes all headers of libloaderx and of the libraries that it is built on.
 */
/**
 * @mainpage The C interface
 * A program opens a source (@ref lx_source "lx_source") and a loader over it (@ref lx_loader
 * "lx_loader"), which returns batches (@ref lx_batch "lx_batch") in an order (@ref lx_order
 * "lx_order"). Datasets are written by an @ref lx_writer "lx_writer", and their records can also be
 * read without a loader (@ref lx_dataset "lx_dataset"). A call that can fail returns a status, and
 * describes the failure in an lx_error.
 *
 * "Modules" lists all objects with their functions. loaderx(7) explains the terms, the layers and
 * the rules for all calls.
 */
#ifndef LOADERX_LOADERX_H
#define LOADERX_LOADERX_H

#include <loaderx/batch.h>
#include <loaderx/batching.h>
#include <loaderx/dtype.h>
#include <loaderx/executor.h>
#include <loaderx/hooks.h>
#include <loaderx/loader-options.h>
#include <loaderx/loader.h>
#include <loaderx/map.h>
#include <loaderx/mixture.h>
#include <loaderx/packing.h>
#include <loaderx/padding.h>
#include <loaderx/prefetch.h>
#include <loaderx/random.h>
#include <loaderx/sampler.h>
#include <loaderx/source.h>
#include <loaderx/split.h>
#include <loaderx/status.h>
#include <loaderx/tokens.h>
#include <loaderx/trace.h>
#include <loaderx/version.h>
#include <loaderx/weighted.h>
#include <loaderx/zrecord.h>

#endif
