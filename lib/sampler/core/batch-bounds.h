/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The batch bounds of an order's epoch: one bit per position, set where a batch begins, and
 * the number of batches before each block of bits.
 *
 * The bounds take about an eighth of a byte per position, regardless of the batch sizes. The batch
 * of a position is found by counting the bits of one block.
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

/** Returns the number of words in the table of an epoch of @p length positions, which is the count
 * to pass to lx__epoch_tables_new(). */
size_t lx__batch_bounds_size(uint64_t length);

/** Marks an offset as the start of a batch, in a table that was zeroed; offset 0 must be marked. */
static inline void lx__batch_bounds_mark(uint32_t *table, uint64_t offset)
{
    table[offset / 32] |= UINT32_C(1) << offset % 32;
}

/** Counts the marked starts, which makes the table ready to read. */
void lx__batch_bounds_finish(uint32_t *table, uint64_t length);

/**
 * Finds the batch that contains a position.
 *
 * @param[in]     order     An order that is cut into batches; its length must be at least 1.
 * @param[in,out] held      NULL, or the table of the last epoch read; release it with
 *             lx__epoch_table_clear_scratch().
 * @param[in]     position  Must be below #LX__POSITION_END.
 * @return Any status that lx__epoch_tables_get() returns.
 */
lx_status lx__batch_bounds_find(const lx_order *order, lx__epoch_table **held, uint64_t position,
                                lx__batch_bounds *bounds, lx_error *error);

/** Changes @p bounds, which was found with @p held, to batch @p number of the same epoch. */
void lx__batch_bounds_go_to(const lx_order *order, const lx__epoch_table *held, uint64_t number,
                            lx__batch_bounds *bounds);

#endif
