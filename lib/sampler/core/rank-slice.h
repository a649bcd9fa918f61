/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Which positions are a rank's: those whose offset in the epoch is the rank modulo the
 * number of ranks. Samplers step by it through windows of one position a rank, loaders through
 * global batches.
 */
#ifndef LX_SAMPLER_RANK_SLICE_H
#define LX_SAMPLER_RANK_SLICE_H

#include <stdint.h>

#include <loaderx/status.h>

/** One of @a world equal parts of an order. */
typedef struct lx__shard {
    uint64_t rank, world;
} lx__shard;

/** What a shard owns of a stretch of positions within one epoch. */
typedef struct lx__share {
    uint64_t first; /**< The first position of it; the others follow in steps of the world. */
    uint64_t count; /**< How many, maybe 0. */
    uint64_t end;   /**< Where the stretch ends, whoever owns its positions. */
} lx__share;

/** LX_ERR_ARGUMENT, naming the argument, if world is 0 or rank is not below it. */
LX_API lx_status lx__shard_check(lx__shard shard, lx_error *error);

/**
 * What @p shard owns of the positions from @p position up to, and without, the least of
 * position + span, the end of the position's epoch, and #LX__POSITION_END. The length of an epoch
 * is 1 or more, and the position below the end.
 *
 * With the span B * world that is a rank's part of the global batch of B samples a rank; if
 * all of it lies within the epoch, the count is B.
 */
LX_API lx__share lx__shard_share(lx__shard shard, uint64_t length, uint64_t position,
                                 uint64_t span);

#endif
