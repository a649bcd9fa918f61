/* SPDX-License-Identifier: MIT */
#include "sampler/core/rank-assignment.h"

#include <inttypes.h>

#include "base/error.h"
#include "sampler/core/batch-bounds.h"

/** Finds the rank's batch in the step at a position; it may be empty. True if all ranks have a
 * batch. */
static bool deal_step(const lx_order *order, const lx__epoch *held, lx__shard shard,
                      uint64_t position, lx__cut cut, lx__share *share)
{
    lx__share numbers = lx__shard_share(shard, cut.count, cut.number, shard.world);
    uint64_t first = cut.number;
    *share = (lx__share){0};
    if (numbers.count != 0) {
        lx__cuts_go_to(order, held, numbers.first, &cut);
        share->first = cut.begin > position ? cut.begin : position;
        share->count = cut.end - share->first;
    }
    lx__cuts_go_to(order, held, numbers.end - 1, &cut);
    share->end = cut.end;
    return numbers.end - first == shard.world;
}

lx_status lx__deal_next(const lx_order *order, lx__epoch **held, lx__shard shard, bool drop,
                        uint64_t *position, uint64_t until, lx__share *share, lx_error *error)
{
    lx__cut cut;
    uint64_t first, at = *position;
    if (order->length <= (drop ? shard.world - 1 : shard.rank))
        return LX_END;
    for (first = at / order->length; at < until; at = share->end) {
        lx_status status = lx__cuts_find(order, held, at, &cut, error);
        if (status != LX_OK)
            return status;
        if (cut.epoch - first > LX__DEAL_EPOCHS)
            return lx__fail(error, LX_ERR_LIMIT,
                            "rank %" PRIu64 " of %" PRIu64 " has no batch in %d epochs, of which "
                            "the last has %" PRIu64 " batches: use fewer ranks, or a smaller "
                            "budget",
                            shard.rank, shard.world, LX__DEAL_EPOCHS, cut.count);
        bool whole = deal_step(order, *held, shard, at, cut, share);
        if (share->count != 0 && (whole || !drop)) {
            *position = at;
            return LX_OK;
        }
    }
    *position = until;
    return LX_END;
}
