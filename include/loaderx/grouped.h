/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Orders by the class or the length of each record, and splits by a hash.
 */
#ifndef LOADERX_GROUPED_H
#define LOADERX_GROUPED_H

#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/order.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

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
 * @defgroup lx_split_indices Split indices by a hash
 *
 * An order of nine tenths of the records, shuffled:
 *
 * @code
 * lx_split_indices(NULL, records, 42, 0, 0.9, indices, &found, &error);
 * lx_order_new_shuffle(found, 42, &shuffled, &error);
 * lx_order_new_subset(shuffled, indices, found, NULL, &training, &error);
 * lx_order_unref(shuffled);
 * @endcode
 * @see loaderx-split(1), lx_error, lx_order, lx_order_new_subset()
 * @{
 */

/**
 * Finds the indices whose hash is in the interval [from, until) of all hashes. With [0, 0.9) for
 * training and [0.9, 1) for validation, each index is in exactly one of the two. The result for an
 * index does not depend on the number of indices: appended records do not move others from one part
 * to the other. doc/orders.md defines the hash.
 *
 * @param[in]  keys     What is hashed for each index, so that indices with equal keys are in the
 *                      same part; NULL for the index itself.
 * @param[in]  count    The number of indices.
 * @param[in]  seed     Any number; each gives another split.
 * @param[in]  from     The begin of the interval, from 0 to 1.
 * @param[in]  until    The end of the interval, from @p from to 1.
 * @param[out] indices  Receives the indices in ascending order, up to @p count; NULL to count them
 *                      only.
 * @param[out] found    Receives their number.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The indices are found.
 * @retval LX_ERR_ARGUMENT  @p from or @p until is out of range, or @p found is NULL.
 *
 * @par Thread safety
 * Any thread may call it.
 */
LX_API lx_status lx_split_indices(const uint64_t *keys, uint64_t count, uint64_t seed, double from,
                                  double until, uint64_t *indices, uint64_t *found,
                                  lx_error *error);

/** @} */

LX_END_DECLS

#endif
