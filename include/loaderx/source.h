/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Sources of records.
 */
#ifndef LOADERX_SOURCE_H
#define LOADERX_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/dataset.h>
#include <loaderx/dtype.h>
#include <loaderx/export.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_source Sources of records
 *
 * A source is a number of records, each with the same columns: a dataset, an .npy file, a file of
 * bare records, sequences of tokens, functions of the caller, or a combination of sources.
 * @see lx_dataset_open(), lx_error, lx_loader, lx_source_new_megatron(),
 *      lx_source_new_packed_tokens(), lx_tokens, loaderx(7)
 * @{
 */

/**
 * Records with the same columns.
 *
 * @par Ownership
 * A source is counted: each constructor returns one reference, and lx_source_unref() drops one. A
 * loader holds its own.
 *
 * @par Thread safety
 * Full.
 */
typedef struct lx_source lx_source;

/** A column of a source. The source owns it; new members are added last. */
typedef struct lx_column_info {
    const char *name;      /**< The name: 1 to 64 bytes of UTF-8, unique in the source. */
    lx_dtype dtype;        /**< The type of the elements. */
    size_t ndim;           /**< Dimensions of a value; 0 for a scalar. */
    const uint64_t *shape; /**< @ref ndim extents in C order. */
    uint64_t size;         /**< Bytes per value; #LX_NONE if it varies. */
} lx_column_info;

/**
 * Opens a dataset or an .npy file: a directory is opened as a dataset, a file as an .npy file.
 *
 * An .npy file is of version 1.0 to 3.0, and its array is little-endian, in C order, of an
 * ::lx_dtype and has at least one axis. The first axis counts the records. The only column is
 * "data". The file is mapped.
 *
 * @param[in]  path     A directory or a file.
 * @param[in]  options  The options of a dataset; NULL for the defaults.
 * @param[out] source   Receives the source, to be released with lx_source_unref().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The source is open.
 * @retval LX_ERR_NOT_FOUND    @p path does not exist.
 * @retval LX_ERR_CORRUPT      It is damaged.
 * @retval LX_ERR_UNSUPPORTED  This library cannot read such a file or array.
 * @retval LX_ERR_IO           A system call failed; the error has its errno.
 * @retval LX_ERR_ARGUMENT     A pointer is NULL.
 * @retval LX_ERR_NOMEM        Out of memory.
 * @return Otherwise as lx_dataset_open().
 */
LX_API lx_status lx_source_open(const char *path, const lx_dataset_options *options,
                                lx_source **source, lx_error *error);

/**
 * Opens a file of bare records and maps it: little-endian values, one after another, with nothing
 * between them.
 *
 * @param[in]  path    A regular file.
 * @param[in]  column  The only column: the name, dtype and shape of a record, of at least one byte.
 * @param[in]  offset  The offset of the first record in bytes: the size of a header.
 * @param[out] source  Receives the source, to be released with lx_source_unref().
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_ARGUMENT  @p column is invalid, or a pointer is NULL.
 * @retval LX_ERR_CORRUPT   The file ends within a record, or before @p offset.
 * @return Otherwise as lx_source_open().
 */
LX_API lx_status lx_source_open_flat(const char *path, const lx_column_info *column,
                                     uint64_t offset, lx_source **source, lx_error *error);

/**
 * Makes a source of an open dataset, in the snapshot that it reads now. The caller still owns the
 * dataset, which must outlive the source, and must not be refreshed unless it is live.
 *
 * Over a live dataset (lx_dataset_options_set_live()) all columns of a batch come from one
 * snapshot: the newest one when the loader begins to prepare the batch, which may be some batches
 * ahead. The source keeps the length that the dataset has now: it does not read records that are
 * appended later. If the dataset becomes shorter, a batch with an index beyond its end fails with
 * #LX_ERR_RANGE.
 *
 * @retval LX_OK            The source is at @p source, to be released with lx_source_unref().
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_source_new_dataset(lx_dataset *dataset, lx_source **source, lx_error *error);

/** The memory that receives the values of one column. */
typedef struct lx_target {
    void *data;    /**< Receives record i at data + i * stride; NULL if the column is not wanted. */
    size_t stride; /**< Bytes from one record to the next, at least the column's size. */
} lx_target;

/**
 * Copies records of a caller's source to memory. Several threads call the function at a time.
 *
 * @param indices  @p count indices of records, in any order.
 * @param count    The number of records.
 * @param targets  A target for each column.
 * @param user     As given to lx_source_options_set_fill().
 * @param error    Never NULL; the function describes its failure there.
 * @return #LX_OK; anything else fails the batch with that status.
 */
typedef lx_status (*lx_fill_function)(const uint64_t *indices, size_t count,
                                      const lx_target *targets, void *user, lx_error *error);

/** Releases the user data of a source when the last reference to the source is dropped. */
typedef void (*lx_release_function)(void *user);

/**
 * The options of a source of functions of the caller.
 *
 * @par Thread safety
 * One thread at a time. A source copies what it needs when it is made.
 */
typedef struct lx_source_options lx_source_options;

/** Returns options without functions; NULL when out of memory. */
LX_API lx_source_options *lx_source_options_new(void);

/** Frees options. NULL is allowed. */
LX_API void lx_source_options_free(lx_source_options *options);

/**
 * Sets the function that reads records; every source needs one.
 *
 * @param[in]  options  The options.
 * @param[in]  fill     The function.
 * @param[in]  user     Passed to @p fill and to the function of lx_source_options_set_release();
 *                      may be NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p options or @p fill is NULL.
 */
LX_API lx_status lx_source_options_set_fill(lx_source_options *options, lx_fill_function fill,
                                            void *user, lx_error *error);

/**
 * Sets the function that releases the user data; NULL, the default, for none.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_source_options_set_release(lx_source_options *options,
                                               lx_release_function release, lx_error *error);

/**
 * Sets a text that distinguishes this data from other data of the same form in saved states: a
 * checksum or a version, in UTF-8. NULL, the default, for nothing.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 * @retval LX_ERR_NOMEM     Out of memory; nothing changed.
 */
LX_API lx_status lx_source_options_set_identity(lx_source_options *options, const char *identity,
                                                lx_error *error);

/**
 * Makes a source of functions of the caller.
 *
 * @param[in]  length        The number of records.
 * @param[in]  columns       The columns; copied. The size of a value cannot vary: it is the product
 *                           of dtype and shape, or 0 to have it computed.
 * @param[in]  column_count  The number of columns, at least 1.
 * @param[in]  options       The functions, and the identity. On failure the user data is not
 *                           released.
 * @param[out] source        Receives the source, to be released with lx_source_unref().
 * @param[out] error         Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The source is made.
 * @retval LX_ERR_ARGUMENT  There is no fill function or no column, a name is invalid or repeated, a
 *                          size does not fit, a text is not UTF-8, or a pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_source_new(uint64_t length, const lx_column_info *columns, size_t column_count,
                               const lx_source_options *options, lx_source **source,
                               lx_error *error);

/**
 * Combines the columns of several sources of one length.
 *
 * @param[in]  sources  At least one source; referenced.
 * @param[in]  names    A name for each source, or NULL. A name renames the only column of its
 *                      source; NULL as a name keeps the names of the columns.
 * @param[in]  count    The number of sources.
 * @param[out] source   Receives the source, to be released with lx_source_unref().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The source is made.
 * @retval LX_ERR_MISMATCH  The lengths differ; the error has both.
 * @retval LX_ERR_ARGUMENT  There is no source, two columns have one name, a source of several
 *                          columns is renamed, or a pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_source_new_zip(lx_source *const *sources, const char *const *names,
                                   size_t count, lx_source **source, lx_error *error);

/**
 * Concatenates sources with the same columns: the indices of each source follow those of the
 * previous one.
 *
 * Live parts stay live: a batch reads one snapshot of each. If a record is damaged, the error has
 * its index in its part.
 *
 * @param[in]  sources  At least one source, referenced; their columns have the same names, dtypes
 *                      and shapes in the same order.
 * @param[in]  count    The number of sources, at most 2^32 - 1.
 * @param[out] source   Receives the source, to be released with lx_source_unref().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The source is made.
 * @retval LX_ERR_MISMATCH  The columns of a source differ from those of the first; the error names
 *                          it.
 * @retval LX_ERR_ARGUMENT  There is no source, or a pointer is NULL.
 * @retval LX_ERR_LIMIT     There would be more than 2^64 - 1 records.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_source_new_concat(lx_source *const *sources, size_t count, lx_source **source,
                                      lx_error *error);

/**
 * Selects records of a source: record i of the new source is record @p indices[i] of @p part. It
 * holds a table of the indices in memory, 4 or 8 bytes each.
 *
 * @param[in]  part     The source, referenced.
 * @param[in]  indices  @p count indices, in any order; repeats are allowed. Copied.
 * @param[in]  count    The number of indices, which is the length of the new source.
 * @param[out] source   Receives the source, to be released with lx_source_unref().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The source is made.
 * @retval LX_ERR_RANGE     An index is not below the length of @p part.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_source_new_subset(lx_source *part, const uint64_t *indices, uint64_t count,
                                      lx_source **source, lx_error *error);

/**
 * Makes a source without data that stands for @p source: it has the same length, and no column. It
 * is for a rank that needs no data, such as a middle stage of pipeline parallelism. Its loader goes
 * through the same positions as those that read: batches have rows, indices, a position, an epoch
 * and keys. It reads nothing and allocates no memory for values. Each kind of loader restores the
 * states of the other.
 *
 * The new source keeps the identity of @p source for states, usually less than a kilobyte, and no
 * reference: @p source and its files may be closed.
 *
 * @param[in]  source  The source to stand for.
 * @param[out] null    Receives the new source, to be released with lx_source_unref().
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The source is made.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_source_new_null(const lx_source *source, lx_source **null, lx_error *error);

/** Adds a reference. Returns @p source. */
LX_API lx_source *lx_source_ref(lx_source *source);

/** Drops a reference; dropping the last one frees the source. NULL is allowed. */
LX_API void lx_source_unref(lx_source *source);

/** Returns the number of records. */
LX_API uint64_t lx_source_get_length(const lx_source *source);

/** Returns the number of columns. */
LX_API size_t lx_source_get_column_count(const lx_source *source);

/**
 * Returns the column at @p position, valid as long as the source; NULL if the position is not below
 * lx_source_get_column_count().
 */
LX_API const lx_column_info *lx_source_get_column(const lx_source *source, size_t position);

/**
 * Copies records into the caller's memory, on the calling thread.
 *
 * @param[in]  source   The source.
 * @param[in]  indices  @p count indices of records, in any order; repeats are allowed.
 * @param[in]  count    The number of records.
 * @param[in]  targets  A target for each column.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The records are copied.
 * @retval LX_ERR_RANGE     An index is not below the length.
 * @retval LX_ERR_ARGUMENT  A stride is less than the column's size, or a pointer is NULL.
 * @return Otherwise the status of the source, as lx_dataset_gather() for a dataset.
 */
LX_API lx_status lx_source_fill(lx_source *source, const uint64_t *indices, size_t count,
                                const lx_target *targets, lx_error *error);

/** @} */

LX_END_DECLS

#endif
