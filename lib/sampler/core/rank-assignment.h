/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Assigns the batches of an order that is cut into batches: a rank gets the batches whose
 * number in the epoch, modulo the number of ranks, equals the rank. rank-slice.h assigns samples in
 * the same way.
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

/**
 * Finds the next step in which a rank has a batch. A step contains one batch per rank; the last
 * step of an epoch may contain fewer. A step that starts within a batch contains the remainder of
 * that batch.
 *
 * @param[in]     order     An order that is cut into batches.
 * @param[in,out] held      NULL, or the last table read; release it with
 *                          lx__epoch_table_clear_scratch().
 * @param[in]     drop      Whether to skip steps with fewer batches than ranks.
 * @param[in,out] position  Start of the step. Set to @p until if no batch remains before @p until,
 *                          but left unchanged if no epoch can have a batch for the rank.
 * @param[in]     until     The end of an epoch, or of the positions.
 * @param[out]    slice     All positions of the batch, and the end of the step.
 *
 * @retval LX_END        No batch remains.
 * @retval LX_ERR_LIMIT  #LX__RANK_ASSIGNMENT_EPOCHS epochs had no batch.
 * @return Otherwise, any status that lx__batch_bounds_find() returns.
 */
LX_API lx_status lx__rank_assignment_next(const lx_order *order, lx__epoch_table **held,
                                          lx__shard shard, bool drop, uint64_t *position,
                                          uint64_t until, lx__rank_slice *slice, lx_error *error);

#endif
