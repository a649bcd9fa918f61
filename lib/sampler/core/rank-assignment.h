/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Assigns batches to ranks, for an order that is cut into batches: a rank gets the batches
 * whose number in the epoch, modulo the number of ranks, equals the rank. rank-slice.h assigns
 * samples in the same way.
 */
#ifndef LX_SAMPLER_RANK_ASSIGNMENT_H
#define LX_SAMPLER_RANK_ASSIGNMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/status.h>

#include "sampler/core/epoch-tables.h"
#include "sampler/core/rank-slice.h"

/** Maximum number of epochs to search for a batch of the rank. */
#define LX__RANK_ASSIGNMENT_EPOCHS 100

/** A rank's batch in a step. */
typedef struct lx__rank_batch {
    uint64_t first, count; /**< Its positions; none if the rank has no batch. */
    uint64_t step_end;     /**< End of the step. */
    bool repeated;         /**< The batch is padding: it repeats another batch of the epoch. */
} lx__rank_batch;

/**
 * Finds the next step in which a rank has a batch. A step contains one batch per rank; the last
 * step of an epoch may contain fewer. A step that starts within a batch contains the remainder of
 * that batch.
 *
 * @param[in]     order     An order that is cut into batches.
 * @param[in,out] held      NULL, or the last table read; release it with
 *                          lx__epoch_table_clear_scratch().
 * @param[in]     last      What to do in a step with fewer batches than ranks.
 * @param[in,out] position  Start of the step. Set to @p until if no batch remains before @p until,
 *                          but left unchanged if no epoch can have a batch for the rank.
 * @param[in]     until     Where to stop: the end of an epoch, or #LX__POSITION_END.
 * @param[out]    batch     The batch, and the end of the step.
 *
 * @retval LX_END        No batch remains.
 * @retval LX_ERR_LIMIT  #LX__RANK_ASSIGNMENT_EPOCHS epochs had no batch.
 * @return Otherwise, any status that lx__batch_bounds_find() returns.
 */
LX_API lx_status lx__rank_assignment_next(const lx_order *order, lx__epoch_table **held,
                                          lx__shard shard, lx__last_step last, uint64_t *position,
                                          uint64_t until, lx__rank_batch *batch, lx_error *error);

#endif
