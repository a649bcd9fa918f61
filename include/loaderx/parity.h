/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief All of libloaderx-parity: orders and sources that reproduce those of torch, Nanotron and
 * Megatron exactly.
 *
 * A release of another project can change what these functions have to return. They are a library
 * of their own, above loader and sampler, so that the ABI of those does not depend on it.
 */
#ifndef LOADERX_PARITY_H
#define LOADERX_PARITY_H

#include <loaderx/parity/megatron.h>
#include <loaderx/parity/nanoset.h>
#include <loaderx/parity/torch.h>

#endif
