/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The plan of a greedy mixture's epoch: all positions are assigned once, and rows of counts
 * stored at regular intervals allow the loop to resume there.
 */
#ifndef LX_PARITY_GREEDY_PLAN_H
#define LX_PARITY_GREEDY_PLAN_H

#include "parity/greedy.h"
#include "sampler/core/index-table.h"
#include "sampler/orders/mixture.h"

/** Positions between rows: at most this many must be assigned to find the set of any position. */
#define LX__GREEDY_BLOCK 16384

/** An epoch. Immutable. */
typedef struct lx__greedy_plan {
    size_t count; /**< Number of sets. */
    lx_exhausted_policy exhausted;
    uint64_t most; /**< Limit of the length. */
    uint64_t length;
    double *weights;
    uint64_t *lengths; /**< Lengths of the sets. */
    uint64_t *totals;  /**< Positions of each set in the epoch. */
    lx__index_table
        rows; /**< One row before each block: positions of each set, or LX__GREEDY_REMOVED;
                            then the totals. */
} lx__greedy_plan;

/**
 * Makes the plan of a mixture that lx__mixture_check() accepted, or finds it in the folder @p
 * tables if that is not NULL.
 *
 * @retval LX_ERR_LIMIT  An epoch would be too long.
 * @retval LX_ERR_NOMEM  Out of memory.
 */
lx_status lx__greedy_plan_new(const lx_mixture *mixture, const char *tables, lx__greedy_plan *plan,
                              lx_error *error);

void lx__greedy_plan_free(lx__greedy_plan *plan);

/**
 * Sets @p greedy to the start of a block.
 *
 * @param greedy  Zeroed, or used with the same plan before; free it with lx__greedy_free().
 * @param given   Receives the row before the block: the positions of each set.
 * @retval LX_ERR_CORRUPT  A row from a file is invalid.
 */
lx_status lx__greedy_plan_enter(const lx__greedy_plan *plan, uint64_t block, lx__greedy *greedy,
                                uint64_t *given, lx_error *error);

/**
 * Assigns the first @p count positions of a block, or all of them if it has fewer.
 *
 * @retval LX_ERR_CORRUPT  A row from a file is invalid.
 */
lx_status lx__greedy_plan_assign(const lx__greedy_plan *plan, uint64_t block, lx__greedy *greedy,
                                 uint16_t *sets, size_t *count, lx_error *error);

#endif
