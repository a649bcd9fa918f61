/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A stable sort by 64-bit keys: radix sort from the lowest digit to the highest.
 */
#ifndef LX_SAMPLER_RADIX_SORT_H
#define LX_SAMPLER_RADIX_SORT_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/status.h>

/** An item to sort. */
typedef struct lx__keyed {
    uint64_t key, value;
} lx__keyed;

/**
 * Sorts by ascending key.
 *
 * @retval LX_ERR_NOMEM  Out of memory for a copy of the items.
 */
lx_status lx__radix_sort(lx__keyed *items, size_t count, lx_error *error);

#endif
