/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Options of loaders, and the functions that loaders call.
 */
#ifndef LOADERX_LOADER_OPTIONS_H
#define LOADERX_LOADER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/batch.h>
#include <loaderx/dataset.h>
#include <loaderx/executor.h>
#include <loaderx/export.h>
#include <loaderx/order.h>
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
 * Only one thread at a time may use the options. A loader copies what it needs when it is opened.
 */
typedef struct lx_loader_options lx_loader_options;

/**
 * Returns new options with the defaults: batches of 1, sequential order, one epoch, a last batch
 * that may be short, rank 0 of 1, all columns, an executor of the loader's own and 256 MiB of
 * prefetching. Returns NULL if out of memory.
 */
LX_API lx_loader_options *lx_loader_options_new(void);

/** Frees the options. NULL is allowed. */
LX_API void lx_loader_options_free(lx_loader_options *options);

/**
 * Sets the number of records in each rank's batch, at least 1. This option cannot be combined with
 * an order that is itself cut into batches.
 */
LX_API lx_status lx_loader_options_set_batch_size(lx_loader_options *options, uint64_t size,
                                                  lx_error *error);

/**
 * Sets the order, and takes a reference to it. The length of the order is the epoch length, and its
 * indices must be less than the length of the source. An order that is cut into batches
 * (lx_order_new_budgeted()) determines the batches. NULL restores the sequential order.
 */
LX_API lx_status lx_loader_options_set_order(lx_loader_options *options, lx_order *order,
                                             lx_error *error);

/**
 * Sets the order to lx_order_new_shuffle() with the length of the source and @p seed: each epoch is
 * a different permutation of all records.
 */
LX_API lx_status lx_loader_options_set_shuffle(lx_loader_options *options, uint64_t seed,
                                               lx_error *error);

/**
 * Sets the rank of this process among @p world data-parallel ranks, which determines the rank's
 * share of each global batch; see lx_loader. @p rank must be less than @p world.
 */
LX_API lx_status lx_loader_options_set_rank(lx_loader_options *options, uint64_t rank,
                                            uint64_t world, lx_error *error);

/** Sets the number of epochs after which lx_loader_next() returns #LX_END; 0 means never. */
LX_API lx_status lx_loader_options_set_epoch_count(lx_loader_options *options, uint64_t epochs,
                                                   lx_error *error);

/**
 * Sets the number of the first epoch, 0 by default, on which random choices depend. It only changes
 * the epochs of samples (::lx_samples, lx_batch_get_epoch(), lx_batch_get_keys()), not the order, so
 * a run that opens a loader for each pass can make other choices in each. States do not contain it:
 * a run that resumes sets the number of the pass that it continues.
 */
LX_API lx_status lx_loader_options_set_first_epoch(lx_loader_options *options, uint64_t epoch,
                                                   lx_error *error);

/**
 * Sets the position at which the loader begins, 0 by default. The position is the number of samples
 * of the global order that all ranks together have taken, as returned by lx_loader_tell(). This
 * number is therefore enough to resume a run.
 *
 * The start position does not shift the end: with E epochs of n samples, the loader returns #LX_END
 * at each multiple of E * n. A loader that begins at such a multiple continues to the next
 * multiple.
 */
LX_API lx_status lx_loader_options_set_start(lx_loader_options *options, uint64_t position,
                                             lx_error *error);

/**
 * Sets whether to drop an incomplete global batch at the end of an epoch. A global batch is
 * incomplete if it has too few samples or, if the order is cut into batches, fewer batches than
 * there are ranks. This option cannot be combined with lx_loader_options_set_uneven() or
 * lx_loader_options_set_pad_last().
 */
LX_API lx_status lx_loader_options_set_drop_last(lx_loader_options *options, bool drop,
                                                 lx_error *error);

/**
 * Sets whether ranks may have different numbers of batches, and of records in a batch, at the end
 * of an epoch. By default, ranks repeat records so that all have the same number; see lx_loader.
 * Uneven ranks cause a deadlock if each batch is followed by a collective operation.
 */
LX_API lx_status lx_loader_options_set_uneven(lx_loader_options *options, bool uneven,
                                              lx_error *error);

/**
 * Sets whether all batches have the same number of records: the batch size. Each rank fills its
 * last batch of an epoch with records from the start of the epoch and, with #LX_DAMAGE_SKIP, every
 * batch that omits damaged records with other records of the batch. lx_batch_get_real_count() does
 * not count them, so that an evaluation over all ranks counts each record once. This option cannot
 * be combined with lx_loader_options_set_drop_last(), lx_loader_options_set_uneven(), or an order
 * that is cut into batches.
 */
LX_API lx_status lx_loader_options_set_pad_last(lx_loader_options *options, bool pad,
                                                lx_error *error);

/**
 * Skips the global batches that contain any of the positions from @p first up to, but not
 * including, @p end: no rank returns them. All other batches are the same as without the call. This
 * can lead a run past data that causes a loss spike, even if it resumes with a different batch size
 * or number of ranks; lx_batch_get_position() returns where a batch begins. Positions count samples
 * over all epochs, so the same records are returned again in the next epoch. Ranks that are one
 * record short at the end of an epoch may still repeat a skipped record. Calls add up. A state does
 * not contain the ranges: set them again when the run is resumed.
 *
 * @param[in]  options  The options.
 * @param[in]  first    The first position.
 * @param[in]  end      The position after the last one; greater than @p first.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p end is not greater than @p first, or @p options is NULL.
 * @retval LX_ERR_NOMEM     Out of memory; nothing changed.
 */
LX_API lx_status lx_loader_options_add_skipped(lx_loader_options *options, uint64_t first,
                                               uint64_t end, lx_error *error);

/** Sets the names of the columns to read, in this order; a @p count of 0 means all columns. */
LX_API lx_status lx_loader_options_set_columns(lx_loader_options *options, const char *const *names,
                                               size_t count, lx_error *error);

/**
 * Sets the number of reader threads, 0 to #LX_MAX_READERS, in an executor of the loader's own. With
 * 0, the thread that calls lx_loader_next() does the reading. This option cannot be combined with
 * lx_loader_options_set_executor().
 */
LX_API lx_status lx_loader_options_set_reader_count(lx_loader_options *options, uint32_t threads,
                                                    lx_error *error);

/**
 * Sets the executor that runs the loader's tasks, and takes a reference to it. With NULL, the
 * default, the loader opens its own executor.
 */
LX_API lx_status lx_loader_options_set_executor(lx_loader_options *options, lx_executor *executor,
                                                lx_error *error);

/**
 * Limits the total size, in bytes, of the batches that are ready or in preparation but not yet
 * returned. Regardless of the limit, at least one batch is always allowed, and at most 4 batches
 * per reader thread.
 *
 * Batches of less than 128 KiB are not prepared in advance unless there is a transform, because
 * lx_loader_next() usually copies them faster than it could wake a thread. If the source is slow,
 * copying takes longer than that: use larger batches.
 */
LX_API lx_status lx_loader_options_set_prefetch_bytes(lx_loader_options *options, uint64_t bytes,
                                                      lx_error *error);

/**
 * Sets how to handle damaged records. A record counts as damaged if its source fails with
 * #LX_ERR_CORRUPT.
 *
 * - #LX_DAMAGE_RAISE, the default: lx_loader_next() fails instead of returning the batch.
 * - #LX_DAMAGE_SKIP: the record is left out, so the batch has fewer records. A batch without
 *   readable records repeats a record from outside the batch; see lx_loader.
 * - #LX_DAMAGE_ZEROS: in the damaged record, the columns that cannot be read are filled with zeros;
 *   values that vary in size are empty.
 *
 * In all cases, positions and states count all samples, and the number of threads does not affect
 * which batch a record is in. lx_loader_get_stats() counts the damaged records. If the dataset
 * itself was opened with #LX_DAMAGE_ZEROS, the loader sees no damage.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p damage is invalid, or @p options is NULL.
 */
LX_API lx_status lx_loader_options_set_damage_policy(lx_loader_options *options,
                                                     lx_damage_policy damage, lx_error *error);

/** What to do with missing values, which an array cannot represent. */
typedef enum lx_missing_policy {
    LX_MISSING_RAISE = 0, /**< Fail, so that no missing value is mistaken for zeros. The
                               default. */
    LX_MISSING_ZEROS = 1, /**< The value becomes zeros, or empty if its size varies. */
    LX_MISSING_MASK = 2,  /**< The value becomes zeros, and lx_batch_get_present() reports that it
                               was missing. */
} lx_missing_policy;

/**
 * Sets how to handle missing values. Only datasets have missing values.
 *
 * With #LX_MISSING_RAISE, lx_loader_open() returns #LX_ERR_MISMATCH if a record of the source has
 * no value in a column that the loader reads. The call checks the whole source, regardless of which
 * records the order selects; to leave records out, use lx_source_new_subset(). If a value of a live
 * dataset (lx_dataset_options_set_live()) becomes missing later, the batch that contains it fails
 * with #LX_ERR_MISMATCH.
 *
 * A damaged value is not missing; see lx_loader_options_set_damage_policy().
 *
 * @param[in]  options  The options.
 * @param[in]  column   A column that the loader reads; NULL sets the policy for all columns whose
 *                      policy is not set by name.
 * @param[in]  policy   The policy.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p policy is invalid, or @p options is NULL.
 * @retval LX_ERR_NOMEM     Out of memory; nothing changed.
 */
LX_API lx_status lx_loader_options_set_missing(lx_loader_options *options, const char *column,
                                               lx_missing_policy policy, lx_error *error);

/**
 * Sets the value that replaces missing values of a column. This takes the place of a policy for the
 * column.
 *
 * @param[in]  options  The options.
 * @param[in]  column   A column that the loader reads.
 * @param[in]  value    The replacement value; the call copies it.
 * @param[in]  size     The size of @p value in bytes, which must be that of the column's values.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory; nothing changed.
 */
LX_API lx_status lx_loader_options_set_missing_value(lx_loader_options *options, const char *column,
                                                     const void *value, size_t size,
                                                     lx_error *error);

/**
 * Transforms a filled batch before it is returned: the function can modify the batch's columns in
 * place, or store a result with lx_batch_set_result(). The executor's threads call the function,
 * possibly for several batches at the same time. Without reader threads, the thread that calls
 * lx_loader_next() calls the function.
 *
 * @param batch  The batch.
 * @param user   The pointer that was passed to lx_loader_options_set_transform().
 * @param error  Receives the description of a failure; never NULL.
 * @return #LX_OK on success. If the function fails, lx_loader_next() returns the function's status
 *         instead of the batch. However, if lx_loader_next() uses this status for its own purposes
 *         (#LX_END, #LX_ERR_TIMEOUT, #LX_ERR_CANCELED or #LX_ERR_FORKED), it returns
 *         #LX_ERR_CALLBACK instead.
 */
typedef lx_status (*lx_transform_function)(lx_batch *batch, void *user, lx_error *error);

/** Sets the transform; NULL, the default, means none. @p user is passed to each call. */
LX_API lx_status lx_loader_options_set_transform(lx_loader_options *options,
                                                 lx_transform_function transform, void *user,
                                                 lx_error *error);

/**
 * Allocates memory for a batch. Several threads may call the function at the same time, possibly
 * while they hold the loader's lock, so it must not call the loader.
 *
 * @param size    The number of bytes; never 0.
 * @param user    The pointer that was passed to lx_loader_options_set_memory().
 * @param memory  Receives the block: @c data, aligned to 64 bytes, and @c owner. The function must
 *                not change @c size, which is already set.
 * @param error   Receives the description of a failure; never NULL.
 * @return #LX_OK on success. Otherwise, or if @c data is NULL or not aligned, the loader releases
 *         the blocks that it keeps and tries again. If that fails, too, lx_loader_next() returns
 *         #LX_ERR_NOMEM with the function's message. If the memory was for columns of a fixed size,
 *         the next call tries the same batch again; if it was for values that vary in size, which
 *         is allocated while the batch is read, the next call continues after the batch.
 *         lx_loader_tell() distinguishes the two: only the second one moves the position.
 */
typedef lx_status (*lx_allocate_memory_function)(size_t size, void *user, lx_memory *memory,
                                                 lx_error *error);

/**
 * Releases a block that lx_allocate_memory_function() returned. Any thread may call the function,
 * even after the loader is closed: the one that drops the last reference to a batch, for example.
 */
typedef void (*lx_release_memory_function)(const lx_memory *memory, void *user);

/**
 * Sets the functions that allocate the memory of batches, for example memory that is pinned for
 * copies to a GPU. The loader reads records directly into it. lx_batch_get_memory() returns the
 * block of a column. By default, the loader allocates ordinary memory, and keeps it.
 *
 * A copy that a device makes from a batch must end before the batch is released, because the
 * release allows the memory to change. With CUDA, for example:
 *
 * @code
 * static lx_status allocate(size_t size, void *user, lx_memory *memory,
 *                           lx_error *error)
 * {
 *     if (cudaHostAlloc(&memory->data, size, 0) == cudaSuccess)
 *         return LX_OK;
 *     return lx_fail(error, LX_ERR_NOMEM, "cudaHostAlloc failed");
 * }
 *
 * static void release(const lx_memory *memory, void *user)
 * {
 *     cudaFreeHost(memory->data);
 * }
 *
 * lx_loader_options_set_memory(options, allocate, release, NULL, true, NULL);
 * ...
 * cudaMemcpyAsync(device, column->data, column->rows * column->size,
 *                 cudaMemcpyHostToDevice, copies);
 * cudaEventRecord(copied, copies);
 * ... // prepare the next step
 * cudaEventSynchronize(copied);
 * lx_batch_unref(batch);
 * @endcode
 *
 * @param[in]  options   The options.
 * @param[in]  allocate  Allocates a block; NULL restores the default.
 * @param[in]  release   Releases a block; NULL if, and only if, @p allocate is NULL.
 * @param[in]  user      The pointer that is passed to both functions. It must stay valid until the
 *                       loader is closed and its last batch is released.
 * @param[in]  keep      Whether the loader keeps the blocks of released batches, and fills them
 *                       again. If false, it releases the blocks of a batch together with the batch,
 *                       and allocates others for the next batch. Choose this if the allocator knows
 *                       better when a block can be used again, as torch's does.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  Only one of the functions is NULL, or @p options is NULL.
 */
LX_API lx_status lx_loader_options_set_memory(lx_loader_options *options,
                                              lx_allocate_memory_function allocate,
                                              lx_release_memory_function release, void *user,
                                              bool keep, lx_error *error);

/** @} */

LX_END_DECLS

#endif
