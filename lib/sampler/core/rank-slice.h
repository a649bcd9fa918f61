/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Assigns positions to ranks: a rank gets those whose offset in the epoch is the rank modulo
 * the number of ranks. Samplers advance by one position per rank, loaders by global batches.
 */
#ifndef LX_SAMPLER_RANK_SLICE_H
#define LX_SAMPLER_RANK_SLICE_H

#include <stdint.h>

#include <loaderx/status.h>

/** One of @a world equal parts of an order. */
typedef struct lx__shard {
    uint64_t rank, world;
} lx__shard;

/** A shard's positions in a range within one epoch. */
typedef struct lx__rank_slice {
    uint64_t first; /**< The first position; the others follow, world positions apart. */
    uint64_t count; /**< Number of positions; may be 0. */
    uint64_t end;   /**< End of the range, whichever rank owns its positions. */
} lx__rank_slice;

/** Returns LX_ERR_ARGUMENT, with the argument's name, if world is 0 or rank is not below it. */
LX_API lx_status lx__shard_check(lx__shard shard, lx_error *error);

/**
 * Returns the positions of @p shard from @p position up to, but excluding, the smallest of position
 * + span, the end of the position's epoch, and #LX__POSITION_END. The length of an epoch is 1 or
 * more, and the position is below the end.
 *
 * A span of B * world returns the rank's part of a global batch with B samples per rank; the count
 * is B if the epoch contains all of it.
 */
LX_API lx__rank_slice lx__shard_slice(lx__shard shard, uint64_t length, uint64_t position,
                                      uint64_t span);

#endif
