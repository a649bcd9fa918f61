/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Includes all headers of libloaderx-parity, whose orders and sources exactly reproduce
 * those of torch, Nanotron and Megatron.
 *
 * A new release of one of those projects can change what these functions must return. The functions
 * are therefore in a separate library on top of the loader and sampler libraries, so that the ABI
 * of those libraries does not depend on them.
 */
#ifndef LOADERX_PARITY_H
#define LOADERX_PARITY_H

#include <loaderx/parity/megatron.h>
#include <loaderx/parity/nanoset.h>
#include <loaderx/parity/torch.h>

#endif
