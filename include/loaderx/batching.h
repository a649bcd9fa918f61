/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Orders that decide which samples share a batch, by their lengths or their cost.
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
 * Batches of 256 in buckets of a hundred batches:
 *
 * @code
 * lx_order_new_bucketed(lengths, records, 256, NULL, &order, &error);
 * @endcode
 * @see lx_error, lx_order, lx_order_new_balanced(), lx_order_new_budgeted(), lx_sampler
 * @{
 */

/**
 * Makes an order whose batches contain indices of similar lengths, so that little padding is
 * needed. Each epoch is a permutation of all indices. The indices are sorted by their lengths and
 * divided into buckets; each bucket is shuffled and divided into batches, and the batches are
 * shuffled. The remainder, fewer indices than a batch, comes last and has the longest.
 *
 * It holds 4 bytes for each index; making it takes another 32 bytes for each meanwhile.
 *
 * @param[in]  lengths     The length of each index.
 * @param[in]  count       The number of indices, and of positions in an epoch, at most 2^32 - 1.
 * @param[in]  batch_size  Indices of a batch of all ranks together, 1 or more.
 * @param[in]  options     The size of a bucket, by default 100 batches; the seed, by default 0; and
 *                         the directory of tables. NULL for the defaults.
 * @param[out] order       Receives the order, to be released with lx_order_unref(); NULL on
 *                         failure.
 * @param[out] error       Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order is made.
 * @retval LX_ERR_ARGUMENT  @p batch_size is 0, the size of a bucket is 0 or not a multiple of it,
 *                          or a pointer is NULL.
 * @retval LX_ERR_LIMIT     @p count is too large.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, with a directory of tables, as ::lx_order describes for tables in files.
 */
LX_API lx_status lx_order_new_bucketed(const uint64_t *lengths, uint64_t count, uint64_t batch_size,
                                       const lx_order_options *options, lx_order **order,
                                       lx_error *error);

/** @} */

/**
 * @defgroup lx_order_new_budgeted Orders cut into batches by a budget
 *
 * Batches of at most 16,384 tokens, padding included, of texts of similar lengths:
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
 * Makes an order that has the same index at each position as @p part, and is cut into batches. From
 * the beginning of each epoch, each batch takes as many samples as fit, in their order; the last
 * one has the remainder. Samples fit while the sum of their costs does not exceed @p budget or,
 * with lx_order_options_set_padded(), while their number times their largest cost does not: the
 * memory that they take when all are padded to the longest. After lx_order_new_bucketed() little is
 * padded.
 *
 * The cuts depend on the order alone. A loader needs no batch size with such an order and returns
 * whole batches: of each N consecutive batches, each of N ranks takes one. So the budget is that of
 * one device, and one step of 4 ranks is equal to two steps of 2. lx_sampler_take_batch() does the
 * same without a loader.
 *
 * The order holds the costs, 4 bytes each if all fit and else 8, and the cuts of the last two
 * epochs that were entered, about an eighth of a byte for each position. The first thread that
 * enters an epoch reads it once for all threads: some nanoseconds for each position, and the cost
 * of @p part. An order that is cut cannot be a part of another order: cut last.
 *
 * @param[in]  part     An order that is not cut itself, of up to 2^32 - 1 positions.
 * @param[in]  costs    The cost of each index, 1 or more; copied.
 * @param[in]  count    The number of costs; all indices of @p part are below it.
 * @param[in]  budget   The most that a batch may cost, 1 or more.
 * @param[in]  options  The most samples of a batch, and whether they are padded. NULL for the
 *                      defaults.
 * @param[out] order    Receives the order, to be released with lx_order_unref(); NULL on failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order is made.
 * @retval LX_ERR_ARGUMENT  A cost is 0 or exceeds the budget, @p budget is 0, or a pointer is NULL.
 * @retval LX_ERR_MISMATCH  @p part has indices that are not below @p count, or is cut into batches.
 * @retval LX_ERR_LIMIT     @p part has too many positions, or the order would consist of more than
 *                          #LX_MAX_ORDERS orders, or be nested deeper than
 *                          #LX_MAX_ORDER_DEPTH.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_order_new_budgeted(lx_order *part, const uint64_t *costs, uint64_t count,
                                       uint64_t budget, const lx_order_options *options,
                                       lx_order **order, lx_error *error);

/** Returns the most samples of a batch in any epoch; 0 if the order is not cut into batches. */
LX_API uint64_t lx_order_get_max_batch_size(const lx_order *order);

/**
 * Counts the batches of an epoch, of all ranks together.
 *
 * @param[in]  order  An order that is cut into batches.
 * @param[in]  epoch  The epoch; one after the last position has no batch.
 * @param[out] count  Receives the number of batches.
 * @param[out] error  Receives the first failure; may be NULL.
 *
 * @retval LX_OK               They are counted.
 * @retval LX_ERR_UNSUPPORTED  The order is not cut into batches.
 * @retval LX_ERR_ARGUMENT     A pointer is NULL.
 * @retval LX_ERR_NOMEM        Out of memory.
 * @return Otherwise as reading the order.
 */
LX_API lx_status lx_order_get_batch_count(const lx_order *order, uint64_t epoch, uint64_t *count,
                                          lx_error *error);

/**
 * Finds the batch that contains a position.
 *
 * @param[in]  order     An order that is cut into batches.
 * @param[in]  position  Any position.
 * @param[out] number    Receives the number of the batch in its epoch, from 0; may be NULL.
 * @param[out] begin     Receives the first position of the batch; may be NULL.
 * @param[out] end       Receives the position after the batch; may be NULL.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The batch is found.
 * @retval LX_END              The order is empty, or @p position is 2^64 - 1.
 * @retval LX_ERR_UNSUPPORTED  The order is not cut into batches.
 * @retval LX_ERR_ARGUMENT     @p order is NULL.
 * @retval LX_ERR_NOMEM        Out of memory.
 * @return Otherwise as reading the order.
 */
LX_API lx_status lx_order_find_batch(const lx_order *order, uint64_t position, uint64_t *number,
                                     uint64_t *begin, uint64_t *end, lx_error *error);

/** @} */

LX_END_DECLS

#endif
