/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Batches for training: a source of records, an order, and threads that prepare ahead.
 *
 * An ::lx_source is what is read: a zrecord dataset, an .npy file, a zip of several, or the
 * caller's own. An ::lx_order (sampler.h) says in which order. An ::lx_loader joins them and hands
 * out ::lx_batch objects, always the same bytes in the same order, whatever the number of threads.
 */
#ifndef LOADERX_LOADER_H
#define LOADERX_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/dtype.h>
#include <loaderx/executor.h>
#include <loaderx/export.h>
#include <loaderx/random.h>
#include <loaderx/sampler.h>
#include <loaderx/status.h>
#include <loaderx/zrecord.h>

LX_BEGIN_DECLS

/* ------------------------------------------------------------------ sources */

/** @defgroup lx_source What a loader reads
 * @{ */

/**
 * What a loader reads: a number of records, each with the same columns.
 *
 * @par Lifetime
 * Counted: each constructor gives one reference, lx_source_unref() gives it up. A loader holds its
 * own.
 *
 * @par Thread safety
 * Full.
 */
typedef struct lx_source lx_source;

/** A column of a source; owned by the source, new members come last. */
typedef struct lx_column_info {
    const char *name;      /**< 1 to 64 bytes of UTF-8, unique in the source. */
    lx_dtype dtype;        /**< Of an element. */
    size_t ndim;           /**< Dimensions of a record; 0 for a scalar. */
    const uint64_t *shape; /**< @ref ndim extents, C order. */
    uint64_t size;         /**< Bytes a record; #LX_NONE where it varies. */
} lx_column_info;

/**
 * Opens what is at @p path by what it is: a directory is a zrecord dataset, a file an .npy array.
 *
 * @param[in]  path     A directory or a file.
 * @param[in]  options  For a dataset; NULL for the defaults.
 * @param[out] source   To be given up with lx_source_unref().
 * @param[out] error    Where a failure is told; may be NULL.
 *
 * @retval LX_ERR_NOT_FOUND    There is nothing at @p path.
 * @retval LX_ERR_CORRUPT      It is damaged.
 * @retval LX_ERR_UNSUPPORTED  A kind of file, or of array, that cannot be read.
 * @retval LX_ERR_IO           The system refused; errno tells why.
 */
LX_API lx_status lx_source_open(const char *path, const lx_dataset_options *options,
                                lx_source **source, lx_error *error);

/**
 * Opens an .npy file of format 1.0 to 3.0 by mapping it: C order, little-endian, a dtype of
 * dtype.h, at least one axis, the first of which counts the records. Its one column is "data".
 * @return As lx_source_open().
 */
LX_API lx_status lx_source_open_npy(const char *path, lx_source **source, lx_error *error);

/**
 * Opens a file of bare records by mapping it: one after the other, little-endian, nothing between
 * them.
 *
 * @param[in]  path    A regular file.
 * @param[in]  column  Its one column: name, dtype and shape of a record, which has a byte or more.
 * @param[in]  offset  Where the first record begins: bytes of a header.
 * @param[out] source  To be given up with lx_source_unref().
 * @param[out] error   Where a failure is told; may be NULL.
 * @retval LX_ERR_ARGUMENT  @p column is none, or a pointer is NULL.
 * @retval LX_ERR_CORRUPT   The file ends within a record, or before @p offset.
 * @return Else as lx_source_open().
 */
LX_API lx_status lx_source_open_flat(const char *path, const lx_column_info *column,
                                     uint64_t offset, lx_source **source, lx_error *error);

/**
 * A source over an open dataset, in the state that it reads now. The dataset stays the caller's,
 * and must outlive the source. Refreshing it under a source is not allowed, unless it is live.
 *
 * Over a live dataset (lx_dataset_options_set_live()) each batch of a loader is of one committed
 * state, all columns of it: of the newest one when the loader begins to prepare it, which may be
 * some batches ahead. The length is that of the dataset now, and stays so: records that are
 * appended later are not read. An index that is gone, since the dataset became shorter, fails its
 * batch with #LX_ERR_RANGE.
 */
LX_API lx_status lx_source_from_dataset(lx_dataset *dataset, lx_source **source, lx_error *error);

/** Where records of one column are to be put. */
typedef struct lx_target {
    void *data;    /**< Record i goes to data + i * stride; NULL: this column is not wanted. */
    size_t stride; /**< Bytes, at least the column's size. */
} lx_target;

/** The caller's own kind of source. All functions are called from several threads at a time. */
typedef struct lx_source_functions {
    size_t struct_size; /**< sizeof(lx_source_functions), so that members can be added. */
    /**
     * Puts records @p indices[0 .. count - 1] to the @p targets, one a column. Anything but #LX_OK
     * fails the batch with that status; fill in @p error, which is never NULL.
     */
    lx_status (*fill)(void *user, const uint64_t *indices, size_t count, const lx_target *targets,
                      lx_error *error);
    /** Called when the last reference to the source is gone; may be NULL. */
    void (*release)(void *user);
} lx_source_functions;

/**
 * Makes a source of the caller's own.
 *
 * @param[in]  functions     Copied.
 * @param[in]  user          Given to each function. On failure it is not released.
 * @param[in]  length        Number of records.
 * @param[in]  columns       Copied; each with a size that does not vary, the product of dtype and
 *                           shape, or 0 to have it computed.
 * @param[in]  column_count  At least 1.
 * @param[in]  identity      What tells this data from other data of the same form, for saved
 *                           states: a checksum or a version, UTF-8; NULL or "" for nothing.
 * @param[out] source        To be given up with lx_source_unref().
 * @param[out] error         Where a failure is told; may be NULL.
 * @retval LX_ERR_ARGUMENT   No column, a bad name, a name twice, a size that does not fit, or a
 *                           text that is not UTF-8.
 */
LX_API lx_status lx_source_new(const lx_source_functions *functions, void *user, uint64_t length,
                               const lx_column_info *columns, size_t column_count,
                               const char *identity, lx_source **source, lx_error *error);

/**
 * Puts the columns of several sources side by side.
 *
 * @param[in]  sources  At least one, all of one length; referenced.
 * @param[in]  names    One for each source, or NULL. A name renames the only column of a source;
 *                      a NULL among them keeps the names it has.
 * @param[in]  count    Number of sources.
 * @param[out] source   To be given up with lx_source_unref().
 * @param[out] error    Where a failure is told; may be NULL.
 * @retval LX_ERR_MISMATCH  The lengths differ; both are told.
 * @retval LX_ERR_ARGUMENT  Two columns of one name, or a name for a source of several columns.
 */
LX_API lx_status lx_source_zip(lx_source *const *sources, const char *const *names, size_t count,
                               lx_source **source, lx_error *error);

/**
 * Puts sources of the same columns one behind the other, as one range of indices: those of source i
 * come behind all of the sources before it.
 *
 * Each part that is live stays so: a batch has one committed state of each. Where a record is
 * damaged, the error names its place in the part.
 *
 * @param[in]  sources  At least one, referenced; columns of the same names, dtypes and shapes in the
 *                      same order.
 * @param[in]  count    Number of sources, at most 2^32 - 1.
 * @param[out] source   To be given up with lx_source_unref().
 * @param[out] error    Where a failure is told; may be NULL.
 * @retval LX_ERR_MISMATCH  The columns of one differ from those of the first: the error tells which.
 * @retval LX_ERR_ARGUMENT  There is none, or a pointer is NULL.
 * @retval LX_ERR_LIMIT     There are more than 2^64 - 1 records.
 */
LX_API lx_status lx_source_concat(lx_source *const *sources, size_t count, lx_source **source,
                                  lx_error *error);

/**
 * Some records of a source, in any order, and as often as they are named: record i of it is record
 * @p indices[i] of @p part. The table of them, of 4 or 8 bytes each, is held in memory.
 *
 * @param[in]  part     A source, referenced.
 * @param[in]  indices  Copied.
 * @param[in]  count    How many, the length of the source.
 * @param[out] source   To be given up with lx_source_unref().
 * @param[out] error    Where a failure is told; may be NULL.
 * @retval LX_ERR_RANGE     An index is not below the length of @p part.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 */
LX_API lx_status lx_source_subset(lx_source *part, const uint64_t *indices, uint64_t count,
                                  lx_source **source, lx_error *error);

/**
 * A source without data that stands for @p source: of its length, without any column. For a rank
 * that needs no data, such as a stage in the middle of a pipeline. Its loader goes the same way as
 * those that read: batches have rows, indices, a position, an epoch and keys, nothing is read, no
 * memory is taken for values, and states go from one to the other either way.
 *
 * It keeps what @p source is in states (kind, length, identity; and of the state of a dataset, the
 * one of now), which is less than a kilobyte as a rule, and no reference: @p source and its files
 * may be closed.
 *
 * @param[in]  source  Not referenced.
 * @param[out] null    To be given up with lx_source_unref().
 * @param[out] error   Where a failure is told; may be NULL.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 */
LX_API lx_status lx_source_new_null(lx_source *source, lx_source **null, lx_error *error);

/** One more reference; returns @p source. */
LX_API lx_source *lx_source_ref(lx_source *source);

/** Gives a reference up; NULL is nothing. */
LX_API void lx_source_unref(lx_source *source);

/** Number of records. */
LX_API uint64_t lx_source_get_length(const lx_source *source);

/** Number of columns. */
LX_API size_t lx_source_get_column_count(const lx_source *source);

/** Column number @p position, valid as long as the source; NULL if there are not so many. */
LX_API const lx_column_info *lx_source_get_column(const lx_source *source, size_t position);

/**
 * Puts records to the caller's memory, on this thread.
 *
 * @param[in]  source   A source.
 * @param[in]  indices  @p count indices of records.
 * @param[in]  count    How many.
 * @param[in]  targets  One for each column.
 * @param[out] error    Where a failure is told; may be NULL.
 * @retval LX_ERR_RANGE     An index is not below the length.
 * @retval LX_ERR_ARGUMENT  A stride is less than the column's size.
 * @return Else what the source answers.
 */
LX_API lx_status lx_source_fill(lx_source *source, const uint64_t *indices, size_t count,
                                const lx_target *targets, lx_error *error);

/** @} */

/* ------------------------------------------------------------------ batches */

/** @defgroup lx_batch Batches of records
 * @{ */

/**
 * A batch of records. It is counted: whoever is handed one has a reference, lx_batch_ref() gives
 * one more, lx_batch_release() gives one up. It stays valid until the last is given up, also after
 * its loader is closed.
 *
 * @par Thread safety
 * Reading it, and taking and giving up references: full, on any thread.
 */
typedef struct lx_batch lx_batch;

/** A column of a batch; owned by the batch, new members come last. */
typedef struct lx_column {
    const char *name;        /**< As in the source. */
    lx_dtype dtype;          /**< Of an element. */
    size_t ndim;             /**< Dimensions of a record. */
    const uint64_t *shape;   /**< @ref ndim extents. */
    uint64_t rows;           /**< Records. */
    void *data;              /**< Record i is at data + i * size; the caller may write there. */
    uint64_t size;           /**< Bytes a record; #LX_NONE where it varies. */
    const uint64_t *offsets; /**< Where it varies: rows + 1 places in @ref data. Else NULL. */
} lx_column;

/** Number of records. */
LX_API uint64_t lx_batch_get_rows(const lx_batch *batch);

/** The records' indices in the source, in the order of the rows. */
LX_API const uint64_t *lx_batch_get_indices(const lx_batch *batch);

/** Where in the global order the batch begins; see lx_loader_tell(). */
LX_API uint64_t lx_batch_get_position(const lx_batch *batch);

/** The epoch of the order that the batch is of. */
LX_API uint64_t lx_batch_get_epoch(const lx_batch *batch);

/**
 * The key of each record's own random numbers, as lx_sample_key() makes them of the seed, the epoch
 * and the index: for a transform, which gets the same whatever the number of threads and ranks.
 *
 * @param[in]  batch  A batch.
 * @param[in]  seed   Any number.
 * @param[out] keys   Two numbers a record.
 */
LX_API void lx_batch_get_keys(const lx_batch *batch, uint64_t seed, uint64_t *keys);

/** Number of columns. */
LX_API size_t lx_batch_get_column_count(const lx_batch *batch);

/** Column number @p position; NULL if there are not so many. */
LX_API const lx_column *lx_batch_get_column_at(const lx_batch *batch, size_t position);

/** The column of that name; NULL if there is none. */
LX_API const lx_column *lx_batch_get_column(const lx_batch *batch, const char *name);

/** What the transform left with lx_batch_set_result(); NULL without one. */
LX_API void *lx_batch_get_result(const lx_batch *batch);

/**
 * Leaves something with the batch, in a transform. @p release, if not NULL, gets it when the last
 * reference to the batch is given up, on the thread that does it; an earlier result is released
 * now. So a result must not hold a reference to its own batch.
 */
LX_API void lx_batch_set_result(lx_batch *batch, void *result, void (*release)(void *result));

/**
 * One more reference; returns @p batch. A transform takes one for what it lets outlive its call:
 * the batch that it was given may be dropped, by a seek or a failure, and never be handed out.
 */
LX_API lx_batch *lx_batch_ref(lx_batch *batch);

/** Gives a reference up; the last one gives the batch's memory back to its loader's ring. NULL is
 * nothing. */
LX_API void lx_batch_release(lx_batch *batch);

/** @} */

/* ------------------------------------------------------------------- loader */

/** @defgroup lx_loader_options How a loader works
 * @{ */

/**
 * How a loader works; defaults come from lx_loader_options_new().
 * @par Thread safety
 * One thread at a time. A loader copies what it needs.
 */
typedef struct lx_loader_options lx_loader_options;

/** The defaults: batches of 1, in sequence, one epoch, the last short batch kept, rank 0 of 1, all
 * columns, an executor of its own, 64 MiB prepared ahead. NULL when out of memory. */
LX_API lx_loader_options *lx_loader_options_new(void);

/** Ends options; NULL is nothing. */
LX_API void lx_loader_options_free(lx_loader_options *options);

/** Sets the records a batch and rank, at least 1; else #LX_ERR_ARGUMENT. Not to be combined with an
 * order that is cut into batches itself. */
LX_API lx_status lx_loader_options_set_batch_size(lx_loader_options *options, uint64_t size,
                                                  lx_error *error);

/** Sets the order, which is referenced: its length is an epoch, its indices must be below the
 * source's length. One that is cut (budgeted.h) makes the batches. NULL goes back to sequence. */
LX_API lx_status lx_loader_options_set_order(lx_loader_options *options, lx_order *order,
                                             lx_error *error);

/** Sets the order to lx_order_new_shuffle() of the source's length with this seed. */
LX_API lx_status lx_loader_options_set_shuffle(lx_loader_options *options, uint64_t seed,
                                               lx_error *error);

/** Sets which share of each global batch this process takes; #LX_ERR_ARGUMENT unless
 * @p rank < @p world. */
LX_API lx_status lx_loader_options_set_rank(lx_loader_options *options, uint64_t rank,
                                            uint64_t world, lx_error *error);

/** Sets how many epochs lie between two #LX_END; 0: there is none. */
LX_API lx_status lx_loader_options_set_epochs(lx_loader_options *options, uint64_t epochs,
                                              lx_error *error);

/**
 * Sets where the loader begins, as lx_loader_seek() goes there: the number of samples of the one
 * global order, of all ranks, that lie behind, as lx_loader_tell() told it; 0 by default. So a run
 * is resumed by a count alone. Where epochs end does not depend on it: with E epochs of n, #LX_END
 * comes at the next multiple of E * n, and a loader that begins at one goes on to the next.
 */
LX_API lx_status lx_loader_options_set_start(lx_loader_options *options, uint64_t position,
                                             lx_error *error);

/** With true, a global batch that is not full at the end of an epoch is left out: one of fewer
 * samples, or of an order that is cut, of fewer batches than ranks. */
LX_API lx_status lx_loader_options_set_drop_last(lx_loader_options *options, bool drop,
                                                 lx_error *error);

/** Sets the columns to read, by name, in this order; count 0: all of them. */
LX_API lx_status lx_loader_options_set_fields(lx_loader_options *options,
                                              const char *const *names, size_t count,
                                              lx_error *error);

/** Sets the threads that read, 0 (the caller of next) to 64, in an executor of the loader's own;
 * not to be combined with set_executor. */
LX_API lx_status lx_loader_options_set_threads(lx_loader_options *options, uint32_t threads,
                                               lx_error *error);

/** Has the loader's tasks run by @p executor, which is referenced; NULL: by one of its own. */
LX_API lx_status lx_loader_options_set_executor(lx_loader_options *options, lx_executor *executor,
                                                lx_error *error);

/** Bounds the bytes of batches that are prepared, or being prepared, and not yet handed out. One
 * batch is always allowed. */
LX_API lx_status lx_loader_options_set_prefetch_bytes(lx_loader_options *options, uint64_t bytes,
                                                      lx_error *error);

/**
 * Sets what is done about records that are damaged, which is what a source says by failing with
 * #LX_ERR_CORRUPT; sources of datasets do, and zips of them.
 *
 * - #LX_DAMAGE_RAISE, the default: lx_loader_next() fails in place of their batch.
 * - #LX_DAMAGE_SKIP: they are left out. A batch may have fewer records then, and one of which none
 *   is left is passed over.
 * - #LX_DAMAGE_ZEROS: columns that cannot be read are zeros in these records.
 *
 * Positions and states count all samples as ever, and which records come in which batch does not
 * depend on the number of threads. lx_loader_read_stats() counts the damaged ones. A dataset that
 * was itself opened with #LX_DAMAGE_ZEROS has no damage that a loader could see.
 *
 * @retval LX_ERR_ARGUMENT  @p damage is none of these.
 */
LX_API lx_status lx_loader_options_set_damage(lx_loader_options *options, lx_damage damage,
                                              lx_error *error);

/**
 * Works on a filled batch before it is handed out: changes its columns in place, or leaves a
 * result with lx_batch_set_result(). Called on worker threads, for several batches at a time.
 * Anything but #LX_OK is what lx_loader_next() returns in place of this batch; @p error is never
 * NULL, and one that is not filled in tells of #LX_ERR_CALLBACK.
 */
typedef lx_status (*lx_transform_function)(lx_batch *batch, void *user, lx_error *error);

/** Sets the transform; NULL: none. */
LX_API lx_status lx_loader_options_set_transform(lx_loader_options *options,
                                                 lx_transform_function transform, void *user,
                                                 lx_error *error);

/** @} */

/** @defgroup lx_loader Read batches in a global order
 * @{ */

/**
 * Hands out batches.
 *
 * **Positions** count samples of the one global order, all ranks together, as handed out, never
 * as prefetched. An epoch is as many positions as the order is long. A global batch at position p
 * is [p, min(p + batch size * world, end of the epoch)); a rank takes from it the offsets (position
 * modulo length) that are its rank modulo world. At an end that is not even, a rank may have fewer
 * records in the last batch of an epoch, or no such batch; with drop_last none has it.
 *
 * Of an order that is cut into batches (budgeted.h) a global batch is as many of these as there are
 * ranks, from the one at p on, and a rank takes the one whose number in the epoch is its rank modulo
 * world. At the end of an epoch there may be fewer than ranks: some have none then, and with
 * drop_last none has. A seek into a batch hands out what is left of it first.
 *
 * @par Thread safety
 * Full, but batches come in order only to those who call lx_loader_next() one after another.
 * A child of fork() gets #LX_ERR_FORKED.
 */
typedef struct lx_loader lx_loader;

/**
 * Opens a loader. Nothing is read before the first lx_loader_next().
 *
 * @param[in]  source   Referenced.
 * @param[in]  options  NULL for the defaults.
 * @param[out] loader   To be closed with lx_loader_close().
 * @param[out] error    Where a failure is told; may be NULL.
 *
 * @retval LX_ERR_NOT_FOUND    A column that was asked for is not there.
 * @retval LX_ERR_UNSUPPORTED  A column has records of varying length: leave it out.
 * @retval LX_ERR_MISMATCH     The order has indices beyond the source.
 * @retval LX_ERR_ARGUMENT     Options that exclude each other.
 * @retval LX_ERR_LIMIT        A batch would be too large for this machine.
 */
LX_API lx_status lx_loader_open(lx_source *source, const lx_loader_options *options,
                                lx_loader **loader, lx_error *error);

/**
 * Ends a loader, at any moment: wakes all who wait, cancels what has not begun, and waits only for
 * a callback or system call that runs. Batches that were handed out stay valid. NULL is nothing.
 * Not to be called from such a callback: it would wait for itself.
 */
LX_API void lx_loader_close(lx_loader *loader);

/**
 * Hands out the next batch.
 *
 * @param[in]  loader  A loader.
 * @param[out] batch   To be released with lx_batch_release(); NULL unless #LX_OK is returned.
 * @param[out] error   Where a failure is told; may be NULL.
 *
 * @retval LX_OK            A batch.
 * @retval LX_END           The epochs that were asked for are over; see lx_loader_continue().
 * @retval LX_ERR_CANCELED  lx_loader_cancel() was called.
 * @retval LX_ERR_FORKED    This is a child of the process that opened the loader.
 * @retval LX_ERR_LIMIT     The order is cut, and 100 epochs have had no batch for this rank: they
 *                          have fewer batches than there are ranks.
 * @retval LX_ERR_CORRUPT   A record is damaged; or with #LX_DAMAGE_SKIP, all of an epoch are.
 * @return Else what the source or the transform answered for this batch. It is passed over then:
 *         the position is behind it, and the next call goes on. Where several of its records
 *         cannot be read, the same one is told of whatever the number of threads.
 */
LX_API lx_status lx_loader_next(lx_loader *loader, lx_batch **batch, lx_error *error);

/** As lx_loader_next(), but gives up after @p nanoseconds with #LX_ERR_TIMEOUT, which is not noted
 * in @p error; nothing is lost by that. Where the calling thread fills the batch itself, it does so
 * to the end. */
LX_API lx_status lx_loader_next_timed(lx_loader *loader, uint64_t nanoseconds, lx_batch **batch,
                                      lx_error *error);

/** Goes on with the epochs that follow, if no batch of these is left: after #LX_END, or before it
 * was returned. Else does nothing; also at the beginning of epochs that have none for this rank, and
 * where a seek or a state led to an end of epochs that only other ranks have a batch of: so all of
 * them come to #LX_END as often. */
LX_API void lx_loader_continue(lx_loader *loader);

/** Makes every call of next, waiting or to come, return #LX_ERR_CANCELED. From any thread. */
LX_API void lx_loader_cancel(lx_loader *loader);

/** Goes to a position of the global order; what was prepared for another place is dropped. */
LX_API lx_status lx_loader_seek(lx_loader *loader, uint64_t position, lx_error *error);

/** The position behind the last batch that was handed out. */
LX_API uint64_t lx_loader_tell(lx_loader *loader);

/** Batches that this rank gets of an epoch that is entered at its beginning; of an order that is cut
 * into batches, of that epoch in which the loader stands (lx_loader_tell()), whose batches are
 * counted first, if they have not been: 0 where there is no memory for it, or after fork. */
LX_API uint64_t lx_loader_get_epoch_batches(const lx_loader *loader);

/** The source; valid as long as the loader. */
LX_API lx_source *lx_loader_get_source(const lx_loader *loader);

/**
 * Saves where the loader is: a JSON text of version 1, described in loaderx-state(5). It holds the
 * position, and what the order and the source must be for it to make sense.
 *
 * @param[in]  loader  A loader.
 * @param[out] text    Where the text goes, terminated; may be NULL if @p size is 0.
 * @param[in]  size    Bytes at @p text.
 * @param[out] length  Length of the whole text without the NUL; may be NULL.
 * @param[out] error   Where a failure is told; may be NULL.
 * @retval LX_ERR_LIMIT  @p size is too small; @p length says what is needed.
 */
LX_API lx_status lx_loader_save(lx_loader *loader, char *text, size_t size, size_t *length,
                                lx_error *error);

/**
 * Goes to where a loader was when it was saved, whatever its batch size, world and threads were.
 *
 * @retval LX_ERR_MISMATCH     The order or the source is another; the error names the difference.
 * @retval LX_ERR_UNSUPPORTED  The state is of another version.
 * @retval LX_ERR_CORRUPT      It is no state.
 */
LX_API lx_status lx_loader_restore(lx_loader *loader, const char *text, lx_error *error);

/** What a loader has done. */
typedef struct lx_loader_stats {
    uint64_t batches;         /**< Handed out. */
    uint64_t records;         /**< In them. */
    uint64_t bytes;           /**< In them, of all columns. */
    uint64_t failures;        /**< Batches that failed. */
    uint64_t wait_ns;         /**< Time that next waited for a batch to be ready. */
    uint64_t fill_ns;         /**< Time that all threads together filled batches. */
    uint64_t transform_ns;    /**< Time that all threads together ran the transform. */
    uint64_t blocks;          /**< Blocks of memory that the ring has made. */
    uint64_t block_bytes;     /**< Bytes of them that are mapped now. */
    uint64_t prefetched;      /**< Batches that are prepared, or being prepared, now. */
    uint64_t damaged;         /**< Damaged records, left out or with zeros, of batches that were
                                   handed out or passed over. */
    uint64_t reserved[5];     /**< Zero. */
} lx_loader_stats;

/** Copies the statistics. */
LX_API void lx_loader_read_stats(lx_loader *loader, lx_loader_stats *stats);

/** @} */

LX_END_DECLS

#endif
