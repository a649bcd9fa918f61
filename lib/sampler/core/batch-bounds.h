/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The batch bounds of an order's epoch: one bit per position, set where a batch begins, and
 * the number of batches before each block of bits.
 *
 * This takes about an eighth of a byte per position, whatever the size of the batches, and finds
 * the batch of a position by counting the bits of one block.
 */
#ifndef LX_SAMPLER_BATCH_BOUNDS_H
#define LX_SAMPLER_BATCH_BOUNDS_H

#include "sampler/core/epoch-tables.h"

/** One batch. */
typedef struct lx__batch_bounds {
    uint64_t epoch;
    uint64_t number;     /**< Number of the batch within its epoch. */
    uint64_t count;      /**< Number of batches in the epoch. */
    uint64_t begin, end; /**< The batch's positions. */
} lx__batch_bounds;

/** Returns the number of words in the table of an epoch of @p length positions, which
 * lx__epoch_tables_new() needs. */
size_t lx__batch_bounds_size(uint64_t length);

/** Starts a batch at an offset of a zeroed table; offset 0 must start one. */
static inline void lx__batch_bounds_mark(uint32_t *table, uint64_t offset)
{
    table[offset / 32] |= UINT32_C(1) << offset % 32;
}

/** Counts the marked starts, which makes the table ready to read. */
void lx__batch_bounds_finish(uint32_t *table, uint64_t length);

/**
 * Finds the batch that contains a position.
 *
 * @param[in]     order     An order cut into batches, of length 1 or more.
 * @param[in,out] held      NULL, or the table of the last epoch read; release it with
 *             lx__epoch_table_clear_scratch().
 * @param[in]     position  Below #LX__POSITION_END.
 * @return Same as lx__epoch_tables_get().
 */
lx_status lx__batch_bounds_find(const lx_order *order, lx__epoch_table **held, uint64_t position,
                                lx__batch_bounds *bounds, lx_error *error);

/** Changes @p bounds, which was found with @p held, to batch @p number of the same epoch. */
void lx__batch_bounds_go_to(const lx_order *order, const lx__epoch_table *held, uint64_t number,
                            lx__batch_bounds *bounds);

#endif
