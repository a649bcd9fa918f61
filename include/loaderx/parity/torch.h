/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Orders of torch.utils.data, number for number: for who goes on with a training, or
 * compares one with another. Others are better served by lx_order_new_shuffle(), which holds no
 * table, and goes anywhere at once.
 *
 * Each gives what torch's sampler of that name gives on a CPU, epoch after epoch. They hold 4 bytes
 * a position for each of up to two epochs, and for each other one that a thread is in. Who enters
 * an epoch makes its table, once for all threads; where it ends within a permutation, that takes 4
 * bytes an index more meanwhile. torch's BatchSampler is how a loader makes batches.
 */
#ifndef LOADERX_PARITY_TORCH_H
#define LOADERX_PARITY_TORCH_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/order.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/** @defgroup lx_order_new_torch_random The orders of torch.utils.data
 * @{ */

/**
 * RandomSampler(data, replacement, num_samples, generator), whose generator was given
 * manual_seed(seed) and goes on from epoch to epoch. Any epoch is entered at once: what torch would
 * have drawn before it is skipped in milliseconds.
 *
 * @param[in]  length       Indices, 1 to 2^32 - 1; with replacement at most 2^28 - 1, from where on
 *                          versions of torch differ.
 * @param[in]  samples      Positions in an epoch, 1 to 2^32 - 1; torch's default is @p length.
 * @param[in]  replacement  With true, each is drawn from all; else whole permutations follow each
 *                          other, the last one cut.
 * @param[in]  seed         As torch's generators, it uses the lower 32 bits.
 * @param[in]  tables       The folder that keeps the table in a file (see ::lx_order); NULL:
 *                          in memory.
 * @param[out] order        The order, for lx_order_unref(); NULL on failure.
 * @param[out] error        What failed; may be NULL.
 *
 * @retval LX_OK            Made.
 * @retval LX_ERR_ARGUMENT  @p length or @p samples is 0, or @p order is NULL.
 * @retval LX_ERR_LIMIT     They are more.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 * @return Of a table in a file also what ::lx_order says of these.
 */
LX_API lx_status lx_order_new_torch_random(uint64_t length, uint64_t samples, bool replacement,
                                           uint64_t seed, const char *tables, lx_order **order,
                                           lx_error *error);

/**
 * SubsetRandomSampler(indices, generator), whose generator was given manual_seed(seed) and goes on
 * from epoch to epoch.
 *
 * @param[in]  indices  Copied.
 * @param[in]  count    How many, at most 2^32 - 1, also the positions in an epoch.
 * @param[in]  seed     As of lx_order_new_torch_random().
 * @param[in]  tables   The folder that keeps the table in a file (see ::lx_order); NULL:
 *                      in memory.
 * @param[out] order    The order, for lx_order_unref(); NULL on failure.
 * @param[out] error    What failed; may be NULL.
 *
 * @retval LX_OK            Made.
 * @retval LX_ERR_ARGUMENT  An index is 2^64 - 1, or a pointer is NULL.
 * @retval LX_ERR_LIMIT     There are more.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 * @return Of a table in a file also what ::lx_order says of these.
 */
LX_API lx_status lx_order_new_torch_subset(const uint64_t *indices, uint64_t count, uint64_t seed,
                                           const char *tables, lx_order **order, lx_error *error);

/**
 * DistributedSampler(data, num_replicas = world, shuffle, seed, drop_last) of all ranks together,
 * epoch e as after set_epoch(e): a sampler of rank r of @p world on it takes what torch's takes.
 *
 * @param[in]  length     Indices, at most 2^32 - 1 if they are shuffled.
 * @param[in]  world      Ranks, 1 or more.
 * @param[in]  shuffle    With false, they come in their own order.
 * @param[in]  drop_last  With true, those are left out that do not give one to each rank; else the
 *                        epoch's first ones come again at its end.
 * @param[in]  seed       As of lx_order_new_torch_random().
 * @param[in]  tables     The folder that keeps the table in a file (see ::lx_order); NULL:
 *                        in memory.
 * @param[out] order      The order, for lx_order_unref(); NULL on failure.
 * @param[out] error      What failed; may be NULL.
 *
 * @retval LX_OK            Made.
 * @retval LX_ERR_ARGUMENT  @p world is 0, padded epochs would be beyond 2^64 - 1, @p order is
 *                          NULL, or there are @p tables, but no shuffle that has one.
 * @retval LX_ERR_LIMIT     There are more.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 * @return Of a table in a file also what ::lx_order says of these.
 */
LX_API lx_status lx_order_new_torch_distributed(uint64_t length, uint64_t world, bool shuffle,
                                                bool drop_last, uint64_t seed, const char *tables,
                                                lx_order **order, lx_error *error);

/** @} */

LX_END_DECLS

#endif
