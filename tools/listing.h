/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Indices that a sampler gives, printed one a line or as a list of JSON.
 */
#ifndef LX_TOOLS_LISTING_H
#define LX_TOOLS_LISTING_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/sampler.h>

/** Prints up to @p count indices, fewer where the order is empty or ends; as many as a list's
 * elements in JSON, without the brackets. */
lx_status listing_print(lx_sampler *sampler, uint64_t count, bool json, lx_error *error);

#endif
