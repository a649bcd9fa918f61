/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Orders by weight and by class.
 */
#ifndef LOADERX_WEIGHTED_H
#define LOADERX_WEIGHTED_H

#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/order.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_order_new_weighted Orders by weight
 *
 * A weight is a double that is 0 or more, in any unit: only its ratio to the sum of all weights
 * matters. The weights are converted to integers, so that the same weights produce the same indices
 * on every machine (doc/orders.md). An index with a weight of 0 is never drawn.
 *
 * This example creates an order with as many draws per epoch as there are records:
 *
 * @code
 * lx_order_options_set_seed(options, 42, &error);
 * lx_order_new_weighted(weights, records, options, &order, &error);
 * @endcode
 * @see lx_error, lx_order, lx_order_new_balanced(), lx_sampler
 * @{
 */

/**
 * Creates an order of independent draws with replacement. At each position, the probability of
 * index i is its weight, accurate to within 2^-31 of the mean weight, divided by the sum of all
 * weights. The order has the distribution of torch's WeightedRandomSampler, but not the same draws.
 *
 * The order uses 8 bytes per weight, and the cost of a draw does not depend on the weights. The
 * algorithm is Walker's alias method (1977).
 *
 * @param[in]  weights  @p count weights. The call copies them.
 * @param[in]  count    The number of weights and indices, 1 to 2^31 - 1.
 * @param[in]  options  The epoch length, by default @p count; the seed, by default 0; and the
 *                      tables directory. NULL for the defaults.
 * @param[out] order    Receives the order; release it with lx_order_unref(). NULL on failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order was created.
 * @retval LX_ERR_ARGUMENT  A weight is negative, infinite or not a number, all weights are 0, or a
 *                          pointer is NULL.
 * @retval LX_ERR_LIMIT     @p count is too large.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, if a tables directory is set, any status that ::lx_order lists under "Tables
 *         in files".
 */
LX_API lx_status lx_order_new_weighted(const double *weights, uint64_t count,
                                       const lx_order_options *options, lx_order **order,
                                       lx_error *error);

/**
 * Creates an order of draws without replacement. In each epoch, an index occurs at most once. At
 * each position, the probability of a remaining index is its share of the sum of the remaining
 * weights. If the epoch length is the number of weights above 0, an epoch is a shuffle in which
 * indices with large weights tend to come early.
 *
 * The order uses 8 bytes per weight. It also uses 4 bytes per position for each of up to two
 * epochs, and for each additional epoch that a thread is reading. The first thread that enters an
 * epoch computes its table for all threads, which temporarily takes another 32 bytes per weight. If
 * computing the table fails, readers get #LX_ERR_NOMEM. The algorithm is that of Efraimidis and
 * Spirakis (2006).
 *
 * @param[in]  weights  @p count weights. The call copies them.
 * @param[in]  count    The number of weights and indices, 1 to 2^31 - 1.
 * @param[in]  options  The epoch length, which is at most (and by default) the number of weights
 *                      above 0; the seed, by default 0; and the tables directory. NULL for the
 *                      defaults.
 * @param[out] order    Receives the order; release it with lx_order_unref(). NULL on failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order was created.
 * @retval LX_ERR_ARGUMENT  A weight is negative, infinite or not a number, all weights are 0, the
 *                          epoch length exceeds the number of weights above 0, or a pointer is
 *                          NULL.
 * @retval LX_ERR_LIMIT     @p count is too large.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, if a tables directory is set, any status that ::lx_order lists under "Tables
 *         in files".
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
 * Creates an order in which all classes are equally frequent. The positions form rounds, and each
 * round contains every class once, in shuffled order. Each class contributes its next index, and
 * its indices are reshuffled after all of them have been used. Indices of small classes therefore
 * occur more often than indices of large classes. Rounds continue across epochs.
 *
 * The order uses 4 bytes per index and 4 bytes per class. Creating the order temporarily takes
 * another 32 bytes per index. A thread that reads the order keeps the shuffles of up to 4096
 * classes, which take about 150 bytes each, plus 2 bytes per index for classes of up to 256
 * indices.
 *
 * @param[in]  classes  The class of each index. Any number is valid; equal numbers mean the same
 *                      class.
 * @param[in]  count    The number of indices, at most 2^32 - 1.
 * @param[in]  options  The epoch length, by default @p count; the seed, by default 0; and the
 *                      tables directory. NULL for the defaults.
 * @param[out] order    Receives the order; release it with lx_order_unref(). NULL on failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order was created.
 * @retval LX_ERR_ARGUMENT  @p count is 0 but the epoch length is not, or a pointer is NULL.
 * @retval LX_ERR_LIMIT     @p count is too large.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, if a tables directory is set, any status that ::lx_order lists under "Tables
 *         in files".
 */
LX_API lx_status lx_order_new_balanced(const uint64_t *classes, uint64_t count,
                                       const lx_order_options *options, lx_order **order,
                                       lx_error *error);

/** @} */

LX_END_DECLS

#endif
