/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Orders by weights and by classes.
 */
#ifndef LOADERX_WEIGHTED_H
#define LOADERX_WEIGHTED_H

#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/order.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_order_new_weighted Orders by weights
 *
 * A weight is a double of 0 or more in any unit: only its ratio to the sum of all weights counts.
 * The weights are converted to integers, so that the same weights give the same indices on every
 * machine (doc/orders.md). An index with the weight 0 is never drawn.
 *
 * As many draws per epoch as there are records:
 *
 * @code
 * lx_order_options_set_seed(options, 42, &error);
 * lx_order_new_weighted(weights, records, options, &order, &error);
 * @endcode
 * @see lx_error, lx_order, lx_order_new_balanced(), lx_sampler
 * @{
 */

/**
 * Makes an order of independent draws with replacement: each position has index i with the
 * probability of its weight among all weights, with an error below 2^-31 of the mean weight. It has
 * the distribution of torch's WeightedRandomSampler, not its numbers.
 *
 * It holds 8 bytes for each weight, and the cost of a draw does not depend on the weights. Source
 * of the algorithm: Walker's alias method (1977).
 *
 * @param[in]  weights  @p count weights; copied.
 * @param[in]  count    The number of weights and indices, 1 to 2^31 - 1.
 * @param[in]  options  The length of an epoch, by default @p count; the seed, by default 0; and the
 *                      directory of tables. NULL for the defaults.
 * @param[out] order    Receives the order, to be released with lx_order_unref(); NULL on failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order is made.
 * @retval LX_ERR_ARGUMENT  A weight is negative, infinite or not a number, all are 0, or a pointer
 *                          is NULL.
 * @retval LX_ERR_LIMIT     @p count is too large.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, with a directory of tables, as ::lx_order describes for tables in files.
 */
LX_API lx_status lx_order_new_weighted(const double *weights, uint64_t count,
                                       const lx_order_options *options, lx_order **order,
                                       lx_error *error);

/**
 * Makes an order of draws without replacement: in each epoch an index comes at most once, and each
 * position has one of the remaining indices with the probability of its weight among theirs. If the
 * length is the number of weights above 0, an epoch is a shuffle in which heavy indices come early.
 *
 * It holds 8 bytes for each weight, and 4 bytes for each position of up to two epochs, and of each
 * other epoch that a thread reads. The first thread that enters an epoch computes its table for all
 * threads, which takes another 32 bytes for each weight meanwhile; a reader gets #LX_ERR_NOMEM if
 * that fails. Source of the algorithm: Efraimidis and Spirakis (2006).
 *
 * @param[in]  weights  @p count weights; copied.
 * @param[in]  count    The number of weights and indices, 1 to 2^31 - 1.
 * @param[in]  options  The length of an epoch, at most the number of weights above 0, which is the
 *                      default; the seed, by default 0; and the directory of tables. NULL for the
 *                      defaults.
 * @param[out] order    Receives the order, to be released with lx_order_unref(); NULL on failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order is made.
 * @retval LX_ERR_ARGUMENT  A weight is negative, infinite or not a number, all are 0, fewer than
 *                          the length are above 0, or a pointer is NULL.
 * @retval LX_ERR_LIMIT     @p count is too large.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, with a directory of tables, as ::lx_order describes for tables in files.
 */
LX_API lx_status lx_order_new_weighted_shuffle(const double *weights, uint64_t count,
                                               const lx_order_options *options, lx_order **order,
                                               lx_error *error);

/** @} */

/**
 * @defgroup lx_order_new_balanced Orders with equally frequent classes
 * @see lx_error, lx_order, lx_order_new_bucketed(), lx_order_new_weighted(), lx_sampler
 * @{
 */

/**
 * Makes an order in which all classes are equally frequent. The positions form rounds, in each of
 * which every class comes once, in shuffled order. Each time, a class contributes the next of its
 * indices, which are shuffled again when all were used. So indices of small classes come more often
 * than those of large ones. Rounds continue from one epoch to the next.
 *
 * It holds 4 bytes for each index and for each class; making it takes another 32 bytes for each
 * index meanwhile. A thread that reads it keeps the shuffles of up to 4096 classes, about 150 bytes
 * each, and 2 bytes for each index of classes of up to 256 indices.
 *
 * @param[in]  classes  The class of each index: any numbers; equal numbers are one class.
 * @param[in]  count    The number of indices, at most 2^32 - 1.
 * @param[in]  options  The length of an epoch, by default @p count; the seed, by default 0; and the
 *                      directory of tables. NULL for the defaults.
 * @param[out] order    Receives the order, to be released with lx_order_unref(); NULL on failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order is made.
 * @retval LX_ERR_ARGUMENT  @p count is 0 but the length is not, or a pointer is NULL.
 * @retval LX_ERR_LIMIT     @p count is too large.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, with a directory of tables, as ::lx_order describes for tables in files.
 */
LX_API lx_status lx_order_new_balanced(const uint64_t *classes, uint64_t count,
                                       const lx_order_options *options, lx_order **order,
                                       lx_error *error);

/** @} */

LX_END_DECLS

#endif
