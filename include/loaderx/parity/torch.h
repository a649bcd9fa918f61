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
 * Each order reproduces exactly what torch's sampler of that name returns on a CPU, epoch after
 * epoch: to continue a training run, or to compare two. For anything else use
 * lx_order_new_shuffle(), which needs no table and enters any position at once. torch's
 * BatchSampler is how a loader makes batches.
 *
 * An order holds 4 bytes for each position of up to two epochs, and of each other epoch that a
 * thread reads. The first thread that enters an epoch computes its table for all threads, which
 * takes another 4 bytes for each index meanwhile if the epoch ends within a permutation. A reader
 * gets #LX_ERR_NOMEM if that fails. Any epoch is entered within milliseconds: what torch would have
 * drawn before it is skipped. With a directory, the table of each epoch is a file.
 *
 * As in torch's generators, only the lower 32 bits of a seed count.
 * @see lx_error, lx_order, lx_order_new_nanoset(), lx_sampler
 * @{
 */

/**
 * Makes the order of RandomSampler(data, replacement, num_samples, generator), whose generator was
 * given manual_seed(seed) and continues from epoch to epoch.
 *
 * @param[in]  length       The number of indices, 1 to 2^32 - 1; with replacement at most 2^28 - 1,
 *                          because versions of torch differ beyond that.
 * @param[in]  replacement  True: each position is drawn from all indices. False: whole permutations
 *                          follow each other, and the last one is truncated.
 * @param[in]  options      The length of an epoch, torch's num_samples, 1 to 2^32 - 1 and by
 *                          default @p length; the seed, by default 0; and the directory of tables.
 *                          NULL for the defaults.
 * @param[out] order        Receives the order, to be released with lx_order_unref(); NULL on
 *                          failure.
 * @param[out] error        Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order is made.
 * @retval LX_ERR_ARGUMENT  @p length or the length of an epoch is 0, or @p order is NULL.
 * @retval LX_ERR_LIMIT     @p length or the length of an epoch is too large.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, with a directory of tables, as ::lx_order describes for tables in files.
 */
LX_API lx_status lx_order_new_torch_random(uint64_t length, bool replacement,
                                           const lx_order_options *options, lx_order **order,
                                           lx_error *error);

/**
 * Makes the order of SubsetRandomSampler(indices, generator), whose generator was given
 * manual_seed(seed) and continues from epoch to epoch.
 *
 * @param[in]  indices  @p count indices; copied.
 * @param[in]  count    The number of indices, and of positions in an epoch, at most 2^32 - 1.
 * @param[in]  options  The seed, by default 0, and the directory of tables. NULL for the defaults.
 * @param[out] order    Receives the order, to be released with lx_order_unref(); NULL on failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order is made.
 * @retval LX_ERR_ARGUMENT  An index is 2^64 - 1, or a pointer is NULL.
 * @retval LX_ERR_LIMIT     @p count is too large.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, with a directory of tables, as ::lx_order describes for tables in files.
 */
LX_API lx_status lx_order_new_torch_subset(const uint64_t *indices, uint64_t count,
                                           const lx_order_options *options, lx_order **order,
                                           lx_error *error);

/** What lx_order_new_torch_distributed() does. */
typedef enum lx_torch_flags {
    LX_TORCH_SHUFFLE = 1,  /**< The indices are shuffled; otherwise they come in sequence. */
    LX_TORCH_DROP_LAST = 2 /**< The last indices are left out if they are fewer than ranks;
                                otherwise the first indices of the epoch come again at its end. */
} lx_torch_flags;

/**
 * Makes the order of DistributedSampler(data, num_replicas = world, shuffle, seed, drop_last) of
 * all ranks together, epoch e as after set_epoch(e). A sampler of rank r of @p world takes from it
 * what torch's sampler returns.
 *
 * @param[in]  length   The number of indices; at most 2^32 - 1 if they are shuffled.
 * @param[in]  world    The number of ranks, 1 or more.
 * @param[in]  flags    Any of ::lx_torch_flags, or 0. torch's default is #LX_TORCH_SHUFFLE.
 * @param[in]  options  The seed, by default 0, and the directory of tables. NULL for the defaults.
 * @param[out] order    Receives the order, to be released with lx_order_unref(); NULL on failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order is made.
 * @retval LX_ERR_ARGUMENT  @p world is 0, @p flags is invalid, padded epochs would exceed 2^64 - 1
 *                          positions, @p order is NULL, or a directory of tables is set without
 *                          #LX_TORCH_SHUFFLE, which alone has a table.
 * @retval LX_ERR_LIMIT     @p length is too large.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, with a directory of tables, as ::lx_order describes for tables in files.
 */
LX_API lx_status lx_order_new_torch_distributed(uint64_t length, uint64_t world, unsigned flags,
                                                const lx_order_options *options, lx_order **order,
                                                lx_error *error);

/** @} */

LX_END_DECLS

#endif
