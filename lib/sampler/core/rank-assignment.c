/* SPDX-License-Identifier: MIT */
#include "sampler/core/rank-assignment.h"

#include <inttypes.h>

#include "base/error.h"
#include "sampler/core/batch-bounds.h"

/** Finds the rank's batch in the step at a position; the batch may be empty. */
static lx__rank_batch find_batch(const lx_order *order, const lx__epoch_table *held,
                                 lx__shard shard, lx__last_step last, uint64_t position,
                                 lx__batch_bounds bounds)
{
    lx__rank_slice numbers = lx__shard_slice(shard, bounds.count, bounds.number, shard.world);
    lx__rank_batch batch = {.repeated = numbers.count == 0 && last == LX__LAST_PADDED};
    bool full = numbers.end - bounds.number == shard.world;
    if (batch.repeated || (numbers.count != 0 && (full || last != LX__LAST_DROPPED))) {
        uint64_t number = batch.repeated ? lx__shard_padding(shard, bounds.count) : numbers.first;
        lx__batch_bounds_go_to(order, held, number, &bounds);
        batch.first = batch.repeated || bounds.begin > position ? bounds.begin : position;
        batch.count = bounds.end - batch.first;
    }
    lx__batch_bounds_go_to(order, held, numbers.end - 1, &bounds);
    batch.step_end = bounds.end;
    return batch;
}

/** Returns the minimum length of an epoch for the rank to have a batch in some epoch. */
static uint64_t shortest_epoch(lx__shard shard, lx__last_step last)
{
    return last == LX__LAST_DROPPED ? shard.world : last == LX__LAST_UNEVEN ? shard.rank + 1 : 1;
}

lx_status lx__rank_assignment_next(const lx_order *order, lx__epoch_table **held, lx__shard shard,
                                   lx__last_step last, uint64_t *position, uint64_t until,
                                   lx__rank_batch *batch, lx_error *error)
{
    lx__batch_bounds bounds;
    uint64_t first, at = *position;
    if (order->length < shortest_epoch(shard, last))
        return LX_END;
    for (first = at / order->length; at < until; at = batch->step_end) {
        lx_status status = lx__batch_bounds_find(order, held, at, &bounds, error);
        if (status != LX_OK)
            return status;
        if (bounds.epoch - first > LX__RANK_ASSIGNMENT_EPOCHS)
            return lx_fail(error, LX_ERR_LIMIT,
                           "rank %" PRIu64 " of %" PRIu64
                           " has no batch in %d epochs, and the last epoch has only %" PRIu64
                           " batches: use fewer ranks, or a smaller budget",
                           shard.rank, shard.world, LX__RANK_ASSIGNMENT_EPOCHS, bounds.count);
        *batch = find_batch(order, *held, shard, last, at, bounds);
        if (batch->count != 0) {
            *position = at;
            return LX_OK;
        }
    }
    *position = until;
    return LX_END;
}
