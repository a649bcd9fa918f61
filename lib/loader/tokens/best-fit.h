/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Pieces put into bins of one capacity: by best fit, the longest ones first.
 *
 * Pieces come by their lengths, the longest first, and of one length by their numbers. Each goes
 * into the bin with the least room that is enough for it, of several such bins into the first one,
 * and if there is none, into a new bin, the next one. See doc/packing.md.
 *
 * The idea, for training language models: Ding et al., "Fewer Truncations Improve Language
 * Modeling", 2024. A length takes its place in steps that depend on the lengths there are, not on
 * the number of bins: all bins that have one room are one list.
 */
#ifndef LX_LOADER_BEST_FIT_H
#define LX_LOADER_BEST_FIT_H

#include <stdint.h>

#include <loaderx/status.h>

/** Most of a bin. */
#define LX__CAPACITY_MAX (UINT32_C(1) << 24)

/** What lies in the bins. */
typedef struct lx__bins {
    uint32_t count;
    uint32_t *starts; /**< One more than bins: the first piece of each. */
    uint32_t *pieces; /**< Their numbers, bin after bin, as they were put in. */
} lx__bins;

/**
 * Puts pieces into bins.
 *
 * @param lengths   Of each piece, below @p capacity; 0: it is none. Overwritten.
 * @param count     How many, below 2^32 - 1.
 * @param capacity  Of a bin, 1 to #LX__CAPACITY_MAX.
 * @param bins      To be given up with lx__bins_free().
 * @retval LX_ERR_NOMEM  There is no memory for it; it takes 12 bytes a piece, 4 a bin, and 8 for
 *                       each of @p capacity while it is at work.
 */
lx_status lx__best_fit(uint32_t *lengths, uint32_t count, uint32_t capacity, lx__bins *bins,
                       lx_error *error);

void lx__bins_free(lx__bins *bins);

#endif
