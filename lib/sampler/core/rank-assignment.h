/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Which batch of an order that is cut is a rank's: that whose number in the epoch is the
 * rank modulo the number of ranks. So batches are dealt as samples are (rank-slice.h).
 */
#ifndef LX_SAMPLER_RANK_ASSIGNMENT_H
#define LX_SAMPLER_RANK_ASSIGNMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/status.h>

#include "sampler/core/epoch-tables.h"
#include "sampler/core/rank-slice.h"

/** Epochs that are looked through for a batch of the rank's. */
#define LX__DEAL_EPOCHS 100

/**
 * Finds the next step in which a rank has a batch. A step is as many batches as there are ranks,
 * one of each; at the end of an epoch there may be fewer. A batch that is entered within is what is
 * left of it.
 *
 * @param[in]     order     An order with cuts.
 * @param[in,out] held      NULL, or the table that was looked into last; for
 *                          lx__epoch_clear_scratch().
 * @param[in]     drop      Whether steps of fewer batches are passed over.
 * @param[in,out] position  Where the step begins. Moved to @p until where there is none below that,
 *                          unless there is none in any epoch.
 * @param[in]     until     The end of an epoch, or of the positions.
 * @param[out]    share     The batch, all positions of it, and the end of the step.
 *
 * @retval LX_END        There is none.
 * @retval LX_ERR_LIMIT  There was none in #LX__DEAL_EPOCHS epochs.
 * @return Else as reading the order.
 */
LX_API lx_status lx__deal_next(const lx_order *order, lx__epoch **held, lx__shard shard, bool drop,
                               uint64_t *position, uint64_t until, lx__share *share,
                               lx_error *error);

#endif
