/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Orders by something that is known of each record: its class, its length; and splits of
 * records into sets, for training and validation, by a hash.
 *
 * What each formula is, to the bit, doc/orders.md says.
 */
#ifndef LOADERX_GROUPED_H
#define LOADERX_GROUPED_H

#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/order.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/** @defgroup lx_order_new_balanced Each class equally often
 * @{ */

/**
 * Every class as often as every other one: positions go by in rounds, each of which has all classes
 * once, shuffled; and each time a class gives the next of its indices, which are shuffled anew
 * whenever it has given all. So of any so many positions as there are rounds in them, each class
 * has as many, to one; indices of small classes come more often than those of large ones.
 *
 * It holds 4 bytes an index, and 4 a class; making it takes 32 bytes an index meanwhile. A thread
 * that reads it keeps the shuffles of up to 4096 classes, of some 150 bytes each, and of classes of
 * up to 256 indices 2 bytes an index more.
 *
 * @param[in]  classes  The class of each index: any numbers; equal ones are one class.
 * @param[in]  count    How many indices, at most 2^32 - 1.
 * @param[in]  length   Positions in an epoch, any number: rounds go on from one to the next.
 * @param[in]  seed     Any number.
 * @param[in]  tables   The folder that keeps the table in a file (see ::lx_order); NULL:
 *                      in memory.
 * @param[out] order    The order, for lx_order_unref(); NULL on failure.
 * @param[out] error    What failed; may be NULL.
 *
 * @retval LX_OK            Made.
 * @retval LX_ERR_ARGUMENT  There are no indices, but @p length is not 0; or a pointer is NULL.
 * @retval LX_ERR_LIMIT     There are more.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 * @return Of a table in a file also what ::lx_order says of these.
 */
LX_API lx_status lx_order_new_balanced(const uint64_t *classes, uint64_t count, uint64_t length,
                                       uint64_t seed, const char *tables, lx_order **order,
                                       lx_error *error);

/** @} */

/** @defgroup lx_order_new_bucketed Batches of similar lengths
 * @{ */

/**
 * Batches of indices of like lengths, so that little is padded: each epoch is a permutation of all
 * indices. Sorted by their lengths they are cut into buckets; each is shuffled, and cut into
 * batches; and the batches are shuffled. What is left over, fewer indices than a batch, comes last,
 * and is of the longest.
 *
 * It holds 4 bytes an index; making it takes 32 bytes an index meanwhile.
 *
 * @param[in]  lengths  Of each index.
 * @param[in]  count    How many indices, at most 2^32 - 1, also the positions in an epoch.
 * @param[in]  batch    Indices of a batch, those of all ranks together; 1 or more.
 * @param[in]  bucket   Indices of a bucket, a multiple of @p batch. A larger one is shuffled
 *                      better, in a smaller one lengths are closer to each other.
 * @param[in]  seed     Any number.
 * @param[in]  tables   The folder that keeps the table in a file (see ::lx_order); NULL:
 *                      in memory.
 * @param[out] order    The order, for lx_order_unref(); NULL on failure.
 * @param[out] error    What failed; may be NULL.
 *
 * @retval LX_OK            Made.
 * @retval LX_ERR_ARGUMENT  @p batch is 0, @p bucket is no multiple of it, or a pointer is NULL.
 * @retval LX_ERR_LIMIT     There are more.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 * @return Of a table in a file also what ::lx_order says of these.
 */
LX_API lx_status lx_order_new_bucketed(const uint64_t *lengths, uint64_t count, uint64_t batch,
                                       uint64_t bucket, uint64_t seed, const char *tables,
                                       lx_order **order, lx_error *error);

/** @} */

/** @defgroup lx_split_indices Split indices by a hash
 * @{ */

/**
 * Finds the indices whose hash falls in a part of all hashes: with [0, 0.9) for training and
 * [0.9, 1) for validation, each index is in just one of both. That does not depend on how many
 * others there are: records that are appended move none from one set to the other.
 *
 * For an order of a set, make one of as many indices as were found, and put
 * lx_order_new_subset() on it.
 *
 * @param[in]  keys     What is hashed for each index: its records' own numbers, say, so that equal
 *                      ones are in the same set; NULL: the index.
 * @param[in]  count    How many indices.
 * @param[in]  seed     Any number; each gives other sets.
 * @param[in]  from     Where the part begins, from 0 to 1.
 * @param[in]  until    Where it ends, from @p from to 1.
 * @param[out] indices  Those found, ascending, room for @p count; NULL: they are counted alone.
 * @param[out] found    How many.
 * @param[out] error    What failed; may be NULL.
 *
 * @retval LX_OK            Done.
 * @retval LX_ERR_ARGUMENT  @p from or @p until is no such number, or @p found is NULL.
 *
 * @par Thread safety
 * Any thread.
 */
LX_API lx_status lx_split_indices(const uint64_t *keys, uint64_t count, uint64_t seed, double from,
                                  double until, uint64_t *indices, uint64_t *found,
                                  lx_error *error);

/** @} */

LX_END_DECLS

#endif
