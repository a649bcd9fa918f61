/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Where the batches of an order's epoch begin: a bit for each position, and how many begin
 * before each block of them.
 *
 * So it takes the same memory whatever the batches are, an eighth of a byte a position, and the
 * batch of any position is found by counting the bits of one block.
 */
#ifndef LX_SAMPLER_BATCH_BOUNDS_H
#define LX_SAMPLER_BATCH_BOUNDS_H

#include "sampler/core/epoch-tables.h"

/** One batch. */
typedef struct lx__cut {
    uint64_t epoch;
    uint64_t number;     /**< Of the batch, in its epoch. */
    uint64_t count;      /**< Batches in the epoch. */
    uint64_t begin, end; /**< Its positions. */
} lx__cut;

/** Words of the table of an epoch of @p length positions, for lx__epochs_new(). */
size_t lx__cuts_size(uint64_t length);

/** Has a batch begin at an offset of a zeroed table; one begins at 0. */
static inline void lx__cuts_mark(uint32_t *table, uint64_t offset)
{
    table[offset / 32] |= UINT32_C(1) << offset % 32;
}

/** Counts what was marked: now the table can be looked into. */
void lx__cuts_finish(uint32_t *table, uint64_t length);

/**
 * Finds the batch that has a position.
 *
 * @param[in]     order     An order with cuts, of length 1 or more.
 * @param[in,out] held      NULL, or the table of the epoch that was looked into last; for
 *                          lx__epoch_clear_scratch().
 * @param[in]     position  Below #LX__POSITION_END.
 * @return As lx__epochs_enter().
 */
lx_status lx__cuts_find(const lx_order *order, lx__epoch **held, uint64_t position, lx__cut *cut,
                        lx_error *error);

/** Goes from a batch, that @p held was looked into for, to number @p number of the same epoch. */
void lx__cuts_go_to(const lx_order *order, const lx__epoch *held, uint64_t number, lx__cut *cut);

#endif
