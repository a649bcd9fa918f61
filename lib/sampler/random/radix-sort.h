/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Sorting by keys of 64 bits: from the lowest digit to the highest, so that what has equal
 * keys stays in order.
 */
#ifndef LX_SAMPLER_RADIX_SORT_H
#define LX_SAMPLER_RADIX_SORT_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/status.h>

/** What is sorted. */
typedef struct lx__keyed {
    uint64_t key, value;
} lx__keyed;

/**
 * Sorts by the key, smallest first.
 *
 * @retval LX_ERR_NOMEM  There is no memory for as many again, which it takes meanwhile.
 */
lx_status lx__radix_sort(lx__keyed *items, size_t count, lx_error *error);

#endif
