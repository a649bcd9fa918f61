/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Assigns positions to ranks: a rank gets the positions whose offset in the epoch, modulo
 * the number of ranks, equals the rank. Samplers advance by one position per rank, loaders by
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

/** A shard's positions in a range within one epoch. */
typedef struct lx__rank_slice {
    uint64_t first; /**< The first position; the others follow, world positions apart. */
    uint64_t count; /**< Number of positions; may be 0. */
    uint64_t end;   /**< End of the range, regardless of which ranks own its positions. */
} lx__rank_slice;

/** What happens in the last step of an epoch if it has no sample or batch for some of the ranks. */
typedef enum lx__last_step {
    LX__LAST_PADDED,  /**< These ranks repeat samples or batches from the start of the epoch. */
    LX__LAST_UNEVEN,  /**< These ranks have fewer samples, or none. */
    LX__LAST_DROPPED, /**< No rank has samples in a step that is not full. */
} lx__last_step;

/** Returns LX_ERR_ARGUMENT, with the argument's name, if world is 0 or rank is not below world. */
LX_API lx_status lx__shard_check(lx__shard shard, lx_error *error);

/**
 * Returns the positions of @p shard from @p position up to but not including the smallest of
 * position + span, the end of the position's epoch, and #LX__POSITION_END. The length of an epoch
 * must be at least 1, and the position must be below the end.
 *
 * With a span of B * world, returns the rank's part of a global batch with B samples per rank; the
 * count is B if the epoch contains the whole batch.
 */
LX_API lx__rank_slice lx__shard_slice(lx__shard shard, uint64_t length, uint64_t position,
                                      uint64_t span);

/**
 * Returns the offset in the epoch that @p shard repeats if it lacks a sample in the last step of an
 * epoch of @p length: the shards continue to take turns, as if the epoch began again. torch's
 * DistributedSampler pads in the same way.
 */
LX_API uint64_t lx__shard_padding(lx__shard shard, uint64_t length);

#endif
