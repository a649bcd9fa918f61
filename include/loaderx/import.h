/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Importing files of other formats into a dataset.
 */
#ifndef LOADERX_IMPORT_H
#define LOADERX_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/progress.h>
#include <loaderx/schema.h>
#include <loaderx/writer.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_importer Import files into a dataset
 *
 * An importer reads its inputs in the order in which they were added, and appends their records to
 * a dataset. loaderx-import(1) describes the formats, and how each makes fields from its records.
 *
 * @code
 * lx_importer *importer = lx_importer_new();
 * lx_importer_set_format(importer, "jsonl", &error);
 * lx_importer_add_input(importer, "reviews.jsonl.gz", &error);
 * lx_importer_set_field(importer, "stars", "float32", &error);
 * if (lx_importer_run(importer, "reviews", NULL, &error) != LX_OK)
 *     return complain(&error); // the first failure of the four calls
 * lx_importer_free(importer);
 * @endcode
 *
 * No importer executes what it reads, and no name from inside a file is used as a path.
 * @see loaderx-import(1), lx_error, lx_progress_function(), lx_schema, lx_writer_options
 * @{
 */

/**
 * An import: what to read, how to read it, and what it did.
 *
 * @par Thread safety
 * Only one thread at a time may use an importer. lx_importer_run() reads on the calling thread; the
 * threads of the writer's executor compress and store.
 */
typedef struct lx_importer lx_importer;

/** What to do about a record that cannot be read or does not fit the fields. */
typedef enum lx_bad_policy {
    LX_BAD_STOP = 0, /**< The import fails; the default. */
    LX_BAD_SKIP = 1  /**< The record is left out and listed; see lx_importer_get_bad(). If an input
                          or the rest of it is damaged or missing, it is left out as one bad
                          record. */
} lx_bad_policy;

/** The number of bad records that are listed; the rest are only counted. */
#define LX_MAX_BAD_LISTED 1000

/** The largest record that is accepted unless lx_importer_set_record_limit() sets another limit, in
 * bytes: 1 GiB. */
#define LX_DEFAULT_RECORD_LIMIT ((uint64_t)1 << 30)

/** The number of bytes after which an import commits unless lx_importer_set_commit_size() sets
 * another number: 256 MiB. */
#define LX_DEFAULT_COMMIT_SIZE ((uint64_t)256 << 20)

/** Returns a new importer without inputs; NULL if out of memory. */
LX_API lx_importer *lx_importer_new(void);

/** Frees an importer. NULL is allowed. */
LX_API void lx_importer_free(lx_importer *importer);

/**
 * Sets the format of the inputs.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  No format has this name, and the error lists the names; or a pointer is
 *                          NULL.
 */
LX_API lx_status lx_importer_set_format(lx_importer *importer, const char *name, lx_error *error);

/**
 * Sets an option of the format, such as "delimiter" of "csv". Set the format first.
 *
 * @retval LX_OK             Success.
 * @retval LX_ERR_NOT_FOUND  The format has no option with this name; the error lists its options.
 * @retval LX_ERR_STATE      No format is set.
 * @retval LX_ERR_ARGUMENT   A pointer is NULL. lx_importer_run() checks the value.
 */
LX_API lx_status lx_importer_set_option(lx_importer *importer, const char *name, const char *value,
                                        lx_error *error);

/**
 * Adds an input: a file or, for some formats, a directory; "-" is the standard input. A file may be
 * compressed with gzip or zstd, which is recognized by its first bytes, and may be a pipe.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_importer_add_input(lx_importer *importer, const char *path, lx_error *error);

/**
 * Sets the type of a field. The types of other fields are derived from the first records: up to
 * 1,000 of them, within 4 MiB. A record that does not fit the types is a bad record, so set a type
 * if the first records do not show it. If no record has the field, lx_importer_run() fails, because
 * the name may be misspelt: before the import if the first records are all, and otherwise when the
 * import is complete. If it appends, the inputs may lack fields of the dataset.
 *
 * @param[in] importer  The importer.
 * @param[in] name      The name of the field.
 * @param[in] type      A name from lx_dtype_get_name(), which may be followed by a shape, as in
 *                      "float32[3,4]" or, if the first extent varies, "int32[?]"; "bytes"; "str",
 *                      which must be UTF-8; "json", which can store any value; "image", an encoded
 *                      image; or "ignore", which leaves the field out. Numbers that are text are
 *                      converted only to "bool", integers, "float32" and "float64"; the last two
 *                      round them. A derived type rounds no whole number.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  The type is invalid, the field already has a type, or a pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_importer_set_field(lx_importer *importer, const char *name, const char *type,
                                       lx_error *error);

/**
 * Sets how the values of a field of a new dataset are stored.
 *
 * @param[in] importer     The importer.
 * @param[in] name         The name of the field; NULL: all fields whose values vary in size for
 *                         which this function is not called.
 * @param[in] compression  The same as for lx_schema_add_field().
 * @param[in] level        The same as for lx_schema_set_compression().
 * @param[in] dictionary   The same as for lx_schema_set_compression().
 * @param[out] error       Receives the first failure; may be NULL.
 *
 * @retval LX_OK            Success. lx_importer_run() checks the arguments.
 * @retval LX_ERR_ARGUMENT  @p importer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_importer_set_compression(lx_importer *importer, const char *name,
                                             lx_compression compression, int level,
                                             uint32_t dictionary, lx_error *error);

/**
 * Sets what to do about bad records.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p policy is invalid, or @p importer is NULL.
 */
LX_API lx_status lx_importer_set_bad_policy(lx_importer *importer, lx_bad_policy policy,
                                            lx_error *error);

/**
 * Sets the size in bytes above which a record is a bad record. It bounds the memory that a hostile
 * input can take: about three times this size.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p bytes is 0 or more than #LX_MAX_VALUE, or @p importer is NULL.
 */
LX_API lx_status lx_importer_set_record_limit(lx_importer *importer, uint64_t bytes,
                                              lx_error *error);

/**
 * Sets the number of bytes of values after which the import commits. An interrupted import loses at
 * most this much work.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p bytes is 0, or @p importer is NULL.
 */
LX_API lx_status lx_importer_set_commit_size(lx_importer *importer, uint64_t bytes,
                                             lx_error *error);

/**
 * Sets whether to append to an existing dataset, which must have exactly the fields of the inputs,
 * rather than to create one.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p importer is NULL.
 */
LX_API lx_status lx_importer_set_append(lx_importer *importer, bool append, lx_error *error);

/**
 * Sets whether to continue an interrupted import. The importer must have the same inputs, format
 * and settings as the one that was interrupted; the result is the same dataset as without the
 * interruption. If nothing was interrupted, the call starts the import if the dataset does not
 * exist, and otherwise changes nothing, because the import was complete. (With
 * lx_importer_set_append(), it fails in that case: it cannot know whether it was.)
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p importer is NULL.
 */
LX_API lx_status lx_importer_set_resume(lx_importer *importer, bool resume, lx_error *error);

/**
 * Sets a function that is called about every 4 MiB, and several times a second while the import
 * waits for a pipe. It counts the bytes of the input files, as they are stored; the total is
 * #LX_NONE if an input is not a regular file.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p importer is NULL.
 */
LX_API lx_status lx_importer_set_progress(lx_importer *importer, lx_progress_function progress,
                                          void *user, lx_error *error);

/**
 * Imports the inputs. The dataset is committed from time to time
 * (lx_importer_set_commit_size()). The entry #LX_CARD_IMPORT of its card says how far each commit
 * got; it is removed at the end. After a failure, after a kill, and after a crash of the machine,
 * the dataset contains a first part of the records, and lx_importer_set_resume() continues from
 * there, unless records were appended, replaced or deleted in the meantime.
 *
 * @param[in]  importer  The importer.
 * @param[in]  path      The directory of the dataset.
 * @param[in]  options   The options of the writer; NULL for the defaults.
 * @param[out] error     Receives the first failure; may be NULL. For a bad record, it has the path
 *                       of the input, the number of the record in it, counted from 0, and the
 *                       offset of the record after decompression. An input that cannot be opened
 *                       has no record and no offset.
 *
 * @retval LX_OK               All records were imported.
 * @retval LX_ERR_CORRUPT      A record or an input is damaged, or the entry from which to continue.
 * @retval LX_ERR_MISMATCH     A record does not fit the fields, the fields do not fit the dataset,
 *                             or the importer differs from the one that was interrupted, or the
 *                             dataset was changed since; or the dataset to append to does not say
 *                             which class each label is; or the members of a record are in two
 *                             places of tar archives, even if bad records are skipped.
 * @retval LX_ERR_LIMIT        A record is larger than the limit, or has too many fields; or a pipe
 *                             begins with too many bytes without a good record, even if bad ones
 *                             are skipped: they must be kept until the fields are known.
 * @retval LX_ERR_UNSUPPORTED  An input uses a feature that is not supported, which the error names;
 *                             text cannot be converted to the type of a field; or there is a file
 *                             PATH.import, which an import of version 1.0.0-rc1 left.
 * @retval LX_ERR_NOT_FOUND    An input does not exist; or there is no dataset to append to, or no
 *                             interrupted import to continue.
 * @retval LX_ERR_BUSY         Another import into the dataset, or another writer, is active.
 * @retval LX_ERR_STATE        An earlier import was interrupted, and lx_importer_set_resume() was
 *                             not called; or no format or no input is set.
 * @retval LX_ERR_ARGUMENT     The value of an option is invalid, a field for which a type or a
 *                             compression is set does not exist, the inputs have no field, or a
 *                             pointer is NULL.
 * @retval LX_ERR_IO           A system call failed; the error reports its errno.
 * @retval LX_ERR_NOMEM        Out of memory.
 * @return Otherwise, any status that the progress function, lx_writer_create(), lx_writer_open(),
 *         lx_writer_extend() or lx_writer_end_transaction() returns.
 */
LX_API lx_status lx_importer_run(lx_importer *importer, const char *path,
                                 const lx_writer_options *options, lx_error *error);

/** What the last call of lx_importer_run() did, even if it failed. New members replace reserved
 * ones. */
typedef struct lx_import_result {
    uint64_t records;     /**< The number of records appended by this call. */
    uint64_t resumed;     /**< The number of records that the interrupted import had committed. */
    uint64_t length;      /**< The number of records now in the dataset. */
    uint64_t bytes;       /**< The number of bytes of the values that this call appended. */
    uint64_t bad;         /**< The number of bad records that were skipped, including those that the
                               interrupted import skipped. */
    uint64_t reserved[7]; /**< Zero. */
} lx_import_result;

/** Copies what the last lx_importer_run() did. */
LX_API void lx_importer_get_result(const lx_importer *importer, lx_import_result *result);

/**
 * Returns the bad record number @p i that the last call of lx_importer_run() skipped, counted from
 * 0; NULL if fewer were skipped or, of more than #LX_MAX_BAD_LISTED, listed. The error contains the
 * path, the record, the offset and the reason. It is valid until the importer is used again. If an
 * import continues, the list begins with the input at which it was interrupted.
 */
LX_API const lx_error *lx_importer_get_bad(const lx_importer *importer, size_t i);

/** @} */

LX_END_DECLS

#endif
