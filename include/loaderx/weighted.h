/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Orders by weights.
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

LX_END_DECLS

#endif
