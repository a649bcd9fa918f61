/* SPDX-License-Identifier: MIT */
#include "sampler/core/rank-slice.h"

#include <inttypes.h>

#include "base/error.h"
#include "sampler/core/order.h"

lx_status lx__shard_check(lx__shard shard, lx_error *error)
{
    if (shard.world == 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "world must be at least 1: for a single rank, pass rank 0 and world 1");
    if (shard.rank >= shard.world)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "rank is %" PRIu64 ", but a world of %" PRIu64 " has ranks 0 to %" PRIu64,
                       shard.rank, shard.world, shard.world - 1);
    return LX_OK;
}

/** Returns the distance from an offset in the epoch to the next one that belongs to the shard. */
static uint64_t distance(lx__shard shard, uint64_t offset)
{
    uint64_t place = offset % shard.world;
    return shard.rank >= place ? shard.rank - place : shard.world - (place - shard.rank);
}

lx__rank_slice lx__shard_slice(lx__shard shard, uint64_t length, uint64_t position, uint64_t span)
{
    uint64_t offset = position % length;
    uint64_t epoch_end = LX__POSITION_END;
    if (length - offset < LX__POSITION_END - position)
        epoch_end = position + (length - offset);
    uint64_t end = span < epoch_end - position ? position + span : epoch_end;

    uint64_t ahead = distance(shard, offset);
    if (ahead >= end - position)
        return (lx__rank_slice){end, 0, end};
    uint64_t first = position + ahead;
    return (lx__rank_slice){first, (end - 1 - first) / shard.world + 1, end};
}

uint64_t lx__shard_padding(lx__shard shard, uint64_t length)
{
    return distance(shard, length) % length;
}
