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
 * A source is a sequence of records that all have the same columns. It can be a dataset, an .npy
 * file, a file of raw records, token sequences, the caller's own functions, or a combination of
 * sources.
 * @see lx_dataset_open(), lx_error, lx_loader, lx_source_new_megatron(),
 *      lx_source_new_packed_tokens(), lx_tokens, loaderx(7)
 * @{
 */

/**
 * A sequence of records with the same columns.
 *
 * @par Ownership
 * Sources are reference-counted: each constructor returns one reference, and lx_source_unref()
 * drops one. A loader holds its own reference.
 *
 * @par Thread safety
 * Any thread may use a source at any time.
 */
typedef struct lx_source lx_source;

/** A column of a source. The source owns it. */
typedef struct lx_column_info {
    const char *name;      /**< The name: 1 to 64 bytes of UTF-8, unique in the source. */
    lx_dtype dtype;        /**< The type of the values. */
    size_t ndim;           /**< The number of dimensions of a value; 0 for a scalar. */
    const uint64_t *shape; /**< @ref ndim extents in C order; the first is #LX_NONE if it varies, as
                                in lx_schema_add_field(). */
    uint64_t size;         /**< The size of a value in bytes; #LX_NONE if it varies. */
    uint64_t item_size;    /**< The size of an item in bytes, as in lx_field. */
} lx_column_info;

/**
 * Opens a dataset (if @p path is a directory) or an .npy file (if it is a file).
 *
 * An .npy file must have format version 1.0 to 3.0, and contain a little-endian array in C order,
 * with at least one axis and with an element type that ::lx_dtype lists. The first axis is the
 * record axis. The only column is "data". The file is memory-mapped.
 *
 * @param[in]  path     A directory or a file.
 * @param[in]  options  The options for a dataset; NULL for the defaults.
 * @param[out] source   Receives the source; release it with lx_source_unref().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The source was opened.
 * @retval LX_ERR_NOT_FOUND    @p path does not exist.
 * @retval LX_ERR_CORRUPT      The dataset or file is damaged.
 * @retval LX_ERR_UNSUPPORTED  This library cannot read this kind of file or array.
 * @retval LX_ERR_IO           A system call failed; the error reports its errno.
 * @retval LX_ERR_ARGUMENT     A pointer is NULL, or @p options is not NULL for an .npy file.
 * @retval LX_ERR_NOMEM        Out of memory.
 * @return Otherwise, any status that lx_dataset_open() returns.
 */
LX_API lx_status lx_source_open(const char *path, const lx_dataset_options *options,
                                lx_source **source, lx_error *error);

/**
 * Opens and memory-maps a file of raw records: little-endian values stored one after another,
 * without gaps.
 *
 * @param[in]  path    A regular file.
 * @param[in]  column  The only column: its name, and the dtype and shape of a record. A record must
 *                     be at least one byte long.
 * @param[in]  offset  The byte offset of the first record, which is the size of the file's header.
 * @param[out] source  Receives the source; release it with lx_source_unref().
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_ARGUMENT  @p column is invalid, or a pointer is NULL.
 * @retval LX_ERR_CORRUPT   The file ends in the middle of a record, or before @p offset.
 * @return Otherwise, any status that lx_source_open() returns.
 */
LX_API lx_status lx_source_open_flat(const char *path, const lx_column_info *column,
                                     uint64_t offset, lx_source **source, lx_error *error);

/**
 * Creates a source whose records are files, such as the images of a folder. A file is open only
 * while it is read, so reading a record takes several system calls: store many small files in a
 * dataset instead, or pack them into a RecordIO file.
 *
 * @param[in]  folder  The folder; the source keeps its absolute path.
 * @param[in]  names   The names of the files, relative to @p folder; the call copies them. Symbolic
 *                     links are followed.
 * @param[in]  count   The number of files.
 * @param[in]  column  The only column: its name, and the dtype #LX_BYTES or #LX_IMAGE.
 * @param[out] source  Receives the source; release it with lx_source_unref(). Reading a record
 *                     returns #LX_ERR_NOT_FOUND if its file does not exist, and #LX_ERR_CORRUPT if
 *                     it is not a regular file, has more than #LX_MAX_VALUE bytes, or changes
 *                     during the call.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK             The source was created. No file was opened yet.
 * @retval LX_ERR_NOT_FOUND  The folder does not exist, or is not a folder.
 * @retval LX_ERR_ARGUMENT   A name is empty or begins with a slash, @p column is invalid, or a
 *                           pointer is NULL.
 * @retval LX_ERR_IO         A system call failed; the error reports its errno.
 * @retval LX_ERR_NOMEM      Out of memory.
 */
LX_API lx_status lx_source_open_files(const char *folder, const char *const *names, size_t count,
                                      const lx_column_info *column, lx_source **source,
                                      lx_error *error);

/**
 * Creates a source that reads the current snapshot of an open dataset. The source opens its own
 * handle, so the caller may refresh or close @p dataset at any time.
 *
 * With a live dataset (lx_dataset_options_set_live()), all columns of a batch come from one
 * snapshot. It is the newest snapshot at the time when the loader begins to prepare the batch,
 * which may be several batches ahead. The length of the source does not change: records that are
 * appended later are not read. If the dataset becomes shorter, a batch with an index beyond the end
 * of the dataset fails with #LX_ERR_RANGE.
 *
 * @retval LX_OK            The source was created; release it with lx_source_unref().
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_source_new_dataset(lx_dataset *dataset, lx_source **source, lx_error *error);

/** Records to read, and their places in an order, on which random choices may depend. */
typedef struct lx_samples {
    size_t count;              /**< The number of records. */
    const uint64_t *indices;   /**< The index of each record in the source. */
    const uint64_t *positions; /**< The position of each record in the global order of the loader;
                                    where there is no order, the same as @ref indices. */
    uint64_t epoch;            /**< The epoch of the order; 0 where there is no order. */
} lx_samples;

/** The memory that receives the values of one column. */
typedef struct lx_target {
    void *data;    /**< Receives record i at data + i * stride; NULL if the column is not needed or
                        its records vary in size; see lx_source_fill_bytes(). */
    size_t stride; /**< The distance in bytes from one record to the next; at least the column's
                        size. */
} lx_target;

/**
 * Copies records of a caller-defined source to memory. Several threads may call the function at the
 * same time.
 *
 * @param indices  @p count record indices, in any order.
 * @param count    The number of records.
 * @param targets  One target per column.
 * @param user     The pointer that was passed to lx_source_options_set_fill().
 * @param error    Receives the description of a failure; never NULL.
 * @return #LX_OK on success. If the function fails, the batch fails with that status; see
 *         ::lx_transform_function for exceptions.
 */
typedef lx_status (*lx_fill_function)(const uint64_t *indices, size_t count,
                                      const lx_target *targets, void *user, lx_error *error);

/** Releases the user data of a source; called when the last reference to the source is dropped. */
typedef void (*lx_release_function)(void *user);

/**
 * The options of a caller-defined source.
 *
 * @par Thread safety
 * Only one thread at a time may use the options. A source copies what it needs when it is created.
 */
typedef struct lx_source_options lx_source_options;

/** Returns new options without functions; NULL if out of memory. */
LX_API lx_source_options *lx_source_options_new(void);

/** Frees the options. NULL is allowed. */
LX_API void lx_source_options_free(lx_source_options *options);

/**
 * Sets the function that reads records. This option is required.
 *
 * @param[in]  options  The options.
 * @param[in]  fill     The function.
 * @param[in]  user     The pointer to pass to @p fill and to the function set with
 *                      lx_source_options_set_release(); may be NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options or @p fill is NULL.
 */
LX_API lx_status lx_source_options_set_fill(lx_source_options *options, lx_fill_function fill,
                                            void *user, lx_error *error);

/**
 * Sets the function that releases the user data; NULL, the default, means none.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_source_options_set_release(lx_source_options *options,
                                               lx_release_function release, lx_error *error);

/**
 * Sets a UTF-8 text that identifies the data, such as a checksum or a version. The text lets a
 * saved state distinguish this data from other data of the same form. NULL, the default, means
 * none.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 * @retval LX_ERR_NOMEM     Out of memory; nothing changed.
 */
LX_API lx_status lx_source_options_set_identity(lx_source_options *options, const char *identity,
                                                lx_error *error);

/**
 * Returns the sizes of records in a variable-size column of a caller-defined source. Several
 * threads may call the function at the same time.
 *
 * @param column   The position of the column.
 * @param indices  @p count record indices, in any order.
 * @param count    The number of records.
 * @param offsets  Receives @p count + 1 offsets, as from lx_source_get_sizes().
 * @param user     The pointer that was passed to lx_source_options_set_fill().
 * @param error    Receives the description of a failure; never NULL.
 * @return #LX_OK on success; otherwise as for ::lx_fill_function.
 */
typedef lx_status (*lx_sizes_function)(size_t column, const uint64_t *indices, size_t count,
                                       uint64_t *offsets, void *user, lx_error *error);

/**
 * Copies records of a caller-defined source, in a column whose records vary in size. Several
 * threads may call the function at the same time.
 *
 * @param column   The position of the column.
 * @param indices  @p count record indices, in any order.
 * @param count    The number of records.
 * @param offsets  The offsets that the ::lx_sizes_function returned for these records, but perhaps
 *                 increased by the same number.
 * @param out      Receives record i at @p out + offsets[i].
 * @param user     The pointer that was passed to lx_source_options_set_fill().
 * @param error    Receives the description of a failure; never NULL.
 * @return #LX_OK on success; otherwise as for ::lx_fill_function.
 */
typedef lx_status (*lx_fill_bytes_function)(size_t column, const uint64_t *indices, size_t count,
                                            const uint64_t *offsets, void *out, void *user,
                                            lx_error *error);

/**
 * Sets the functions that read columns whose records vary in size. The source must not have such a
 * column without them.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 */
LX_API lx_status lx_source_options_set_varying(lx_source_options *options, lx_sizes_function sizes,
                                               lx_fill_bytes_function fill_bytes, lx_error *error);

/**
 * Creates a source from the caller's functions.
 *
 * @param[in]  length        The number of records.
 * @param[in]  columns       The columns. The call copies them. Set the sizes to what follows from
 *                           dtype and shape, or to 0 to have them computed.
 * @param[in]  column_count  The number of columns, at least 1.
 * @param[in]  options       The functions and the identity. On failure, the user data is not
 *                           released.
 * @param[out] source        Receives the source; release it with lx_source_unref().
 * @param[out] error         Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The source was created.
 * @retval LX_ERR_ARGUMENT  There is no fill function or no column, the records of a column vary in
 *                          size but lx_source_options_set_varying() was not called, a name is
 *                          invalid or repeated, a size does not match its dtype and shape, a text
 *                          is not UTF-8, or a pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_source_new(uint64_t length, const lx_column_info *columns, size_t column_count,
                               const lx_source_options *options, lx_source **source,
                               lx_error *error);

/**
 * Combines the columns of several sources that have the same length.
 *
 * @param[in]  sources  At least one source; the call takes references.
 * @param[in]  names    A name for each source, or NULL. A name renames the only column of its
 *                      source; of a source with several columns, the column x of one that is named
 *                      a becomes a.x. A NULL name keeps the column names of its source.
 * @param[in]  count    The number of sources.
 * @param[out] source   Receives the source; release it with lx_source_unref().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The source was created.
 * @retval LX_ERR_MISMATCH  The lengths differ; the error reports both.
 * @retval LX_ERR_ARGUMENT  @p count is 0, two columns have the same name, a name is empty, too long
 *                          or not UTF-8, or a pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_source_new_zip(lx_source *const *sources, const char *const *names,
                                   size_t count, lx_source **source, lx_error *error);

/**
 * Concatenates sources with the same columns: the indices of each source follow those of the
 * previous one.
 *
 * Live parts stay live: a batch reads one snapshot of each part. If a record is damaged, the error
 * reports the record's index within its part.
 *
 * @param[in]  sources  At least one source; the call takes references. Their columns must have the
 *                      same names, dtypes and shapes in the same order.
 * @param[in]  count    The number of sources, at most 2^32 - 1.
 * @param[out] source   Receives the source; release it with lx_source_unref().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The source was created.
 * @retval LX_ERR_MISMATCH  The columns of a source differ from those of the first source; the error
 *                          names the difference.
 * @retval LX_ERR_ARGUMENT  @p count is 0, or a pointer is NULL.
 * @retval LX_ERR_LIMIT     There would be more than 2^64 - 1 records.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_source_new_concat(lx_source *const *sources, size_t count, lx_source **source,
                                      lx_error *error);

/**
 * Selects records of a source: record i of the new source is record @p indices[i] of @p part. The
 * new source keeps the indices in memory, using 4 or 8 bytes for each.
 *
 * @param[in]  part     The source; the call takes a reference.
 * @param[in]  indices  @p count indices, in any order; repeats are allowed. The call copies them.
 * @param[in]  count    The number of indices, which is the length of the new source.
 * @param[out] source   Receives the source; release it with lx_source_unref().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The source was created.
 * @retval LX_ERR_RANGE     An index is not less than the length of @p part.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_source_new_subset(lx_source *part, const uint64_t *indices, uint64_t count,
                                      lx_source **source, lx_error *error);

/**
 * Creates a source without data that stands in for @p source: it has the same length, but no
 * columns. Use it on ranks that need no data, such as a middle stage of pipeline parallelism. A
 * loader over the new source goes through the same positions as a loader that reads data: its
 * batches have rows, indices, a position, an epoch and keys. The loader reads nothing, and
 * allocates no memory for values. Each of the two loaders can restore states that the other saved.
 *
 * For saved states, the new source keeps the identity of @p source, which usually takes less than a
 * kilobyte. It does not keep a reference: you may release @p source and close its files.
 *
 * @param[in]  source  The source to stand in for.
 * @param[out] null    Receives the new source; release it with lx_source_unref().
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The source was created.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_source_new_null(const lx_source *source, lx_source **null, lx_error *error);

/**
 * Writes the identity of a source as JSON (version 1), for saved states of programs that read
 * records in an order of their own. The state of a loader includes it. loaderx-state(5) describes
 * the format.
 *
 * @param[in]  source  The source.
 * @param[out] text    Receives the NUL-terminated text; may be NULL if @p size is 0.
 * @param[in]  size    The size of @p text in bytes; 0 to query only the length.
 * @param[out] length  Receives the length of the whole text, excluding the NUL; may be NULL.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The identity was written to @p text, or only the length was queried.
 * @retval LX_ERR_LIMIT     @p size is too small: it must be at least the length plus 1. @p text is
 *                          set to an empty string.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_source_save(const lx_source *source, char *text, size_t size, size_t *length,
                                lx_error *error);

/**
 * Checks whether a source matches an identity that lx_source_save() wrote, by the same rules as
 * lx_loader_restore().
 *
 * @param[in]  source   The source; all of its columns are compared.
 * @param[in]  text     The identity.
 * @param[in]  changed  Whether to accept records that have changed, as lx_loader_restore_changed()
 *                      does. Their number must be the same in any case.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The source has the same records.
 * @retval LX_ERR_MISMATCH     The identity is that of a different source, or records were appended,
 *                             changed or deleted; the error names the difference.
 * @retval LX_ERR_UNSUPPORTED  The identity has an unsupported format version.
 * @retval LX_ERR_CORRUPT      @p text is not an identity, or was modified.
 * @retval LX_ERR_ARGUMENT     A pointer is NULL.
 * @retval LX_ERR_NOMEM        Out of memory.
 */
LX_API lx_status lx_source_match(const lx_source *source, const char *text, bool changed,
                                 lx_error *error);

/** Adds a reference and returns @p source. */
LX_API lx_source *lx_source_ref(lx_source *source);

/** Drops a reference; dropping the last one frees the source. NULL is allowed. */
LX_API void lx_source_unref(lx_source *source);

/** Returns the number of records. */
LX_API uint64_t lx_source_get_length(const lx_source *source);

/** Returns the number of columns. */
LX_API size_t lx_source_get_column_count(const lx_source *source);

/**
 * Returns the column at @p position; NULL if @p position is not less than
 * lx_source_get_column_count(). The column is valid as long as the source is.
 */
LX_API const lx_column_info *lx_source_get_column(const lx_source *source, size_t position);

/**
 * Copies records to the caller's memory, on the calling thread.
 *
 * @param[in]  source   The source.
 * @param[in]  indices  @p count record indices, in any order; repeats are allowed.
 * @param[in]  count    The number of records.
 * @param[in]  targets  One target per column.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The records were copied.
 * @retval LX_ERR_RANGE     An index is not less than the length.
 * @retval LX_ERR_ARGUMENT  A stride is less than the column's size, or a pointer is NULL.
 * @return Otherwise, the status that the source returned; for a dataset, any status that
 *         lx_dataset_gather() returns.
 */
LX_API lx_status lx_source_fill(lx_source *source, const uint64_t *indices, size_t count,
                                const lx_target *targets, lx_error *error);

/**
 * Copies records as lx_source_fill() does, at given places of an order. Only the records of a
 * source with an ::lx_map_function depend on their places.
 */
LX_API lx_status lx_source_fill_samples(lx_source *source, const lx_samples *samples,
                                        const lx_target *targets, lx_error *error);

/**
 * Copies records as lx_source_fill_samples() does, with zeros for missing values, and also tells
 * which values are present. If the source reads a live dataset, all values come from one snapshot.
 *
 * @param[in]  source   The source.
 * @param[in]  samples  The records, in any order; repeats are allowed.
 * @param[in]  targets  One target per column.
 * @param[out] present  One pointer per column; NULL if the column is not needed. The memory
 *                      receives a byte for each record: 0 if the value is missing, otherwise 1.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @return Any status that lx_source_fill() returns.
 */
LX_API lx_status lx_source_fill_present(lx_source *source, const lx_samples *samples,
                                        const lx_target *targets, uint8_t *const *present,
                                        lx_error *error);

/**
 * Returns the sizes of records in a column whose records vary in size, in the form of the offsets
 * that lx_source_fill_bytes() takes.
 *
 * @param[in]  source   The source.
 * @param[in]  column   The position of a column whose size is #LX_NONE.
 * @param[in]  indices  @p count record indices, in any order; repeats are allowed.
 * @param[in]  count    The number of records.
 * @param[out] offsets  Receives @p count + 1 offsets, starting with 0: record i occupies the bytes
 *                      [offsets[i], offsets[i + 1]) of a buffer for all of the records.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The offsets were stored.
 * @retval LX_ERR_RANGE     An index is not less than the length.
 * @retval LX_ERR_ARGUMENT  There is no such column, its records have the same size, or a pointer is
 *                          NULL.
 * @return Otherwise, the status that the source returned; for a dataset, any status that
 *         lx_dataset_get_sizes() returns.
 */
LX_API lx_status lx_source_get_sizes(lx_source *source, size_t column, const uint64_t *indices,
                                     size_t count, uint64_t *offsets, lx_error *error);

/**
 * Copies records of a column whose records vary in size, one after another, to the offsets that
 * lx_source_get_sizes() returned.
 *
 * @param[in]  source   The source.
 * @param[in]  column   The position of a column whose size is #LX_NONE.
 * @param[in]  indices  The same indices as for lx_source_get_sizes().
 * @param[in]  count    The number of records.
 * @param[in]  offsets  The offsets from lx_source_get_sizes().
 * @param[out] out      Receives the records; may be NULL if offsets[count] is 0.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_MISMATCH  The size of a record differs from @p offsets, because the source reads a
 *                          live dataset: get the sizes again.
 * @return Otherwise, any status that lx_source_get_sizes() returns.
 */
LX_API lx_status lx_source_fill_bytes(lx_source *source, size_t column, const uint64_t *indices,
                                      size_t count, const uint64_t *offsets, void *out,
                                      lx_error *error);

/**
 * Copies records as lx_source_fill_bytes() does, at given places of an order. Only the outputs of
 * an ::lx_map_function depend on their places.
 *
 * @param[in]  source   The source.
 * @param[in]  column   The position of a column whose size is #LX_NONE.
 * @param[in]  samples  The records, with the same indices as for lx_source_get_sizes().
 * @param[in]  offsets  The offsets from lx_source_get_sizes().
 * @param[out] out      Receives the records; may be NULL if the last offset is 0.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @return Any status that lx_source_fill_bytes() returns.
 */
LX_API lx_status lx_source_fill_sample_bytes(lx_source *source, size_t column,
                                             const lx_samples *samples, const uint64_t *offsets,
                                             void *out, lx_error *error);

/** @} */

LX_END_DECLS

#endif
