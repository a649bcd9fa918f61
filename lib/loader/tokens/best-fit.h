/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Packs pieces into bins of equal capacity: best fit decreasing.
 *
 * Pieces are placed in order of decreasing length; pieces of equal length, in order of their
 * numbers. Each piece goes into the bin with the least free space that suffices or, if there are
 * several such bins, into the one to which a piece was added most recently. If no bin has enough
 * space, the piece goes into a new bin, which becomes the last bin. See doc/packing.md.
 *
 * Source for its use in training language models: Ding et al., "Fewer Truncations Improve Language
 * Modeling", 2024. The time to place a piece depends on the number of different lengths and not on
 * the number of bins, because the bins of equal free space form one list.
 */
#ifndef LX_LOADER_BEST_FIT_H
#define LX_LOADER_BEST_FIT_H

#include <stdint.h>

#include <loaderx/status.h>

/** Maximum capacity of a bin. */
#define LX__CAPACITY_MAX (UINT32_C(1) << 24)

/** The contents of the bins. */
typedef struct lx__bins {
    uint32_t count;
    uint32_t *starts; /**< Position in @ref pieces of each bin's first piece; there is one more
                           entry than there are bins. */
    uint32_t *pieces; /**< Piece numbers, bin by bin, in the order of placement. */
} lx__bins;

/**
 * Packs pieces into bins.
 *
 * @param lengths   Length of each piece, which must be below @p capacity; 0 means no piece.
 *                  Overwritten.
 * @param count     Number of lengths, which must be below 2^32 - 1.
 * @param capacity  Capacity of a bin, 1 to #LX__CAPACITY_MAX.
 * @param bins      Receives the bins; free them with lx__bins_free().
 * @retval LX_ERR_NOMEM  Out of memory. The result uses 12 bytes per piece and 4 bytes per bin; the
 *                       computation uses 8 more bytes per unit of @p capacity.
 */
lx_status lx__best_fit(uint32_t *lengths, uint32_t count, uint32_t capacity, lx__bins *bins,
                       lx_error *error);

void lx__bins_free(lx__bins *bins);

#endif
