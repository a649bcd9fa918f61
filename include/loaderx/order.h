/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Orders, which say what index stands at each position of training.
 *
 * **Positions** count the samples of one global order, all ranks together: 0, 1, 2 ... up to
 * 2^64 - 2. An order of length n has epochs of n positions: epoch e is the positions
 * [e*n, (e+1)*n), and the last one is cut where the positions end. What index stands at a position
 * is a pure function of the order and the position, whatever was read before, by how many
 * processes or threads: so any position can be entered at once. doc/orders.md defines each order
 * to the bit; its formula never changes.
 *
 * Orders are made of other orders, too: what such a one says of its parts holds for orders of any
 * kind. Each part is read in its own epochs, and stays the caller's: the new order takes a
 * reference of its own. Orders can be made of each other
 * 64 deep, and of 65,535 in all; one that is cut into batches (budgeted.h) is no part of another.
 *
 * @code
 * lx_order *shuffled = NULL, *half = NULL;
 * lx_order_new_shuffle(60000, 42, &shuffled, &error);
 * lx_order_new_slice(shuffled, 0, 30000, &half, &error);   // another half in each epoch
 * lx_order_unref(shuffled);
 * @endcode
 */
#ifndef LOADERX_ORDER_H
#define LOADERX_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/** @defgroup lx_order Orders of indices
 * @{ */

/**
 * What index stands at each position. An order of length 0 is valid and gives nothing.
 *
 * @par Ownership
 * Each lx_order_new_...() gives one reference to the caller; the last lx_order_unref() frees it.
 *
 * @par Tables in files
 * Some orders hold a table, which takes time to make and memory. Where they take a folder, @p
 * tables, the table is in a file there, which doc/orders.md describes: who makes the order first
 * makes the file, and after that every process, and every later run, opens it within a millisecond
 * or so and shares what the system has of it in memory. The name of a file is a hash of all that
 * the table depends on, so one folder serves any number of orders. It is made if there is none; one
 * that cannot be written serves those whose files are there. Nothing is removed but tables of
 * epochs, when that of the second epoch behind is made: what is not needed any more can be deleted
 * at any time, also under its readers.
 * @par
 * A table that cannot be kept is a failure, and memory does not take its place:
 * #LX_ERR_IO where the disk is full, or the system refuses folder or file; #LX_ERR_NOT_FOUND if the
 * folder cannot be made where it is; #LX_ERR_UNSUPPORTED for a file of a later version, and on
 * big-endian machines; #LX_ERR_MISMATCH for a file under the name of another one; #LX_ERR_CORRUPT
 * for one that is damaged, when the order is made, or when what is damaged is read: delete it, and
 * the table is made again.
 * @par
 * The file is mapped. If another process truncates it while an order uses it, or the disk cannot
 * read a sector of it, the read raises SIGBUS, which ends the process. Deleting it is safe.
 * @par Thread safety
 * An order never changes: threads share it freely, and take and give back references at any time.
 */
typedef struct lx_order lx_order;

/**
 * One index after the other over the circle 0..length-1, through a window that slides: position k
 * gives ((k div window) * stride + k mod window) mod length, computed without overflow.
 *
 * With the stride equal to the window, which is the default, that is k mod length: each index once
 * an epoch. A smaller stride lets windows overlap, a larger one skips between them.
 *
 * @param[in]  length  Number of indices, also the positions in an epoch.
 * @param[in]  window  Positions from one slide to the next; 0 for 1, so that a stride given alone
 *                     takes every stride-th index.
 * @param[in]  stride  How many indices the window slides; 0 for the window.
 * @param[out] order   The order, for lx_order_unref(); NULL on failure.
 * @param[out] error   What failed; may be NULL.
 *
 * @retval LX_OK            Made.
 * @retval LX_ERR_ARGUMENT  @p order is NULL.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 */
LX_API lx_status lx_order_new_sequential(uint64_t length, uint64_t window, uint64_t stride,
                                         lx_order **order, lx_error *error);

/**
 * Independent draws with replacement over 0..length-1: any index may come at any position. Of an
 * epoch of n draws about 63 % of the indices are seen; lx_order_new_shuffle() gives all of them.
 *
 * An index's probability is off 1/length by less than 2^-64. Source of the numbers: Philox2x64-10
 * (Salmon et al., 2011), by the position.
 *
 * @param[in]  length  Number of indices, also the positions in an epoch.
 * @param[in]  seed    Any number; each gives draws of its own.
 * @param[out] order   The order, for lx_order_unref(); NULL on failure.
 * @param[out] error   What failed; may be NULL.
 *
 * @retval LX_OK            Made.
 * @retval LX_ERR_ARGUMENT  @p order is NULL.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 */
LX_API lx_status lx_order_new_random(uint64_t length, uint64_t seed, lx_order **order,
                                     lx_error *error);

/**
 * Shuffled without replacement: each epoch is another permutation of exactly 0..length-1.
 *
 * Up to a length of 65,536 it is the shuffle of Fisher and Yates, for which a sampler holds a
 * table of 128 KiB that it makes anew for each epoch it enters, within a millisecond. Longer ones
 * are permuted by a formula, a Feistel network, without memory: every position is as near as any
 * other, and the length may be up to 2^64 - 1.
 *
 * @param[in]  length  Number of indices, also the positions in an epoch.
 * @param[in]  seed    Any number; the permutations of two seeds, or two epochs, have nothing to do
 *                     with each other.
 * @param[out] order   The order, for lx_order_unref(); NULL on failure.
 * @param[out] error   What failed; may be NULL.
 *
 * @retval LX_OK            Made.
 * @retval LX_ERR_ARGUMENT  @p order is NULL.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 */
LX_API lx_status lx_order_new_shuffle(uint64_t length, uint64_t seed, lx_order **order,
                                      lx_error *error);

/**
 * Blocks of indices in a shuffled order, each shuffled within: for disks on which neighbours are
 * cheap, and places far apart are not. Each epoch is another permutation of exactly
 * 0..length-1, in which the indices of a block, [b*block, (b+1)*block), follow one another; the
 * last block may be shorter, and stands anywhere, too.
 *
 * @param[in]  length  Number of indices, also the positions in an epoch.
 * @param[in]  block   Indices of a block, 1 or more.
 * @param[in]  seed    Any number.
 * @param[out] order   The order, for lx_order_unref(); NULL on failure.
 * @param[out] error   What failed; may be NULL.
 *
 * @retval LX_OK            Made.
 * @retval LX_ERR_ARGUMENT  @p block is 0, all blocks as long as it would go beyond 2^64 - 1, or
 *                          @p order is NULL.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 */
LX_API lx_status lx_order_new_blocks(uint64_t length, uint64_t block, uint64_t seed,
                                     lx_order **order, lx_error *error);

/** @} */

/* ------------------------------------------------------ orders made of others */

/** @defgroup lx_order_new_slice Orders made of other orders
 * @{ */

/**
 * A part of each epoch: offsets [first, first + length) of @p part. To skip the first k of n is
 * the slice from k of length n - k, to take k the one from 0 of length k.
 *
 * @param[in]  part    An order.
 * @param[in]  first   The first offset.
 * @param[in]  length  How many, also the positions in an epoch; 0 makes an empty order.
 * @param[out] order   The order, for lx_order_unref(); NULL on failure.
 * @param[out] error   What failed; may be NULL.
 *
 * @retval LX_OK            Made.
 * @retval LX_ERR_ARGUMENT  The epochs of @p part are not so long, or a pointer is NULL.
 * @retval LX_ERR_MISMATCH  @p part is cut into batches.
 * @retval LX_ERR_LIMIT     It would be made of too many orders, or more than 64 deep.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 */
LX_API lx_status lx_order_new_slice(lx_order *part, uint64_t first, uint64_t length,
                                    lx_order **order, lx_error *error);

/**
 * Epochs of @p part, made longer: behind their end their first offsets come again, until there is
 * a multiple of so many. With the samples of a batch of all ranks, each rank has as many batches as
 * every other one, all of them whole.
 *
 * @param[in]  part      An order.
 * @param[in]  multiple  Of which the new length is the least multiple that holds the old one; 1 or
 *                       more.
 * @param[out] order     The order, for lx_order_unref(); NULL on failure.
 * @param[out] error     What failed; may be NULL.
 *
 * @retval LX_OK            Made.
 * @retval LX_ERR_ARGUMENT  @p multiple is 0, the length would be beyond 2^64 - 1, or a pointer is
 *                          NULL.
 * @retval LX_ERR_MISMATCH  @p part is cut into batches.
 * @retval LX_ERR_LIMIT     It would be made of too many orders, or more than 64 deep.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 */
LX_API lx_status lx_order_new_padded(lx_order *part, uint64_t multiple, lx_order **order,
                                     lx_error *error);

/**
 * So many epochs of @p part make one: the same index at each position, but longer epochs.
 *
 * @param[in]  part   An order.
 * @param[in]  times  How many, 1 or more.
 * @param[out] order  The order, for lx_order_unref(); NULL on failure.
 * @param[out] error  What failed; may be NULL.
 *
 * @retval LX_OK            Made.
 * @retval LX_ERR_ARGUMENT  @p times is 0, the length would be beyond 2^64 - 1, or a pointer is
 *                          NULL.
 * @retval LX_ERR_MISMATCH  @p part is cut into batches.
 * @retval LX_ERR_LIMIT     It would be made of too many orders, or more than 64 deep.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 */
LX_API lx_status lx_order_new_repeat(lx_order *part, uint64_t times, lx_order **order,
                                     lx_error *error);

/**
 * One order after the other: each epoch is that epoch of the first, then that of the second, and
 * so on.
 *
 * @param[in]  parts    @p count orders.
 * @param[in]  offsets  What is added to the indices of each; NULL: nothing. The beginnings of the
 *                      sources in a concatenation of sources, for instance.
 * @param[in]  count    How many, 1 or more.
 * @param[out] order    The order, for lx_order_unref(); NULL on failure.
 * @param[out] error    What failed; may be NULL.
 *
 * @retval LX_OK            Made.
 * @retval LX_ERR_ARGUMENT  @p count is 0, the length or an index would be beyond 2^64 - 1, or a
 *                          pointer is NULL.
 * @retval LX_ERR_MISMATCH  One of @p parts is cut into batches.
 * @retval LX_ERR_LIMIT     It would be made of too many orders, or more than 64 deep.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 */
LX_API lx_status lx_order_new_concat(lx_order *const *parts, const uint64_t *offsets, size_t count,
                                     lx_order **order, lx_error *error);

/**
 * The given indices in the order of their places that @p part says: where that has i, this has
 * @p indices[i]. They may come in any order, and more than once. The table of them, of 4 or 8
 * bytes each, is held in memory.
 *
 * @param[in]  part     An order of indices below @p count.
 * @param[in]  indices  Copied.
 * @param[in]  count    How many.
 * @param[in]  tables   The folder that keeps the table in a file (see ::lx_order); NULL:
 *                      in memory.
 * @param[out] order    The order, for lx_order_unref(); NULL on failure.
 * @param[out] error    What failed; may be NULL.
 *
 * @retval LX_OK            Made.
 * @retval LX_ERR_ARGUMENT  An index is 2^64 - 1, or a pointer is NULL.
 * @retval LX_ERR_MISMATCH  @p part has indices that are not below @p count, or is cut into batches.
 * @retval LX_ERR_LIMIT     It would be made of too many orders, or more than 64 deep.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 * @return Of a table in a file also what ::lx_order says of these.
 */
LX_API lx_status lx_order_new_subset(lx_order *part, const uint64_t *indices, uint64_t count,
                                     const char *tables, lx_order **order, lx_error *error);

/** @} */

/** @addtogroup lx_order
 * @{ */

/** One more reference to @p order, which is returned; NULL gives NULL. */
LX_API lx_order *lx_order_ref(lx_order *order);

/** Gives a reference back; the last one frees the order. NULL is nothing. */
LX_API void lx_order_unref(lx_order *order);

/** The positions in an epoch. */
LX_API uint64_t lx_order_get_length(const lx_order *order);

/** @} */

LX_END_DECLS

#endif
