/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Includes all headers of libloaderx and of the libraries that it is built on.
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
