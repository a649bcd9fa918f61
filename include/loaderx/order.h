/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Orders: which index is at each position of training.
 */
#ifndef LOADERX_ORDER_H
#define LOADERX_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_order Orders of indices
 *
 * **Positions** count the samples of one global order, of all ranks together: 0, 1, 2, ... up to
 * 2^64 - 2. An order of length n has epochs of n positions: epoch e has the positions [e * n, (e +
 * 1) * n), and the last epoch is truncated at the last position. The index at a position is a pure
 * function of the order and the position. It does not depend on what was read before, nor on the
 * number of processes and threads, so any position can be entered at once. doc/orders.md defines
 * each order exactly; its formula never changes.
 *
 * The other orders have pages of their own: by weights (lx_order_new_weighted()), by classes
 * (lx_order_new_balanced()), by lengths (lx_order_new_bucketed()), cut into batches by cost
 * (lx_order_new_budgeted()), made of other orders (lx_order_new_slice()), and mixed (::lx_mixture).
 *
 * @code
 * lx_order *shuffled = NULL, *half = NULL;
 * lx_order_new_shuffle(60000, 42, &shuffled, &error);
 * // another half of the indices in each epoch
 * lx_order_new_slice(shuffled, 0, 30000, &half, &error);
 * lx_order_unref(shuffled);
 * @endcode
 * @see lx_error, lx_sampler, lx_split_indices(), loaderx(7)
 * @{
 */

/** The most levels of nested orders: the stack to read them is proportional. */
#define LX_MAX_ORDER_DEPTH 64

/** The most orders in an order, itself and repetitions included: a saved state describes each. */
#define LX_MAX_ORDERS 65536

/**
 * An order. One of length 0 is valid and has no positions.
 *
 * @par Ownership
 * Each constructor returns one reference; dropping the last one with lx_order_unref() frees the
 * order.
 *
 * @par Tables in files
 * Some orders hold a table, which takes time to compute, and memory. With
 * lx_order_options_set_tables(), the table is a file in a directory, which doc/orders.md describes.
 * The first process that makes the order writes the file. Every other process, and every later run,
 * opens it within about a millisecond and shares its pages in memory. The name of a file is a hash
 * of everything on which the table depends, so one directory serves any number of orders.
 * @par
 * The directory is created if it does not exist. If it cannot be written, orders whose files exist
 * can still be made. Processes that need the same table at the same time each compute it, and the
 * last file stays: if that is too much work, let one process make the order first. The library
 * removes only the tables of epochs, when it writes the table of the second epoch after. Files that
 * are no longer needed can be deleted at any time, also while they are read. So can files whose
 * names end in .new: a process leaves one if it is killed while it writes.
 * @par
 * The table is mapped. Truncation of its file by another process, or a bad sector, raises SIGBUS.
 * @par
 * A table that cannot be kept in a file is a failure; it is not kept in memory instead. #LX_ERR_IO:
 * the disk is full, or a system call failed. #LX_ERR_NOT_FOUND: the directory cannot be created, or
 * is a file. #LX_ERR_UNSUPPORTED: the file has a later version, or the machine is big-endian.
 * #LX_ERR_MISMATCH: the file holds another table. #LX_ERR_CORRUPT: the file is damaged, found when
 * the order is made or when the damage is read; delete the file, and it is written again.
 *
 * @par Thread safety
 * Full, because an order never changes.
 */
typedef struct lx_order lx_order;

/**
 * Makes an order in which a window slides over the circle 0 to @p length - 1: position k has the
 * index ((k div window) * stride + k mod window) mod length, computed without overflow.
 *
 * With a stride equal to the window, the default, that is k mod length: the indices in sequence,
 * each once per epoch. With a smaller stride windows overlap, with a larger one indices between
 * them are left out.
 *
 * @param[in]  length  The number of indices, and of positions in an epoch.
 * @param[in]  window  Positions of a window; 0 for 1, so that a stride alone selects every
 *                     stride-th index.
 * @param[in]  stride  Indices by which the window slides; 0 for the window.
 * @param[out] order   Receives the order, to be released with lx_order_unref(); NULL on failure.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order is made.
 * @retval LX_ERR_ARGUMENT  @p order is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_order_new_sequential(uint64_t length, uint64_t window, uint64_t stride,
                                         lx_order **order, lx_error *error);

/**
 * Makes an order of independent draws with replacement from 0 to @p length - 1: any index can be at
 * any position. An epoch contains about 63 % of the indices; with lx_order_new_shuffle() it
 * contains all.
 *
 * The probability of an index differs from 1 / length by less than 2^-64. Source of the numbers:
 * Philox2x64-10 (Salmon et al., 2011), by the position.
 *
 * @param[in]  length  The number of indices, and of positions in an epoch.
 * @param[in]  seed    Any number; each gives other draws.
 * @param[out] order   Receives the order, to be released with lx_order_unref(); NULL on failure.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order is made.
 * @retval LX_ERR_ARGUMENT  @p order is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_order_new_random(uint64_t length, uint64_t seed, lx_order **order,
                                     lx_error *error);

/**
 * Makes an order in which each epoch is another permutation of 0 to @p length - 1.
 *
 * Up to a length of 65,536 it is the shuffle of Fisher and Yates. A reader holds a table of 128 KiB
 * for it, and computes it for each epoch that it enters, within a millisecond. Longer permutations
 * are computed by a Feistel network, without memory: the cost is the same for all positions, and
 * the length may be up to 2^64 - 1.
 *
 * @param[in]  length  The number of indices, and of positions in an epoch.
 * @param[in]  seed    Any number; the permutations of two seeds, or of two epochs, are unrelated.
 * @param[out] order   Receives the order, to be released with lx_order_unref(); NULL on failure.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order is made.
 * @retval LX_ERR_ARGUMENT  @p order is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_order_new_shuffle(uint64_t length, uint64_t seed, lx_order **order,
                                      lx_error *error);

/**
 * Makes an order in which blocks of neighboring indices are shuffled, and the indices of each block
 * as well: for disks on which distant reads are slow. Each epoch is another permutation of 0 ..
 * @p length
 *  - 1, in which the indices of a block, [b * block, (b + 1) * block), follow one another.
 * The last block may be shorter, and comes anywhere, too.
 *
 * @param[in]  length  The number of indices, and of positions in an epoch.
 * @param[in]  block   Indices of a block, 1 or more.
 * @param[in]  seed    Any number.
 * @param[out] order   Receives the order, to be released with lx_order_unref(); NULL on failure.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order is made.
 * @retval LX_ERR_ARGUMENT  @p block is 0, the number of blocks times @p block exceeds 2^64 - 1, or
 *                          @p order is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_order_new_blocks(uint64_t length, uint64_t block, uint64_t seed,
                                     lx_order **order, lx_error *error);

/** Adds a reference. Returns @p order; NULL for NULL. */
LX_API lx_order *lx_order_ref(lx_order *order);

/** Drops a reference; dropping the last one frees the order. NULL is allowed. */
LX_API void lx_order_unref(lx_order *order);

/** Returns the number of positions in an epoch. */
LX_API uint64_t lx_order_get_length(const lx_order *order);

/** @} */

/**
 * @defgroup lx_order_options Options of orders
 *
 * Each order has the options that its constructor names. An option that has no effect on the order
 * is an error, #LX_ERR_ARGUMENT, so that none is ignored.
 *
 * A hundred thousand draws in each epoch, with a table in a file:
 *
 * @code
 * lx_order_options *options = lx_order_options_new();
 * lx_order_options_set_length(options, 100000, &error);
 * lx_order_options_set_seed(options, 42, &error);
 * lx_order_options_set_tables(options, "cache", &error);
 * lx_order_new_weighted(weights, records, options, &order, &error);
 * lx_order_options_free(options);
 * @endcode
 * @see lx_error, lx_order, lx_order_new_balanced(), lx_order_new_bucketed(),
 *      lx_order_new_budgeted(), lx_order_new_weighted()
 * @{
 */

/**
 * The options of an order.
 *
 * @par Thread safety
 * One thread at a time. An order copies what it needs when it is made.
 */
typedef struct lx_order_options lx_order_options;

/** Returns options with the defaults; NULL when out of memory. */
LX_API lx_order_options *lx_order_options_new(void);

/** Frees options. NULL is allowed. */
LX_API void lx_order_options_free(lx_order_options *options);

/**
 * Sets the number of positions in an epoch, any number. The default is that of the order.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_order_options_set_length(lx_order_options *options, uint64_t length,
                                             lx_error *error);

/**
 * Sets the seed, any number. The default is 0, unless the order names another one.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_order_options_set_seed(lx_order_options *options, uint64_t seed,
                                           lx_error *error);

/**
 * Sets the directory that keeps the tables of the order in files (see ::lx_order). With NULL, the
 * default, they are kept in memory.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 * @retval LX_ERR_NOMEM     Out of memory; nothing changed.
 */
LX_API lx_status lx_order_options_set_tables(lx_order_options *options, const char *directory,
                                             lx_error *error);

/**
 * Sets the number of indices in a bucket of lx_order_new_bucketed(): a multiple of the batch size,
 * 1 or more. Larger buckets shuffle better; in smaller ones the lengths are more similar. The
 * default is 100 batches.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_order_options_set_bucket_size(lx_order_options *options, uint64_t size,
                                                  lx_error *error);

/**
 * Sets the most samples of a batch of lx_order_new_budgeted(); 0, the default, for as many as fit.
 * A loader reserves memory for the largest possible batch, which has only the cheapest samples.
 * Set a limit if some samples are far cheaper than most.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_order_options_set_max_batch_size(lx_order_options *options, uint64_t size,
                                                     lx_error *error);

/**
 * Sets whether each sample of lx_order_new_budgeted() costs as much as the most expensive one of
 * its batch: the memory that samples take when all are padded to the longest. The default is false.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_order_options_set_padded(lx_order_options *options, bool padded,
                                             lx_error *error);

/** @} */

/**
 * @defgroup lx_order_new_slice Orders made of other orders
 *
 * The parts are orders of any kind, except those that are cut into batches
 * (lx_order_new_budgeted()). Each part is read in its own epochs. The new order takes references to
 * its parts. An order can be nested #LX_MAX_ORDER_DEPTH deep, and consist of #LX_MAX_ORDERS orders,
 * itself included.
 *
 * The first tenth of the records for validation, and the others, shuffled, for training:
 *
 * @code
 * lx_order_new_sequential(60000, 0, 0, &all, &error);
 * lx_order_new_slice(all, 0, 6000, &validation, &error);
 * for (uint64_t i = 0; i < 54000; i++)
 *     rest[i] = 6000 + i;
 * lx_order_new_shuffle(54000, 42, &shuffled, &error);
 * lx_order_new_subset(shuffled, rest, 54000, NULL, &training, &error);
 * @endcode
 * @see lx_error, lx_mixture, lx_order, lx_sampler
 * @{
 */

/**
 * Makes an order of a part of each epoch: the offsets [first, first + length) of @p part. To skip
 * the first k of n is the slice of length n - k from k; to take the first k is the slice of length
 * k from 0.
 *
 * @param[in]  part    The order.
 * @param[in]  first   The first offset.
 * @param[in]  length  The number of offsets, and of positions in an epoch; 0 makes an empty order.
 * @param[out] order   Receives the order, to be released with lx_order_unref(); NULL on failure.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order is made.
 * @retval LX_ERR_ARGUMENT  The epochs of @p part are shorter, or a pointer is NULL.
 * @retval LX_ERR_MISMATCH  @p part is cut into batches.
 * @retval LX_ERR_LIMIT     The order would consist of more than #LX_MAX_ORDERS orders, or be
 *                          nested deeper than #LX_MAX_ORDER_DEPTH.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_order_new_slice(lx_order *part, uint64_t first, uint64_t length,
                                    lx_order **order, lx_error *error);

/**
 * Makes an order with longer epochs: after its end each epoch of @p part begins again, until its
 * length is a multiple of @p multiple. If that is the number of samples of a batch of all ranks,
 * every rank has equally many batches, all of them full.
 *
 * @param[in]  part      The order.
 * @param[in]  multiple  The new length is the least multiple of it that is not below the old
 *                       length; 1 or more.
 * @param[out] order     Receives the order, to be released with lx_order_unref(); NULL on failure.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order is made.
 * @retval LX_ERR_ARGUMENT  @p multiple is 0, the length would exceed 2^64 - 1, or a pointer is
 *                          NULL.
 * @retval LX_ERR_MISMATCH  @p part is cut into batches.
 * @retval LX_ERR_LIMIT     The order would consist of more than #LX_MAX_ORDERS orders, or be
 *                          nested deeper than #LX_MAX_ORDER_DEPTH.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_order_new_padded(lx_order *part, uint64_t multiple, lx_order **order,
                                     lx_error *error);

/**
 * Makes an order of which one epoch is @p times epochs of @p part. Each position has the same
 * index.
 *
 * @param[in]  part   The order.
 * @param[in]  times  The number of epochs, 1 or more.
 * @param[out] order  Receives the order, to be released with lx_order_unref(); NULL on failure.
 * @param[out] error  Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order is made.
 * @retval LX_ERR_ARGUMENT  @p times is 0, the length would exceed 2^64 - 1, or a pointer is NULL.
 * @retval LX_ERR_MISMATCH  @p part is cut into batches.
 * @retval LX_ERR_LIMIT     The order would consist of more than #LX_MAX_ORDERS orders, or be
 *                          nested deeper than #LX_MAX_ORDER_DEPTH.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_order_new_repeat(lx_order *part, uint64_t times, lx_order **order,
                                     lx_error *error);

/**
 * Concatenates orders: each epoch consists of that epoch of the first order, then of the second,
 * and so on.
 *
 * @param[in]  parts    @p count orders.
 * @param[in]  offsets  Added to the indices of each order, for instance the first index of each
 *                      source of lx_source_new_concat(); NULL to add nothing.
 * @param[in]  count    The number of orders, 1 or more.
 * @param[out] order    Receives the order, to be released with lx_order_unref(); NULL on failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order is made.
 * @retval LX_ERR_ARGUMENT  @p count is 0, the length or an index would exceed 2^64 - 1, or a
 *                          pointer is NULL.
 * @retval LX_ERR_MISMATCH  One of @p parts is cut into batches.
 * @retval LX_ERR_LIMIT     The order would consist of more than #LX_MAX_ORDERS orders, or be
 *                          nested deeper than #LX_MAX_ORDER_DEPTH.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_order_new_concat(lx_order *const *parts, const uint64_t *offsets, size_t count,
                                     lx_order **order, lx_error *error);

/**
 * Makes an order of given indices: where @p part has i, the new order has @p indices[i]. It holds a
 * table of 4 or 8 bytes for each index.
 *
 * @param[in]  part     An order of indices below @p count.
 * @param[in]  indices  @p count indices, in any order; repeats are allowed. Copied.
 * @param[in]  count    The number of indices.
 * @param[in]  options  The directory of tables; NULL for the default.
 * @param[out] order    Receives the order, to be released with lx_order_unref(); NULL on failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order is made.
 * @retval LX_ERR_ARGUMENT  An index is 2^64 - 1, or a pointer is NULL.
 * @retval LX_ERR_MISMATCH  @p part has indices that are not below @p count, or is cut into batches.
 * @retval LX_ERR_LIMIT     The order would consist of more than #LX_MAX_ORDERS orders, or be
 *                          nested deeper than #LX_MAX_ORDER_DEPTH.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, with a directory of tables, as ::lx_order describes for tables in files.
 */
LX_API lx_status lx_order_new_subset(lx_order *part, const uint64_t *indices, uint64_t count,
                                     const lx_order_options *options, lx_order **order,
                                     lx_error *error);

/** @} */

LX_END_DECLS

#endif
