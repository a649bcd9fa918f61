/* SPDX-License-Identifier: MIT */
#include "sampler/core/rank-assignment.h"

#include <inttypes.h>

#include "base/error.h"
#include "sampler/core/batch-bounds.h"

/** Finds the rank's batch in the step at a position; it may be empty. True if all ranks have a
 * batch. */
static bool find_batch(const lx_order *order, const lx__epoch_table *held, lx__shard shard,
                       uint64_t position, lx__batch_bounds bounds, lx__rank_slice *slice)
{
    lx__rank_slice numbers = lx__shard_slice(shard, bounds.count, bounds.number, shard.world);
    uint64_t first = bounds.number;
    *slice = (lx__rank_slice){0};
    if (numbers.count != 0) {
        lx__batch_bounds_go_to(order, held, numbers.first, &bounds);
        slice->first = bounds.begin > position ? bounds.begin : position;
        slice->count = bounds.end - slice->first;
    }
    lx__batch_bounds_go_to(order, held, numbers.end - 1, &bounds);
    slice->end = bounds.end;
    return numbers.end - first == shard.world;
}

lx_status lx__rank_assignment_next(const lx_order *order, lx__epoch_table **held, lx__shard shard,
                                   bool drop, uint64_t *position, uint64_t until,
                                   lx__rank_slice *slice, lx_error *error)
{
    lx__batch_bounds bounds;
    uint64_t first, at = *position;
    if (order->length <= (drop ? shard.world - 1 : shard.rank))
        return LX_END;
    for (first = at / order->length; at < until; at = slice->end) {
        lx_status status = lx__batch_bounds_find(order, held, at, &bounds, error);
        if (status != LX_OK)
            return status;
        if (bounds.epoch - first > LX__RANK_ASSIGNMENT_EPOCHS)
            return lx_fail(error, LX_ERR_LIMIT,
                           "rank %" PRIu64 " of %" PRIu64
                           " has no batch in %d epochs, and the last epoch has only %" PRIu64
                           " batches: use fewer ranks, or a smaller budget",
                           shard.rank, shard.world, LX__RANK_ASSIGNMENT_EPOCHS, bounds.count);
        bool whole = find_batch(order, *held, shard, at, bounds, slice);
        if (slice->count != 0 && (whole || !drop)) {
            *position = at;
            return LX_OK;
        }
    }
    *position = until;
    return LX_END;
}
