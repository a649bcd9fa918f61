/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Loaders, which prepare batches ahead.
 */
#ifndef LOADERX_LOADER_H
#define LOADERX_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/batch.h>
#include <loaderx/dataset.h>
#include <loaderx/executor.h>
#include <loaderx/export.h>
#include <loaderx/order.h>
#include <loaderx/source.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_loader_options Options of a loader
 *
 * Each setter returns #LX_OK, #LX_ERR_ARGUMENT for an invalid value or a NULL pointer, or
 * #LX_ERR_NOMEM.
 * @see lx_batch, lx_executor, lx_loader, lx_order
 * @{
 */

/**
 * The options of a loader.
 *
 * @par Thread safety
 * One thread at a time. A loader copies what it needs when it is opened.
 */
typedef struct lx_loader_options lx_loader_options;

/**
 * Returns options with the defaults: batches of 1, in sequence, one epoch, a short last batch, rank
 * 0 of 1, all columns, an executor of its own, 64 MiB prepared ahead. Returns NULL when out of
 * memory.
 */
LX_API lx_loader_options *lx_loader_options_new(void);

/** Frees options. NULL is allowed. */
LX_API void lx_loader_options_free(lx_loader_options *options);

/**
 * Sets the number of records in a batch of one rank, at least 1. It excludes an order that is cut
 * into batches itself.
 */
LX_API lx_status lx_loader_options_set_batch_size(lx_loader_options *options, uint64_t size,
                                                  lx_error *error);

/**
 * Sets the order, and takes a reference to it. Its length is an epoch, and its indices must be
 * below the length of the source. An order that is cut into batches (lx_order_new_budgeted()) makes
 * the batches. NULL restores the sequential order.
 */
LX_API lx_status lx_loader_options_set_order(lx_loader_options *options, lx_order *order,
                                             lx_error *error);

/**
 * Sets the order to lx_order_new_shuffle() with the length of the source and @p seed: each epoch is
 * another permutation of all records.
 */
LX_API lx_status lx_loader_options_set_shuffle(lx_loader_options *options, uint64_t seed,
                                               lx_error *error);

/** Sets the rank of this process among @p world data-parallel ranks, and so its part of each global
 * batch; see lx_loader. @p rank must be below @p world. */
LX_API lx_status lx_loader_options_set_rank(lx_loader_options *options, uint64_t rank,
                                            uint64_t world, lx_error *error);

/** Sets the number of epochs after which lx_loader_next() returns #LX_END; 0 for never. */
LX_API lx_status lx_loader_options_set_epoch_count(lx_loader_options *options, uint64_t epochs,
                                                   lx_error *error);

/**
 * Sets the position at which the loader begins, 0 by default: the number of samples of the global
 * order that all ranks have taken, as lx_loader_tell() returned it. So a count alone resumes a run.
 *
 * The ends of epochs do not depend on it: with E epochs of n samples, #LX_END comes at each
 * multiple of E * n, and a loader that begins at such a multiple continues to the next one.
 */
LX_API lx_status lx_loader_options_set_start(lx_loader_options *options, uint64_t position,
                                             lx_error *error);

/**
 * Sets whether an incomplete global batch at the end of an epoch is left out: one with too few
 * samples or, if the order is cut into batches, with fewer batches than ranks.
 */
LX_API lx_status lx_loader_options_set_drop_last(lx_loader_options *options, bool drop,
                                                 lx_error *error);

/** Sets the columns to read, by name, in this order; a @p count of 0 for all of them. */
LX_API lx_status lx_loader_options_set_columns(lx_loader_options *options, const char *const *names,
                                               size_t count, lx_error *error);

/**
 * Sets the number of threads that read, 0 to #LX_MAX_READERS, in an executor of the loader's own.
 * With 0, the thread that calls lx_loader_next() reads. It excludes
 * lx_loader_options_set_executor().
 */
LX_API lx_status lx_loader_options_set_reader_count(lx_loader_options *options, uint32_t threads,
                                                    lx_error *error);

/**
 * Sets the executor that runs the loader's tasks, and takes a reference to it. With NULL, the
 * default, the loader opens one of its own.
 */
LX_API lx_status lx_loader_options_set_executor(lx_loader_options *options, lx_executor *executor,
                                                lx_error *error);

/**
 * Sets the most bytes of batches that are prepared, or being prepared, and not yet returned. One
 * batch is always allowed.
 */
LX_API lx_status lx_loader_options_set_prefetch_bytes(lx_loader_options *options, uint64_t bytes,
                                                      lx_error *error);

/**
 * Sets what is done about damaged records. A record is damaged if its source fails with
 * #LX_ERR_CORRUPT.
 *
 * - #LX_DAMAGE_RAISE, the default: lx_loader_next() fails in place of the batch.
 * - #LX_DAMAGE_SKIP: the record is left out. The batch may have fewer records, and a batch without
 *   any is skipped.
 * - #LX_DAMAGE_ZEROS: the columns that cannot be read are zeros in this record.
 *
 * Positions and states count all samples in any case, and the batch of a record does not depend on
 * the number of threads. lx_loader_get_stats() counts the damaged records. In a dataset that was
 * itself opened with #LX_DAMAGE_ZEROS the loader sees no damage.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p damage is invalid, or @p options is NULL.
 */
LX_API lx_status lx_loader_options_set_damage_policy(lx_loader_options *options,
                                                     lx_damage_policy damage, lx_error *error);

/**
 * Works on a filled batch before it is returned: changes its columns in place, or stores a result
 * with lx_batch_set_result(). It is called on the executor's threads, for several batches at a
 * time.
 *
 * @param batch  The batch.
 * @param user   As given to lx_loader_options_set_transform().
 * @param error  Never NULL; the function may describe its failure there. Without a description the
 *               error reports #LX_ERR_CALLBACK.
 * @return #LX_OK; lx_loader_next() returns any other status in place of this batch.
 */
typedef lx_status (*lx_transform_function)(lx_batch *batch, void *user, lx_error *error);

/** Sets the transform; NULL for none. @p user is passed to each call. */
LX_API lx_status lx_loader_options_set_transform(lx_loader_options *options,
                                                 lx_transform_function transform, void *user,
                                                 lx_error *error);

/** @} */

/**
 * @defgroup lx_loader Read batches in a global order
 *
 * A loader joins a source and an order, and returns batches: the same bytes in the same order for
 * any number of threads.
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
 * A position counts the samples of one global order, of all ranks together, that were returned (not
 * those that are prepared). An epoch has as many positions as the order is long. The global batch
 * at position p is [p, min(p + batch size * world, end of the epoch)). A rank takes the offsets in
 * the epoch that are its rank modulo world. At an uneven end of an epoch a rank may have fewer
 * records in the last batch, or no such batch; with drop_last no rank has it.
 *
 * @par Orders that are cut into batches
 * With such an order (lx_order_new_budgeted()) a global batch is a number of its batches, one for
 * each rank, from the one at position p on. A rank takes the batch whose number in the epoch is its
 * rank modulo world. At the end of an epoch fewer batches than ranks may be left: some ranks have
 * none, and with drop_last no rank has. After a seek into a batch, the rest of it comes first.
 *
 * @par Ranks that share data
 * Rank and world are those of data parallelism. If each data-parallel rank is a group of processes,
 * as with tensor or pipeline parallelism, all processes of a group open their loader with the same
 * rank and world. In a mesh of P processes with t tensor ranks and s stages, data-parallel ranks
 * outermost, process p has rank p / (t * s) and world P / (t * s). The processes of a group get the
 * same rows of the same global batch in each step, whatever columns each of them reads. A stage
 * that needs no data opens its loader over lx_source_new_null(). Every loader of the mesh, and of
 * another mesh, restores the state of any of them. With #LX_DAMAGE_SKIP only the loaders that read
 * the damage skip a batch without any record left.
 * @see lx_batch, lx_error, lx_loader_options, lx_order, lx_order_new_budgeted(), lx_source,
 *      loaderx-state(5), loaderx(7)
 * @{
 */

/**
 * Returns the batches of a source in an order.
 *
 * @par Thread safety
 * Full, but only calls of lx_loader_next() that follow one another get batches in order. In a child
 * of fork(2), calls that read or move return #LX_ERR_FORKED.
 */
typedef struct lx_loader lx_loader;

/**
 * Opens a loader. It reads nothing before the first lx_loader_next().
 *
 * @param[in]  source   The source; referenced.
 * @param[in]  options  The options; NULL for the defaults.
 * @param[out] loader   Receives the loader, to be closed with lx_loader_close().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The loader is open.
 * @retval LX_ERR_NOT_FOUND    The source does not have a requested column.
 * @retval LX_ERR_UNSUPPORTED  The size of a column's values varies: leave the column out.
 * @retval LX_ERR_MISMATCH     The order has indices beyond the end of the source.
 * @retval LX_ERR_ARGUMENT     Options exclude each other, or a pointer is NULL.
 * @retval LX_ERR_LIMIT        A batch would be too large for this machine.
 * @retval LX_ERR_NOMEM        Out of memory.
 */
LX_API lx_status lx_loader_open(lx_source *source, const lx_loader_options *options,
                                lx_loader **loader, lx_error *error);

/**
 * Closes a loader, at any moment: it wakes all waiting threads, cancels what has not begun, and
 * waits only for callbacks and system calls that are running. Batches that were returned stay
 * valid. NULL is allowed. A callback of the loader must not close it: it would wait for itself.
 */
LX_API void lx_loader_close(lx_loader *loader);

/**
 * Returns the next batch.
 *
 * If a record cannot be read or the transform fails, the call fails in place of that batch, and the
 * position is after it: the next call continues with the following batch. If several of its records
 * cannot be read, the same one is reported for any number of threads.
 *
 * @param[in]  loader  The loader.
 * @param[out] batch   Receives the batch, to be released with lx_batch_unref(); NULL unless
 *                     #LX_OK is returned.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The batch is at @p batch.
 * @retval LX_END           The requested epochs are over; see lx_loader_next_epoch().
 * @retval LX_ERR_CANCELED  lx_loader_cancel() was called.
 * @retval LX_ERR_FORKED    The loader belongs to the parent process.
 * @retval LX_ERR_LIMIT     The order is cut into batches, and 100 epochs had none for this rank:
 *                          they have fewer batches than there are ranks.
 * @retval LX_ERR_CORRUPT   A record is damaged; or with #LX_DAMAGE_SKIP, all records of an epoch
 *                          are.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise the status that the source or the transform returned for this batch.
 */
LX_API lx_status lx_loader_next(lx_loader *loader, lx_batch **batch, lx_error *error);

/**
 * Returns the next batch as lx_loader_next() does, but waits for @p nanoseconds at most. If the
 * calling thread fills the batch itself, it fills it to the end.
 *
 * @retval LX_ERR_TIMEOUT  The batch is not ready, and is not lost. This is not a failure: @p error
 *                         is unchanged.
 * @return Otherwise as lx_loader_next().
 */
LX_API lx_status lx_loader_next_timed(lx_loader *loader, uint64_t nanoseconds, lx_batch **batch,
                                      lx_error *error);

/**
 * Continues with the following epochs, if no batch of the requested ones is left, whether #LX_END
 * was returned or not. Otherwise it does nothing.
 *
 * It also does nothing at the beginning of epochs that have no batch for this rank, and where a
 * seek or a state led to the end of epochs of which only other ranks have a batch left. So all
 * ranks reach #LX_END equally often.
 */
LX_API void lx_loader_next_epoch(lx_loader *loader);

/**
 * Makes every waiting and later call of lx_loader_next() return #LX_ERR_CANCELED. Any thread may
 * call it.
 */
LX_API void lx_loader_cancel(lx_loader *loader);

/**
 * Moves to a position of the global order. Batches that are prepared for other positions are
 * dropped.
 *
 * @retval LX_OK            The next batch begins there.
 * @retval LX_ERR_FORKED    The loader belongs to the parent process.
 * @retval LX_ERR_ARGUMENT  @p loader is NULL.
 */
LX_API lx_status lx_loader_seek(lx_loader *loader, uint64_t position, lx_error *error);

/** Returns the position after the last batch that was returned. */
LX_API uint64_t lx_loader_tell(const lx_loader *loader);

/**
 * Counts the batches of this rank in an epoch that the loader enters at the beginning. Of an order
 * that is cut into batches it counts those of the current epoch, see lx_loader_tell().
 *
 * @param[in]  loader  The loader.
 * @param[out] count   Receives the number of batches.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            They are counted.
 * @retval LX_ERR_FORKED    The order is cut, and the loader belongs to the parent process.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @return Otherwise, of an order that is cut, as lx_order_get_batch_count().
 */
LX_API lx_status lx_loader_get_batch_count(const lx_loader *loader, uint64_t *count,
                                           lx_error *error);

/**
 * Writes the state of a loader as JSON of version 1: its position, and the identity of its order
 * and source. loaderx-state(5) describes it.
 *
 * @param[in]  loader  The loader.
 * @param[out] text    Receives the state with a NUL; may be NULL if @p size is 0.
 * @param[in]  size    Bytes at @p text; 0 to ask for the length alone.
 * @param[out] length  Receives the length of the whole state without the NUL; may be NULL.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The state is at @p text, or only its length was asked for.
 * @retval LX_ERR_LIMIT     @p size is not above the length. The text is empty.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_loader_save(const lx_loader *loader, char *text, size_t size, size_t *length,
                                lx_error *error);

/**
 * Moves to the position of a saved state, whatever the batch size, the world and the threads of the
 * loader that saved it. The cost does not depend on the position.
 *
 * @retval LX_OK               The next batch begins there.
 * @retval LX_ERR_MISMATCH     The order or the source is another one; the error names the
 *                             difference.
 * @retval LX_ERR_UNSUPPORTED  The state has another version.
 * @retval LX_ERR_CORRUPT      @p text is not a state, or was changed.
 * @retval LX_ERR_FORKED       The loader belongs to the parent process.
 * @retval LX_ERR_ARGUMENT     A pointer is NULL.
 * @retval LX_ERR_NOMEM        Out of memory.
 */
LX_API lx_status lx_loader_restore(lx_loader *loader, const char *text, lx_error *error);

/** The statistics of a loader. */
typedef struct lx_loader_stats {
    uint64_t batches;      /**< Batches that were returned. */
    uint64_t records;      /**< Records in them. */
    uint64_t bytes;        /**< Bytes of all columns in them. */
    uint64_t failures;     /**< Batches that failed. */
    uint64_t wait_ns;      /**< Nanoseconds that calls waited for a batch. */
    uint64_t fill_ns;      /**< Nanoseconds in which batches were filled, summed over threads. */
    uint64_t transform_ns; /**< Nanoseconds in the transform, summed over threads. */
    uint64_t blocks;       /**< Blocks of memory that were made for batches. */
    uint64_t block_bytes;  /**< Bytes of those blocks that are mapped now. */
    uint64_t prefetched;   /**< Batches that are prepared, or being prepared, now. */
    uint64_t damaged;      /**< Damaged records, left out or zeros, of batches that were returned
                                   or skipped. */
    uint64_t reserved[5];  /**< Zero. */
} lx_loader_stats;

/** Copies the statistics of a loader since it was opened. */
LX_API void lx_loader_get_stats(const lx_loader *loader, lx_loader_stats *stats);

/** @} */

LX_END_DECLS

#endif
