/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Chooses the blocks to fetch for an order that reads its indices in blocks.
 *
 * All lanes of such an order begin new blocks at the same time, with a new stripe. The plan visits
 * the positions in their order, finds each block of a stripe once, and spreads the blocks over the
 * time in which the stripe before is read: the part of a stripe's blocks that it has found is the
 * part of a stripe that the loader has read. It remembers only the blocks of one stripe.
 *
 * Not thread-safe.
 */
#ifndef LX_LOADER_BLOCK_PLAN_H
#define LX_LOADER_BLOCK_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "loader/batch-schedule.h"
#include "sampler/core/order.h"

typedef struct lx__block_plan {
    lx_order *order;        /**< Borrowed. */
    lx__scratch *scratch;   /**< Borrowed. */
    uint64_t lanes;         /**< Number of blocks in a stripe. */
    uint64_t ranks;         /**< Number of ranks that read each block. */
    uint64_t weight;        /**< Number of blocks of all ranks for each one of this rank. */
    uint64_t *found;        /**< One bit for each lane: its block in the stripe has been found. */
    uint64_t begin, length; /**< Positions of the stripe; the length is 0 at first. */
    uint64_t covered; /**< Number of the stripe's positions to which the blocks found correspond. */
    uint64_t next, end;    /**< Indices of the last block that have not been taken. */
    lx__batch_slice slice; /**< The positions to visit. */
    uint64_t visited;      /**< How many of them have been visited. */
} lx__block_plan;

/** Initializes a zeroed plan for an order with blocks, of which @p schedule assigns positions to
 * this rank. The order and the scratch buffer must outlive the plan. Returns false if out of
 * memory. */
bool lx__block_plan_open(lx__block_plan *plan, lx_order *order, lx__scratch *scratch,
                         const lx__batch_schedule *schedule);

/** Logs a warning if several ranks fetch each block, which another number of lanes would avoid. */
void lx__block_plan_warn(const lx__block_plan *plan, const lx__batch_schedule *schedule);

/** Frees what the plan owns. A zeroed struct is allowed. */
void lx__block_plan_close(lx__block_plan *plan);

/** Forgets what was found: the loader has moved. */
void lx__block_plan_move(lx__block_plan *plan);

/** Replaces the positions to visit. */
void lx__block_plan_set_slice(lx__block_plan *plan, const lx__batch_slice *slice);

/** Whether all positions were visited. */
static inline bool lx__block_plan_is_done(const lx__block_plan *plan)
{
    return plan->visited == plan->slice.count;
}

/** Visits the next position, of which there must be one; its block is the next to take unless it
 * was found before. Returns false, without visiting the position, if enough blocks were found for a
 * loader that is to have those up to position @p limit. */
bool lx__block_plan_visit(lx__block_plan *plan, uint64_t limit);

/** Stores up to @p most indices of the block found last that have not been taken, in ascending
 * order. Returns their number; 0 if there are none. */
size_t lx__block_plan_take(lx__block_plan *plan, uint64_t *indices, size_t most);

#endif
