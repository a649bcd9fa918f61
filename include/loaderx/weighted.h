/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Orders by weights: indices that come as often, or as early, as a number each says.
 *
 * Weights are doubles of 0 or more, in any unit: what counts is what they are of their sum. They
 * become whole numbers, so that the same weights give the same indices on every machine
 * (doc/orders.md).
 */
#ifndef LOADERX_WEIGHTED_H
#define LOADERX_WEIGHTED_H

#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/order.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/** @defgroup lx_order_new_weighted Orders by weights
 * @{ */

/**
 * Independent draws with replacement: at each position stands index i with the probability of its
 * weight among all of them, off by less than one part in 2^31 of the mean weight. The order of
 * torch's WeightedRandomSampler, though not its numbers.
 *
 * It holds 8 bytes a weight, and a draw costs the same whatever they are. Source of the algorithm:
 * Walker's alias method (1977).
 *
 * @param[in]  weights  Copied. Those of 0 are never drawn.
 * @param[in]  count    How many, 1 to 2^31 - 1: the indices are below it.
 * @param[in]  length   Positions in an epoch, any number.
 * @param[in]  seed     Any number.
 * @param[in]  tables   The folder that keeps the table in a file (see ::lx_order); NULL:
 *                      in memory.
 * @param[out] order    The order, for lx_order_unref(); NULL on failure.
 * @param[out] error    What failed; may be NULL.
 *
 * @retval LX_OK            Made.
 * @retval LX_ERR_ARGUMENT  A weight is negative, infinite or no number, all are 0, or a pointer is
 *                          NULL.
 * @retval LX_ERR_LIMIT     There are more.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 * @return Of a table in a file also what ::lx_order says of these.
 */
LX_API lx_status lx_order_new_weighted(const double *weights, uint64_t count, uint64_t length,
                                       uint64_t seed, const char *tables, lx_order **order,
                                       lx_error *error);

/**
 * Draws without replacement: in each epoch an index comes once at most, and at each position each
 * of those left with the probability of its weight among theirs. With a length of all that have a
 * weight, that is a shuffle in which the heavy ones come early.
 *
 * It holds 8 bytes a weight, and 4 a position for each of up to two epochs and for each other one
 * that a thread is in. Who enters an epoch makes its table first, once for all threads, which takes
 * 32 bytes a weight meanwhile. Source of the algorithm: Efraimidis and Spirakis, 2006.
 *
 * @param[in]  weights  Copied. Those of 0 are never drawn.
 * @param[in]  count    How many, 1 to 2^31 - 1: the indices are below it.
 * @param[in]  length   Positions in an epoch, at most as many as weights are above 0.
 * @param[in]  seed     Any number.
 * @param[in]  tables   The folder that keeps the table in a file (see ::lx_order); NULL:
 *                      in memory.
 * @param[out] order    The order, for lx_order_unref(); NULL on failure.
 * @param[out] error    What failed; may be NULL.
 *
 * @retval LX_OK            Made.
 * @retval LX_ERR_ARGUMENT  A weight is negative, infinite or no number, all are 0, fewer than
 *                          @p length are above 0, or a pointer is NULL.
 * @retval LX_ERR_LIMIT     There are more.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 * @return Of a table in a file also what ::lx_order says of these.
 */
LX_API lx_status lx_order_new_weighted_shuffle(const double *weights, uint64_t count,
                                               uint64_t length, uint64_t seed, const char *tables,
                                               lx_order **order, lx_error *error);

/** @} */

LX_END_DECLS

#endif
