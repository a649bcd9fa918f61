/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief An epoch of a greedy mixture: gone through once, with a row of how far the sets are every
 * so many positions, from which the loop can go on.
 */
#ifndef LX_PARITY_GREEDY_PLAN_H
#define LX_PARITY_GREEDY_PLAN_H

#include "parity/greedy.h"
#include "sampler/core/index-table.h"
#include "sampler/orders/mixture.h"

/** Positions between two rows: what is gone through to find one of them. */
#define LX__GREEDY_BLOCK 16384

/** An epoch. It never changes. */
typedef struct lx__greedy_plan {
    size_t count; /**< Of sets. */
    lx_exhausted_policy exhausted;
    uint64_t most; /**< Positions that were asked for. */
    uint64_t length;
    double *weights;
    uint64_t *lengths; /**< Of the sets. */
    uint64_t *totals;  /**< Positions of each set in the epoch. */
    lx__table rows;    /**< Before each block: given to each set, or LX__GREEDY_DROPPED; then
                            the totals. */
} lx__greedy_plan;

/**
 * Makes the plan of a mixture, which lx__mixture_check() has passed, or finds it in the folder
 * @p tables, if that is not NULL.
 *
 * @retval LX_ERR_LIMIT  An epoch would be too long.
 * @retval LX_ERR_NOMEM  There is no memory for it.
 */
lx_status lx__greedy_plan_new(const lx_mixture *mixture, const char *tables,
                              lx__greedy_plan *plan, lx_error *error);

void lx__greedy_plan_free(lx__greedy_plan *plan);

/**
 * Stands before a block.
 *
 * @param greedy  Zeroed, or used for the same plan before; for lx__greedy_free().
 * @param given   What each set had before it, as in the row.
 * @retval LX_ERR_CORRUPT  A row from a file is none.
 */
lx_status lx__greedy_plan_enter(const lx__greedy_plan *plan, uint64_t block, lx__greedy *greedy,
                                uint64_t *given, lx_error *error);

/**
 * Gives the first @p count positions of a block away, or all that it has.
 *
 * @retval LX_ERR_CORRUPT  A row from a file cannot be.
 */
lx_status lx__greedy_plan_give(const lx__greedy_plan *plan, uint64_t block, lx__greedy *greedy,
                               uint16_t *sets, size_t *count, lx_error *error);

#endif
