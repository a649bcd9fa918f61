/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Orders that decide by length or by cost which samples share a batch.
 */
#ifndef LOADERX_BATCHING_H
#define LOADERX_BATCHING_H

#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/order.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_order_new_bucketed Orders with batches of similar lengths
 *
 * This example creates batches of 256 in buckets of a hundred batches:
 *
 * @code
 * lx_order_new_bucketed(lengths, records, 256, NULL, &order, &error);
 * @endcode
 * @see lx_error, lx_order, lx_order_new_balanced(), lx_order_new_budgeted(), lx_sampler
 * @{
 */

/**
 * Creates an order whose batches contain indices of similar length, so that little padding is
 * needed. Each epoch is a permutation of all indices. The order sorts the indices by length,
 * divides them into buckets, shuffles each bucket, divides it into batches, and shuffles the
 * batches. If the number of indices is not a multiple of the batch size, the remainder consists of
 * the indices with the greatest lengths and comes last.
 *
 * The order uses 4 bytes per index. Creating the order temporarily takes another 32 bytes per
 * index.
 *
 * @param[in]  lengths     The length of each index.
 * @param[in]  count       The number of indices, which is also the epoch length, at most 2^32 - 1.
 * @param[in]  batch_size  The number of indices in a global batch (of all ranks together), 1 or
 *                         more.
 * @param[in]  options     The bucket size, by default 100 batches; the seed, by default 0; and the
 *                         tables directory. NULL for the defaults.
 * @param[out] order       Receives the order; release it with lx_order_unref(). NULL on failure.
 * @param[out] error       Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order was created.
 * @retval LX_ERR_ARGUMENT  @p batch_size is 0, the bucket size is 0 or not a multiple of
 *                          @p batch_size, or a pointer is NULL.
 * @retval LX_ERR_LIMIT     @p count is too large.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, if a tables directory is set, any status that ::lx_order lists under "Tables
 *         in files".
 */
LX_API lx_status lx_order_new_bucketed(const uint64_t *lengths, uint64_t count, uint64_t batch_size,
                                       const lx_order_options *options, lx_order **order,
                                       lx_error *error);

/** @} */

/**
 * @defgroup lx_order_new_budgeted Orders cut into batches by a budget
 *
 * This example creates batches of texts of similar length, with at most 16,384 tokens each,
 * including padding:
 *
 * @code
 * lx_order *bucketed = NULL, *order = NULL;
 * lx_order_new_bucketed(tokens, texts, 32, NULL, &bucketed, &error);
 * lx_order_options_set_padded(options, true, &error);
 * lx_order_new_budgeted(bucketed, tokens, texts, 16384, options, &order,
 *                       &error);
 * lx_order_unref(bucketed);
 * lx_loader_options_set_order(options, order, &error);
 * @endcode
 * @see lx_error, lx_loader, lx_order, lx_order_new_bucketed(), lx_sampler
 * @{
 */

/**
 * Creates an order that has the same index as @p part at each position, but is cut into batches.
 * Starting at the beginning of each epoch, each batch takes as many samples as fit, in order; the
 * last batch of the epoch gets the remainder. Samples fit while the sum of their costs does not
 * exceed @p budget. With lx_order_options_set_padded(), samples fit while their number times their
 * largest cost does not exceed @p budget; this product is the size of the batch after all samples
 * are padded to the longest one. If @p part is an order from lx_order_new_bucketed(), little
 * padding is needed.
 *
 * The cuts depend only on the order. With such an order, a loader needs no batch size and returns
 * whole batches: if there are N ranks, each rank takes one of every N consecutive batches. The
 * budget therefore applies to each device, and one step of 4 ranks is equivalent to two steps of 2
 * ranks. lx_sampler_take_batch() does the same without a loader.
 *
 * The order stores each cost in 4 bytes if all costs fit, and in 8 bytes otherwise. It also stores
 * the cuts of the two most recently entered epochs, using about one bit per position. The first
 * thread that enters an epoch reads the whole epoch once for all threads. This takes a few
 * nanoseconds per position, plus the time to read @p part. An order that is cut into batches cannot
 * be part of another order, so compose orders first, and cut the result.
 *
 * @param[in]  part     An order of up to 2^32 - 1 positions that is not itself cut into batches.
 * @param[in]  costs    The cost of each index, 1 or more. The call copies the costs.
 * @param[in]  count    The number of costs; all indices of @p part must be less than @p count.
 * @param[in]  budget   The maximum cost of a batch, 1 or more.
 * @param[in]  options  The maximum number of samples in a batch, and whether samples are padded.
 *                      NULL for the defaults.
 * @param[out] order    Receives the order; release it with lx_order_unref(). NULL on failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order was created.
 * @retval LX_ERR_ARGUMENT  A cost is 0 or exceeds the budget, @p budget is 0, or a pointer is NULL.
 * @retval LX_ERR_MISMATCH  @p part has indices that are not less than @p count, or is cut into
 *                          batches.
 * @retval LX_ERR_LIMIT     @p part has too many positions, or the new order would consist of more
 *                          than #LX_MAX_ORDERS orders, or be nested deeper than
 *                          #LX_MAX_ORDER_DEPTH.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_order_new_budgeted(lx_order *part, const uint64_t *costs, uint64_t count,
                                       uint64_t budget, const lx_order_options *options,
                                       lx_order **order, lx_error *error);

/**
 * Returns the maximum number of samples in a batch of any epoch; 0 if the order is not cut into
 * batches.
 */
LX_API uint64_t lx_order_get_max_batch_size(const lx_order *order);

/**
 * Counts the batches of an epoch, for all ranks together.
 *
 * @param[in]  order  An order that is cut into batches.
 * @param[in]  epoch  The epoch; an epoch that begins after the last position has no batches.
 * @param[out] count  Receives the number of batches.
 * @param[out] error  Receives the first failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  The order is not cut into batches, or a pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, any status that reading the order returns.
 */
LX_API lx_status lx_order_get_batch_count(const lx_order *order, uint64_t epoch, uint64_t *count,
                                          lx_error *error);

/**
 * Finds the batch that contains a position.
 *
 * @param[in]  order     An order that is cut into batches.
 * @param[in]  position  Any position.
 * @param[out] number    Receives the number of the batch in its epoch, counted from 0; may be NULL.
 * @param[out] begin     Receives the first position of the batch; may be NULL.
 * @param[out] end       Receives the position after the last position of the batch; may be NULL.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The batch was found.
 * @retval LX_END           The order is empty, or @p position is 2^64 - 1.
 * @retval LX_ERR_ARGUMENT  The order is not cut into batches, or @p order is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, any status that reading the order returns.
 */
LX_API lx_status lx_order_find_batch(const lx_order *order, uint64_t position, uint64_t *number,
                                     uint64_t *begin, uint64_t *end, lx_error *error);

/** @} */

LX_END_DECLS

#endif
