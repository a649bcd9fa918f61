/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Orders, which define the index at each position of a training run.
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
 * A **position** is the number of a sample in one global order, which all ranks share: 0, 1, 2, ...
 * up to 2^64 - 2. An order of length n has epochs of n positions: epoch e consists of the positions
 * [e * n, (e + 1) * n), and the last epoch is truncated at the last position. The index at a
 * position is a pure function of the order and the position. It depends neither on what was read
 * before nor on the number of processes and threads, so reading can start at any position
 * immediately. doc/orders.md defines each order exactly; the formula of an order never changes.
 *
 * Other kinds of orders have their own pages: by weight (lx_order_new_weighted()), by class
 * (lx_order_new_balanced()), by length (lx_order_new_bucketed()), cut into batches by cost
 * (lx_order_new_budgeted()), composed of other orders (lx_order_new_slice()), and mixed
 * (::lx_mixture).
 *
 * @code
 * lx_order *shuffled = NULL, *half = NULL;
 * lx_order_new_shuffle(60000, 42, &shuffled, &error);
 * // a different half of the indices in each epoch
 * lx_order_new_slice(shuffled, 0, 30000, &half, &error);
 * lx_order_unref(shuffled);
 * @endcode
 * @see lx_error, lx_sampler, lx_split_indices(), loaderx(7)
 * @{
 */

/**
 * The maximum nesting depth of orders. Reading uses stack space in proportion to the depth.
 */
#define LX_MAX_ORDER_DEPTH 64

/**
 * The maximum number of orders that an order can consist of, including the order itself; a part
 * that is used several times counts each time. A saved state describes each of these orders.
 */
#define LX_MAX_ORDERS 65536

/**
 * An order. Its length may be 0; it then has no positions.
 *
 * @par Ownership
 * Each constructor returns one reference; dropping the last one with lx_order_unref() frees the
 * order.
 *
 * @par Tables in files
 * Some orders need a table, which takes time to compute and memory to store. With
 * lx_order_options_set_tables(), the table is stored in a file in a directory; doc/orders.md
 * describes the format. The first process that creates the order writes the file. Every other
 * process, and every later run, opens the file within about a millisecond and shares its pages in
 * memory. The name of the file is a hash of everything that the table depends on, so one directory
 * can serve any number of orders.
 * @par
 * The directory is created if it does not exist. Without write permission, an order can be created
 * only if the file for its table exists. If several processes need the same table at the same time,
 * each of them computes it, and the file written last remains; to avoid the extra work, let one
 * process create the order first. The library itself removes only tables of epochs: when it writes
 * the table of an epoch, it removes the table of the epoch before the previous one. You can delete
 * files that are no longer needed at any time, even while they are being read. You can also delete
 * files whose names end in .new: if a process is killed while it writes a table, such a file
 * remains.
 * @par
 * The table is memory-mapped. If another process truncates the file, or a sector is bad, reading
 * raises SIGBUS.
 * @par
 * If the table cannot be stored in a file, the call fails; the table is not kept in memory
 * instead. #LX_ERR_IO: the disk is full, or a system call failed. #LX_ERR_NOT_FOUND: the directory
 * cannot be created, or is a file. #LX_ERR_UNSUPPORTED: the file has a later format version, or the
 * machine is big-endian. #LX_ERR_MISMATCH: the file contains a different table. #LX_ERR_CORRUPT:
 * the file is damaged, which is detected either when the order is created or when the damaged part
 * is read; delete the file, and the library writes it again.
 *
 * @par Thread safety
 * Any thread may use an order at any time, because an order never changes.
 */
typedef struct lx_order lx_order;

/**
 * Creates an order in which a window slides over the indices 0 to @p length - 1: a window begins at
 * every stride-th index, and wraps around at the end. Offset o of an epoch has the index ((o div
 * window) * stride + o mod window) mod length, computed without overflow.
 *
 * With a stride equal to the window, the default, each epoch contains every index once, in
 * sequence. With a smaller stride, windows overlap; with a larger stride, the indices between
 * windows are left out. In both cases, an epoch consists of ceiling(length / stride) whole windows,
 * so a loader whose batches have the size of a window returns one window in each batch.
 *
 * @param[in]  length  The number of indices.
 * @param[in]  window  The number of positions in a window. 0 means 1, so that a stride alone
 *                     selects every stride-th index.
 * @param[in]  stride  The number of indices by which the window slides; 0 means the size of the
 *                     window.
 * @param[out] order   Receives the order; release it with lx_order_unref(). NULL on failure.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order was created.
 * @retval LX_ERR_ARGUMENT  @p order is NULL.
 * @retval LX_ERR_LIMIT     An epoch would have more than 2^64 - 1 positions.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_order_new_sequential(uint64_t length, uint64_t window, uint64_t stride,
                                         lx_order **order, lx_error *error);

/**
 * Creates an order of independent draws with replacement from 0 to @p length - 1: any index can
 * occur at any position. An epoch contains about 63% of the indices, whereas an epoch of
 * lx_order_new_shuffle() contains all of them.
 *
 * The probability of an index differs from 1 / length by less than 2^-64. The random numbers come
 * from Philox2x64-10 (Salmon et al., 2011), with the position as the counter.
 *
 * @param[in]  length  The number of indices, which is also the epoch length.
 * @param[in]  seed    Any value; each seed gives different draws.
 * @param[out] order   Receives the order; release it with lx_order_unref(). NULL on failure.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order was created.
 * @retval LX_ERR_ARGUMENT  @p order is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_order_new_random(uint64_t length, uint64_t seed, lx_order **order,
                                     lx_error *error);

/**
 * Creates an order in which each epoch is a different permutation of 0 to @p length - 1.
 *
 * For lengths up to 65,536, the permutation is a Fisher-Yates shuffle. Each reader keeps a 128 KiB
 * table, which it recomputes when it enters an epoch; this takes less than a millisecond. For
 * greater lengths, up to 2^64 - 1, a Feistel network computes the permutation without a table, at
 * the same cost for every position.
 *
 * @param[in]  length  The number of indices, which is also the epoch length.
 * @param[in]  seed    Any value; permutations with different seeds, or in different epochs, are
 *                     unrelated.
 * @param[out] order   Receives the order; release it with lx_order_unref(). NULL on failure.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order was created.
 * @retval LX_ERR_ARGUMENT  @p order is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_order_new_shuffle(uint64_t length, uint64_t seed, lx_order **order,
                                      lx_error *error);

/**
 * Creates an order that shuffles blocks of neighboring indices, and the indices within each block.
 * Use it for disks on which random access is slow. Each epoch is a different permutation of 0 to
 * @p length - 1 in which the indices of each block, [b * block, (b + 1) * block), stay together.
 * The last block may be shorter, and can occur anywhere in an epoch.
 *
 * @param[in]  length  The number of indices, which is also the epoch length.
 * @param[in]  block   The number of indices in a block, 1 or more.
 * @param[in]  seed    Any value.
 * @param[out] order   Receives the order; release it with lx_order_unref(). NULL on failure.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order was created.
 * @retval LX_ERR_ARGUMENT  @p block is 0, the number of blocks times @p block exceeds 2^64 - 1, or
 *                          @p order is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_order_new_blocks(uint64_t length, uint64_t block, uint64_t seed,
                                     lx_order **order, lx_error *error);

/** The maximum number of lanes in an order from lx_order_new_lanes(). */
#define LX_MAX_LANES (1u << 20)

/**
 * Creates an order that interleaves lanes. Use it where each read is expensive, as over a network,
 * and where many processes share the reading.
 *
 * The indices are cut into one contiguous segment for each lane; the lengths of segments differ by
 * at most 1. Each epoch is a different permutation of 0 to @p length - 1: a lane goes through its
 * segment block by block, with the blocks in random order and each block shuffled, and consecutive
 * positions are in consecutive lanes. So any @p lanes consecutive positions have records from as
 * many places, spread evenly over the whole, and at any time only @p lanes blocks are in use.
 *
 * Position k of an epoch is in lane k mod @p lanes. **If the number of ranks divides @p lanes**,
 * each rank has its own lanes, so it reads its own blocks, once per epoch, and reads the same
 * blocks in every epoch. Otherwise, world / gcd(world, lanes) ranks share each block. The order
 * itself does not depend on the number of ranks.
 *
 * Choose as @p lanes a multiple of the global batch size and of the number of ranks: each batch
 * then has no two records of one segment. With the batch size itself, records of any two segments
 * can meet in a batch, which matters if a loss compares the samples of a batch. But the records of
 * a block are then in consecutive batches. A larger multiple spreads them over more batches. The
 * price is that the lanes form fixed groups of the batch size: in every epoch, a batch has one
 * record of each lane of one group, so records of different groups never meet.
 *
 * Choose a @p block that is efficient to read, for example as many records as there are in 1 MiB,
 * but keep @p lanes * @p block records small enough for the memory or cache that holds the blocks
 * in use. A loader over a dataset on another machine needs room for twice as many, because it
 * fetches the blocks that follow in the meantime.
 *
 * A reader of the order keeps 32 bytes for each lane, and 4 bytes for each index of a block of up
 * to 256 indices; for longer blocks, 256 bytes for each lane. Seeking to any position takes
 * constant time.
 *
 * @param[in]  length  The number of indices, which is also the epoch length.
 * @param[in]  lanes   The number of lanes, from 1 to #LX_MAX_LANES.
 * @param[in]  block   The number of indices in a block, from 1 to 2^32 - 1. One block of a segment
 *                     may be shorter. It is at a random place in the segment, and is read last.
 * @param[in]  seed    Any value.
 * @param[out] order   Receives the order; release it with lx_order_unref(). NULL on failure.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order was created.
 * @retval LX_ERR_ARGUMENT  @p lanes or @p block is out of range, there are too few indices for a
 *                          whole block and for two indices in each lane, or @p order is NULL. (A
 *                          @p length of 0 is valid.)
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_order_new_lanes(uint64_t length, uint64_t lanes, uint64_t block, uint64_t seed,
                                    lx_order **order, lx_error *error);

/** Adds a reference and returns @p order. NULL is allowed. */
LX_API lx_order *lx_order_ref(lx_order *order);

/** Drops a reference; dropping the last one frees the order. NULL is allowed. */
LX_API void lx_order_unref(lx_order *order);

/** Returns the number of positions in an epoch. */
LX_API uint64_t lx_order_get_length(const lx_order *order);

/** @} */

/**
 * @defgroup lx_order_options Options of orders
 *
 * Each constructor documents the options that apply to its order. Options are never silently
 * ignored: creating an order with an option that does not apply to it fails with #LX_ERR_ARGUMENT.
 *
 * This example creates an order with a hundred thousand draws per epoch, and with its table in a
 * file:
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
 * Only one thread at a time may use the options. An order copies what it needs when it is created.
 */
typedef struct lx_order_options lx_order_options;

/** Returns new options with default values; NULL if out of memory. */
LX_API lx_order_options *lx_order_options_new(void);

/** Frees the options. NULL is allowed. */
LX_API void lx_order_options_free(lx_order_options *options);

/**
 * Sets the number of positions in an epoch; any value is valid. The default depends on the order.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_order_options_set_length(lx_order_options *options, uint64_t length,
                                             lx_error *error);

/**
 * Sets the seed; any value is valid. The default is 0, unless the order documents a different one.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_order_options_set_seed(lx_order_options *options, uint64_t seed,
                                           lx_error *error);

/**
 * Sets the directory in which the order stores its tables as files (see ::lx_order). With NULL, the
 * default, the tables are kept in memory.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 * @retval LX_ERR_NOMEM     Out of memory; nothing changed.
 */
LX_API lx_status lx_order_options_set_tables(lx_order_options *options, const char *directory,
                                             lx_error *error);

/**
 * Sets the number of indices in a bucket of lx_order_new_bucketed(): a multiple of the batch size,
 * 1 or more. With larger buckets, the order is shuffled better; with smaller buckets, the lengths
 * in a batch are more similar. The default is 100 batches.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_order_options_set_bucket_size(lx_order_options *options, uint64_t size,
                                                  lx_error *error);

/**
 * Sets the maximum number of samples in a batch of lx_order_new_budgeted(); 0, the default, means
 * as many as fit in the budget. A loader reserves memory for the largest possible batch, which is
 * one that consists of only the cheapest samples. Set a limit if some samples are far cheaper than
 * most.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_order_options_set_max_batch_size(lx_order_options *options, uint64_t size,
                                                     lx_error *error);

/**
 * Sets whether lx_order_new_budgeted() counts each sample at the cost of the most expensive sample
 * in its batch. This models the memory that a batch uses when all of its samples are padded to the
 * longest one. The default is false.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_order_options_set_padded(lx_order_options *options, bool padded,
                                             lx_error *error);

/** @} */

/**
 * @defgroup lx_order_new_slice Orders composed of other orders
 *
 * The parts may be orders of any kind, except those that are cut into batches
 * (lx_order_new_budgeted()). Each part goes through its own epochs. The new order takes references
 * to its parts. An order can be nested up to #LX_MAX_ORDER_DEPTH levels deep, and consist of up to
 * #LX_MAX_ORDERS orders, including itself.
 *
 * This example uses the first tenth of the records for validation, and the remaining records,
 * shuffled, for training:
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
 * Creates an order from part of each epoch of @p part: the offsets [first, first + length). To skip
 * the first k of n offsets, take the slice of length n - k at offset k; to keep the first k
 * offsets, take the slice of length k at offset 0.
 *
 * @param[in]  part    The order.
 * @param[in]  first   The first offset.
 * @param[in]  length  The number of offsets, which is also the epoch length; 0 creates an empty
 *                     order.
 * @param[out] order   Receives the order; release it with lx_order_unref(). NULL on failure.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order was created.
 * @retval LX_ERR_ARGUMENT  The slice extends beyond the end of the epochs of @p part, or a pointer
 *                          is NULL.
 * @retval LX_ERR_MISMATCH  @p part is cut into batches.
 * @retval LX_ERR_LIMIT     The order would consist of more than #LX_MAX_ORDERS orders, or be nested
 *                          deeper than #LX_MAX_ORDER_DEPTH.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_order_new_slice(lx_order *part, uint64_t first, uint64_t length,
                                    lx_order **order, lx_error *error);

/**
 * Creates an order that extends each epoch of @p part until its length is a multiple of
 * @p multiple: when the epoch ends, it starts over from its beginning. If @p multiple is the number
 * of samples in a global batch, every rank has the same number of batches, all of them full.
 *
 * @param[in]  part      The order.
 * @param[in]  multiple  1 or more. The new length is the smallest multiple of @p multiple that is
 *                       not less than the old length.
 * @param[out] order     Receives the order; release it with lx_order_unref(). NULL on failure.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order was created.
 * @retval LX_ERR_ARGUMENT  @p multiple is 0, the length would exceed 2^64 - 1, or a pointer is
 *                          NULL.
 * @retval LX_ERR_MISMATCH  @p part is cut into batches.
 * @retval LX_ERR_LIMIT     The order would consist of more than #LX_MAX_ORDERS orders, or be nested
 *                          deeper than #LX_MAX_ORDER_DEPTH.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_order_new_padded(lx_order *part, uint64_t multiple, lx_order **order,
                                     lx_error *error);

/**
 * Creates an order in which one epoch consists of @p times epochs of @p part. The index at each
 * position stays the same.
 *
 * @param[in]  part   The order.
 * @param[in]  times  The number of epochs, 1 or more.
 * @param[out] order  Receives the order; release it with lx_order_unref(). NULL on failure.
 * @param[out] error  Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order was created.
 * @retval LX_ERR_ARGUMENT  @p times is 0, the length would exceed 2^64 - 1, or a pointer is NULL.
 * @retval LX_ERR_MISMATCH  @p part is cut into batches.
 * @retval LX_ERR_LIMIT     The order would consist of more than #LX_MAX_ORDERS orders, or be nested
 *                          deeper than #LX_MAX_ORDER_DEPTH.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_order_new_repeat(lx_order *part, uint64_t times, lx_order **order,
                                     lx_error *error);

/**
 * Concatenates orders: epoch e consists of epoch e of the first order, then epoch e of the second,
 * and so on.
 *
 * @param[in]  parts    @p count orders.
 * @param[in]  offsets  The number to add to the indices of each order, for example the first index
 *                      of each source in lx_source_new_concat(); NULL to add nothing.
 * @param[in]  count    The number of orders, 1 or more.
 * @param[out] order    Receives the order; release it with lx_order_unref(). NULL on failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order was created.
 * @retval LX_ERR_ARGUMENT  @p count is 0, the length or an index would exceed 2^64 - 1, or a
 *                          pointer is NULL.
 * @retval LX_ERR_MISMATCH  An order in @p parts is cut into batches.
 * @retval LX_ERR_LIMIT     The order would consist of more than #LX_MAX_ORDERS orders, or be nested
 *                          deeper than #LX_MAX_ORDER_DEPTH.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_order_new_concat(lx_order *const *parts, const uint64_t *offsets, size_t count,
                                     lx_order **order, lx_error *error);

/**
 * Creates an order from a list of indices: where @p part has i, the new order has @p indices[i].
 * The new order uses a table of 4 or 8 bytes per index.
 *
 * @param[in]  part     An order whose indices are all less than @p count.
 * @param[in]  indices  @p count indices, in any order; repeats are allowed. The call copies them.
 * @param[in]  count    The number of indices.
 * @param[in]  options  Only the tables directory applies; NULL for the default.
 * @param[out] order    Receives the order; release it with lx_order_unref(). NULL on failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order was created.
 * @retval LX_ERR_ARGUMENT  An index is 2^64 - 1, or a pointer is NULL.
 * @retval LX_ERR_MISMATCH  @p part has indices that are not less than @p count, or is cut into
 *                          batches.
 * @retval LX_ERR_LIMIT     The order would consist of more than #LX_MAX_ORDERS orders, or be nested
 *                          deeper than #LX_MAX_ORDER_DEPTH.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, if a tables directory is set, any status that ::lx_order lists under "Tables
 *         in files".
 */
LX_API lx_status lx_order_new_subset(lx_order *part, const uint64_t *indices, uint64_t count,
                                     const lx_order_options *options, lx_order **order,
                                     lx_error *error);

/** @} */

LX_END_DECLS

#endif
