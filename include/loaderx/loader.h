/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Loaders, which prepare batches in advance.
 */
#ifndef LOADERX_LOADER_H
#define LOADERX_LOADER_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/batch.h>
#include <loaderx/export.h>
#include <loaderx/loader-options.h>
#include <loaderx/source.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_loader Read batches in a global order
 *
 * A loader combines a source with an order, and returns batches. It returns the same bytes in the
 * same order with any number of threads.
 *
 * @code
 * lx_batch *batch = NULL;
 * while (lx_loader_next(loader, &batch, &error) == LX_OK) {
 *     const lx_column *images = lx_batch_find_column(batch, "image");
 *     step(images->data, images->rows);
 *     lx_batch_unref(batch);
 * }
 * @endcode
 *
 * @par Positions
 * All ranks share one global order. A position is the number of samples of this order that have
 * been returned (samples that are only prepared do not count). The number of positions in an epoch
 * is the length of the order. The global batch at position p covers the positions [p, min(p + batch
 * size * world, end of the epoch)). A rank takes the positions whose offsets in the epoch are
 * congruent to its rank modulo world.
 *
 * @par Ranks with equal numbers of batches
 * All ranks have the same number of batches, of equal sizes. If the last global batch of an epoch
 * cannot be divided evenly, each rank that is one record short repeats one record from the start of
 * the epoch, so that the epoch is padded to a multiple of world. lx_batch_get_real_count() does not
 * count the repeated records. They have no positions, so a state counts no record twice, and
 * padding depends only on the value of world at the end of the epoch. With drop_last, no rank
 * returns the last global batch unless it is full. With uneven ranks, a rank may have fewer records
 * in the last batch, or none. With lx_loader_options_set_pad_last(), each rank repeats as many
 * records as its last batch lacks.
 *
 * @par Damaged records
 * With #LX_DAMAGE_SKIP, a batch omits damaged records. If no record of a batch is readable, the
 * batch repeats the next readable record of the epoch; the repeated record does not count as real.
 * A batch is thus never empty, and no rank omits a batch that others have. With
 * lx_loader_options_set_pad_last(), repeated records take the place of the omitted ones.
 *
 * @par Orders that are cut into batches
 * If the order is cut into batches (lx_order_new_budgeted()), a global batch consists of
 * consecutive batches of the order, one per rank, starting at position p. A rank takes the batch
 * whose number in the epoch is congruent to its rank modulo world. If fewer batches than ranks are
 * left at the end of an epoch, some ranks repeat a batch from the start of the epoch; with uneven
 * ranks, they have no batch; and with drop_last, no rank has a batch. After a seek into the middle
 * of a batch, the remainder of that batch comes first.
 *
 * @par Ranks that share data
 * Rank and world refer to data parallelism. If each data-parallel rank is a group of processes, as
 * with tensor or pipeline parallelism, all processes of a group must open their loaders with the
 * same rank and world. In a mesh of P processes with t tensor ranks and s stages, in which
 * data-parallel ranks are the outermost dimension, process p has rank p / (t * s) and world
 * P / (t * s). In each step, the processes of a group get the same rows of the same global batch,
 * regardless of the columns that each process reads. A stage that needs no data opens its loader
 * over a source from lx_source_new_null(). Any loader, in this mesh or a different one, can restore
 * a state that any of these loaders saved. With #LX_DAMAGE_SKIP, only the loaders that read the
 * damaged columns omit the damaged records.
 * @see lx_batch, lx_error, lx_loader_options, lx_order, lx_order_new_budgeted(), lx_source,
 *      loaderx-state(5), loaderx(7)
 * @{
 */

/**
 * Returns batches of a source in a given order.
 *
 * @par Thread safety
 * Any thread may make any call at any time, but batches arrive in order only if calls to
 * lx_loader_next() do not overlap. In a child of fork(2), calls that read or seek return
 * #LX_ERR_FORKED.
 */
typedef struct lx_loader lx_loader;

/**
 * Opens a loader. The loader reads nothing until the first call to lx_loader_next(). However, if
 * the policy for a column is #LX_MISSING_RAISE, and the log or meta.json of the dataset says that
 * values of the column may be missing, lx_loader_open() reads the column's table rows. This takes
 * about 5 nanoseconds per value if the rows are in memory; see lx_loader_options_set_missing().
 *
 * @param[in]  source   The source; the call takes a reference.
 * @param[in]  options  The options; NULL for the defaults.
 * @param[out] loader   Receives the loader; close it with lx_loader_close().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The loader was opened.
 * @retval LX_ERR_NOT_FOUND    The source does not have a requested column, or a policy for missing
 *                             values is set for a column that the loader does not read.
 * @retval LX_ERR_UNSUPPORTED  A value is to replace missing ones in a column whose values vary in
 *                             size.
 * @retval LX_ERR_MISMATCH     The order has indices beyond the end of the source; or a value of a
 *                             column is missing, which lx_loader_options_set_missing() can allow.
 * @retval LX_ERR_ARGUMENT     Two options cannot be combined, a value that replaces missing values
 *                             does not have the size of the column's values, or a pointer is NULL.
 * @retval LX_ERR_LIMIT        A batch would be too large for this machine.
 * @retval LX_ERR_NOMEM        Out of memory.
 */
LX_API lx_status lx_loader_open(lx_source *source, const lx_loader_options *options,
                                lx_loader **loader, lx_error *error);

/**
 * Closes a loader. The call is allowed at any time: it wakes all waiting threads, cancels work that
 * has not begun, and waits only for callbacks and system calls that are running. Batches that were
 * already returned stay valid. NULL is allowed. A callback of the loader must not close the loader,
 * because the call would wait for itself.
 */
LX_API void lx_loader_close(lx_loader *loader);

/**
 * Returns the next batch.
 *
 * If a record is damaged or the transform fails, the call fails instead of returning the batch, and
 * the position moves past the batch: the next call continues with the following batch. A failure
 * with #LX_ERR_IO is not the batch's fault, because the disk or the network was not available: the
 * position stays before the batch, and the next call reads it again. No policy for damaged records
 * applies to it. To leave out a batch that cannot be read, seek past it.
 *
 * If several records of a batch cannot be read, the error reports the same record regardless of the
 * number of threads.
 *
 * @param[in]  loader  The loader.
 * @param[out] batch   Receives the batch; release it with lx_batch_unref(). Set to NULL if the call
 *                     does not return #LX_OK.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The batch was stored in @p batch.
 * @retval LX_END           The requested epochs have ended; see lx_loader_next_epoch().
 * @retval LX_ERR_CANCELED  lx_loader_cancel() was called.
 * @retval LX_ERR_FORKED    The loader belongs to the parent process.
 * @retval LX_ERR_LIMIT     The order is cut into batches, and this rank got no batch in 100 epochs,
 *                          because each of them has fewer batches than there are ranks.
 * @retval LX_ERR_CORRUPT   A record is damaged; or, with #LX_DAMAGE_SKIP, all records of an epoch
 *                          are damaged.
 * @retval LX_ERR_IO        The source or the transform could not read something. The position has
 *                          not changed.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_STATE     The executor was closed.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, the status that the source or the transform returned for this batch.
 */
LX_API lx_status lx_loader_next(lx_loader *loader, lx_batch **batch, lx_error *error);

/**
 * Returns the next batch as lx_loader_next() does, but waits for at most @p nanoseconds. If the
 * calling thread fills the batch itself, it always completes the batch.
 *
 * @retval LX_ERR_TIMEOUT  The batch is not ready yet; a later call will return it. This is not a
 *                         failure: @p error is unchanged.
 * @return Otherwise, any status that lx_loader_next() returns.
 */
LX_API lx_status lx_loader_next_timed(lx_loader *loader, uint64_t nanoseconds, lx_batch **batch,
                                      lx_error *error);

/**
 * Continues with the following epochs if no batch of the requested epochs is left, whether or not
 * #LX_END has been returned. Otherwise, the call does nothing.
 *
 * The call also does nothing if the requested epochs have just begun and contain no batch for this
 * rank, or if a seek or a restored state has moved to a position after which only other ranks have
 * batches left. All ranks therefore reach #LX_END equally often.
 */
LX_API void lx_loader_next_epoch(lx_loader *loader);

/**
 * Makes every current and later call to lx_loader_next() return #LX_ERR_CANCELED. Any thread may
 * call it.
 */
LX_API void lx_loader_cancel(lx_loader *loader);

/**
 * Moves to a position of the global order. Batches that were prepared for other positions are
 * dropped.
 *
 * @retval LX_OK            The next batch begins at that position.
 * @retval LX_ERR_FORKED    The loader belongs to the parent process.
 * @retval LX_ERR_ARGUMENT  @p loader is NULL.
 */
LX_API lx_status lx_loader_seek(lx_loader *loader, uint64_t position, lx_error *error);

/** Returns the position after the last batch that was returned. */
LX_API uint64_t lx_loader_tell(const lx_loader *loader);

/**
 * Counts the batches that this rank gets in an epoch that the loader reads from its beginning. If
 * the order is cut into batches, or batches are skipped, the call counts the batches of the current
 * epoch (see lx_loader_tell()); where batches are skipped, this takes time for each batch.
 *
 * @param[in]  loader  The loader.
 * @param[out] count   Receives the number of batches.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_FORKED    The order is cut into batches, and the loader belongs to the parent
 *                          process.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @return Otherwise, if the order is cut into batches, any status that lx_order_get_batch_count()
 *         returns.
 */
LX_API lx_status lx_loader_get_batch_count(const lx_loader *loader, uint64_t *count,
                                           lx_error *error);

/**
 * Writes the state of a loader as JSON (version 1): its position, and the identity of its order and
 * source. loaderx-state(5) describes the format.
 *
 * @param[in]  loader  The loader.
 * @param[out] text    Receives the NUL-terminated state; may be NULL if @p size is 0.
 * @param[in]  size    The size of @p text in bytes; 0 to query only the length.
 * @param[out] length  Receives the length of the whole state, excluding the NUL; may be NULL.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The state was written to @p text, or only the length was queried.
 * @retval LX_ERR_LIMIT     @p size is too small: it must be at least the length plus 1. @p text is
 *                          set to an empty string.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_loader_save(const lx_loader *loader, char *text, size_t size, size_t *length,
                                lx_error *error);

/**
 * Writes the state that lx_loader_save() would write at @p position. A program that holds batches
 * that it has not used yet, for example because it copies them to a device in advance, can save a
 * state that does not count them: lx_batch_get_position() returns the position of the first one.
 *
 * @return Any status that lx_loader_save() returns.
 */
LX_API lx_status lx_loader_save_at(const lx_loader *loader, uint64_t position, char *text,
                                   size_t size, size_t *length, lx_error *error);

/**
 * Moves to the position of a saved state. The batch size, the world and the number of threads may
 * differ from those of the loader that saved the state. The cost does not depend on the position.
 *
 * If records were appended to a dataset in the meantime, open the dataset with the length that it
 * had (lx_dataset_options_set_length()). If records in the loader's columns were changed, or were
 * deleted and others took their places, the call fails; lx_loader_restore_changed() continues
 * nevertheless. A run never continues with fewer records than it had, because its order depends on
 * their number: append as many as were deleted. If the tables of the dataset were rewritten
 * (lx_writer_rebalance(), lx_writer_checkpoint(), lx_writer_seal(), lx_dataset_recover()), a change
 * of any record counts, even of one that was appended after the state was saved. If the state was
 * saved by a version that did not record enough for this, the call logs a warning and continues.
 * The records of a live dataset may change, so they are not compared.
 *
 * After a state of the last batch of the requested epochs, the next ones begin. A run that may have
 * been complete therefore compares lx_loader_tell() with its number of samples; if drop_last is set,
 * after lx_loader_next_epoch(), which counts those that are left out.
 *
 * @retval LX_OK               The next batch begins at that position.
 * @retval LX_ERR_MISMATCH     The state belongs to a different order or source, or records were
 *                             appended, changed or deleted; the error names the difference.
 * @retval LX_ERR_UNSUPPORTED  The state was saved in an unsupported format version.
 * @retval LX_ERR_CORRUPT      @p text is not a state, or was modified.
 * @retval LX_ERR_FORKED       The loader belongs to the parent process.
 * @retval LX_ERR_ARGUMENT     A pointer is NULL.
 * @retval LX_ERR_NOMEM        Out of memory.
 */
LX_API lx_status lx_loader_restore(lx_loader *loader, const char *text, lx_error *error);

/**
 * Moves to the position of a saved state as lx_loader_restore() does, but also accepts records that
 * have changed since the state was saved. The run then continues with the records as they are now.
 * Their number must be the same.
 *
 * @return Any status that lx_loader_restore() returns.
 */
LX_API lx_status lx_loader_restore_changed(lx_loader *loader, const char *text, lx_error *error);

/**
 * The statistics of a loader.
 *
 * For .npy and token files, only page faults of the process tell that values are on a disk. After a
 * page fault for anything else, @c read_ahead therefore also counts records that are in memory,
 * in up to 1,024 batches. Filling batches from memory takes less than 1 us for a record and 0.5 us
 * for a KiB: if @c fill_ns without @c map_ns is smaller than that, the disk was not the limit.
 */
typedef struct lx_loader_stats {
    uint64_t batches;      /**< The number of batches that were returned. */
    uint64_t records;      /**< The number of records in those batches. */
    uint64_t bytes;        /**< The size of all columns in those batches, in bytes. */
    uint64_t failures;     /**< The number of calls that failed instead of returning a batch. */
    uint64_t wait_ns;      /**< The time that calls spent waiting for a batch, in nanoseconds. */
    uint64_t fill_ns;      /**< The time spent filling batches, in nanoseconds, summed over
                                threads. */
    uint64_t transform_ns; /**< The time spent in the transform, in nanoseconds, summed over
                                threads. */
    uint64_t blocks;       /**< The number of memory blocks that were created for batches. */
    uint64_t block_bytes;  /**< The size of the blocks that are currently mapped, in bytes. */
    uint64_t prefetched;   /**< The number of batches that are currently ready or in preparation. */
    uint64_t damaged;      /**< The number of damaged records that were left out or filled with
                                zeros, in batches that were returned. */
    uint64_t read_ahead;   /**< The number of records in batches that were requested from a disk
                                before they were copied, because they were not in memory or, in
                                mapped files, did not seem to be. */
    uint64_t map_ns;       /**< The part of @c fill_ns that was spent in functions of maps
                                (::lx_map_function), which decode images, for example. */
    uint64_t reserved[3];  /**< Reserved; zero. */
} lx_loader_stats;

/** Copies a loader's statistics since it was opened. */
LX_API void lx_loader_get_stats(const lx_loader *loader, lx_loader_stats *stats);

/** @} */

LX_END_DECLS

#endif
