/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The plan of an epoch of a greedy mixture. All positions are assigned once, and the counts
 * are stored in rows at regular intervals, so that the assignment can resume at any row.
 */
#ifndef LX_PARITY_GREEDY_PLAN_H
#define LX_PARITY_GREEDY_PLAN_H

#include "parity/greedy.h"
#include "sampler/core/index-table.h"
#include "sampler/orders/mixture.h"

/** Number of positions from one row to the next; at most this many must be assigned to find the set
 * of any position. */
#define LX__GREEDY_BLOCK 16384

/** The plan of an epoch. Immutable. */
typedef struct lx__greedy_plan {
    size_t count; /**< Number of sets. */
    lx_exhausted_policy exhausted;
    uint64_t most; /**< Maximum length of the epoch. */
    uint64_t length;
    double *weights;
    uint64_t *lengths; /**< Lengths of the sets. */
    uint64_t *totals;  /**< Number of positions of each set in the epoch. */
    lx__index_table
        rows; /**< One row before each block: the number of positions of each set so far, or
                   LX__GREEDY_REMOVED. The last row contains the totals. */
} lx__greedy_plan;

/**
 * Makes the plan of a mixture that lx__mixture_check() accepted. If @p tables is not NULL, the rows
 * are stored in that folder and reused if they are already there.
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
 * @param greedy  Zeroed, or previously used with the same plan; free it with lx__greedy_free().
 * @param given   Receives the row before the block: the number of positions of each set so far.
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
