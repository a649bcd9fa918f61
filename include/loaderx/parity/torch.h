/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The orders of torch.utils.data.
 */
#ifndef LOADERX_PARITY_TORCH_H
#define LOADERX_PARITY_TORCH_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/order.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_order_new_torch_random The orders of torch.utils.data
 *
 * Each order reproduces exactly what the torch sampler of the same name returns on a CPU, epoch
 * after epoch. Use these orders to continue a training run, or to compare two training runs. For
 * anything else, use lx_order_new_shuffle(), which needs no table and can start at any position
 * immediately. A loader already forms batches in the same way as torch's BatchSampler.
 *
 * An order uses 4 bytes per position for each of up to two epochs, and for each additional epoch
 * that a thread is reading. The first thread that enters an epoch computes its table for all
 * threads; if the epoch ends within a permutation, this temporarily takes another 4 bytes per
 * index. If computing the table fails, readers get #LX_ERR_NOMEM. Entering any epoch takes only
 * milliseconds, because the order skips everything that torch would have drawn before that epoch.
 * With a tables directory, the table of each epoch is stored in a file.
 *
 * As in torch's generators, only the lower 32 bits of a seed matter.
 * @see lx_error, lx_order, lx_order_new_nanoset(), lx_sampler
 * @{
 */

/**
 * Creates the order of RandomSampler(data, replacement, num_samples, generator), with a generator
 * that was seeded with manual_seed(seed) and continues from epoch to epoch.
 *
 * @param[in]  length       The number of indices, 1 to 2^32 - 1; with replacement, at most
 *                          2^28 - 1, because different versions of torch return different indices
 *                          for larger lengths.
 * @param[in]  replacement  If true, each position is drawn from all indices. If false, permutations
 *                          of all indices follow one another, and the last permutation is
 *                          truncated.
 * @param[in]  options      The epoch length (torch's num_samples), 1 to 2^32 - 1 and by default
 *                          @p length; the seed, by default 0; and the tables directory. NULL for
 *                          the defaults.
 * @param[out] order        Receives the order; release it with lx_order_unref(). NULL on failure.
 * @param[out] error        Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order was created.
 * @retval LX_ERR_ARGUMENT  @p length or the epoch length is 0, or @p order is NULL.
 * @retval LX_ERR_LIMIT     @p length or the epoch length is too large.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, if a tables directory is set, any status that ::lx_order lists under "Tables
 *         in files".
 */
LX_API lx_status lx_order_new_torch_random(uint64_t length, bool replacement,
                                           const lx_order_options *options, lx_order **order,
                                           lx_error *error);

/**
 * Creates the order of SubsetRandomSampler(indices, generator), with a generator that was seeded
 * with manual_seed(seed) and continues from epoch to epoch.
 *
 * @param[in]  indices  @p count indices. The call copies them.
 * @param[in]  count    The number of indices, which is also the epoch length, at most 2^32 - 1.
 * @param[in]  options  The seed, by default 0, and the tables directory. NULL for the defaults.
 * @param[out] order    Receives the order; release it with lx_order_unref(). NULL on failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order was created.
 * @retval LX_ERR_ARGUMENT  An index is 2^64 - 1, or a pointer is NULL.
 * @retval LX_ERR_LIMIT     @p count is too large.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, if a tables directory is set, any status that ::lx_order lists under "Tables
 *         in files".
 */
LX_API lx_status lx_order_new_torch_subset(const uint64_t *indices, uint64_t count,
                                           const lx_order_options *options, lx_order **order,
                                           lx_error *error);

/** Flags for lx_order_new_torch_distributed(). */
typedef enum lx_torch_flags {
    LX_TORCH_SHUFFLE = 1,  /**< Shuffle the indices; otherwise, they come in ascending order. */
    LX_TORCH_DROP_LAST = 2 /**< Drop the remainder of an epoch whose length is not a multiple of the
                                number of ranks; otherwise, the epoch is extended with its first
                                indices. */
} lx_torch_flags;

/**
 * Creates the order of DistributedSampler(data, num_replicas = world, shuffle, seed, drop_last),
 * for all ranks together; epoch e is the same as after set_epoch(e). From this order, a sampler for
 * rank r of @p world takes the same indices as torch's sampler for that rank.
 *
 * @param[in]  length   The number of indices; at most 2^32 - 1 if they are shuffled.
 * @param[in]  world    The number of ranks, 1 or more.
 * @param[in]  flags    A bitwise OR of ::lx_torch_flags, or 0. torch's default is
 *                      #LX_TORCH_SHUFFLE.
 * @param[in]  options  The seed, by default 0, and the tables directory. NULL for the defaults.
 * @param[out] order    Receives the order; release it with lx_order_unref(). NULL on failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order was created.
 * @retval LX_ERR_ARGUMENT  @p world is 0, @p flags is invalid, padded epochs would exceed 2^64 - 1
 *                          positions, @p order is NULL, or a tables directory is set without
 *                          #LX_TORCH_SHUFFLE (only shuffled orders have a table).
 * @retval LX_ERR_LIMIT     @p length is too large.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, if a tables directory is set, any status that ::lx_order lists under "Tables
 *         in files".
 */
LX_API lx_status lx_order_new_torch_distributed(uint64_t length, uint64_t world, unsigned flags,
                                                const lx_order_options *options, lx_order **order,
                                                lx_error *error);

/** @} */

LX_END_DECLS

#endif
