/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief zrecord: a store of N records of several fields in a directory.
 *
 * Three objects. An ::lx_schema names the fields. An ::lx_writer, one a dataset at a time,
 * appends records and commits them. An ::lx_dataset reads what was committed, in any number of
 * processes and threads, beside the writer. The files are described in doc/zrecord-format.md.
 *
 * Records have no order but their index; an order in time or by key belongs inside the records.
 *
 * A dataset's bytes are never trusted: whatever a damaged or hostile file holds, a call answers
 * with #LX_ERR_CORRUPT that names field, record, file and offset. The exception is a file that
 * somebody cuts while it is mapped, which the system answers with SIGBUS, as for every mapping.
 */
#ifndef LOADERX_ZRECORD_H
#define LOADERX_ZRECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/dtype.h>
#include <loaderx/executor.h>
#include <loaderx/export.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/* ------------------------------------------------------------------ schema */

/** How the payloads of a field are kept. */
typedef enum lx_compression {
    LX_RAW = 0,  /**< As they are; can be read without a copy. */
    LX_FLATE = 1 /**< One raw Deflate stream (RFC 1951) a record, where that is smaller. */
} lx_compression;

/** Longest name of a field, without the NUL. */
#define LX_FIELD_NAME_MAX 64
/** Most fields of a dataset: comparing their names takes time quadratic in them. */
#define LX_FIELDS_MAX 4096
/** Most dimensions of a dense field. */
#define LX_NDIM_MAX 64
/** Largest record of one field, in bytes. */
#define LX_RECORD_MAX UINT32_MAX

/** One field, as lx_schema_get_field() shows it. Owned by the schema; new members come last. */
typedef struct lx_field {
    const char *name;           /**< 1 to 64 of A-Z a-z 0-9 _ . - without a leading dot. */
    lx_dtype dtype;             /**< #LX_BYTES, or the type of a dense field's elements. */
    size_t ndim;                /**< Dimensions of a record; 0 for a scalar and for bytes. */
    const uint64_t *shape;      /**< @ref ndim extents, C order. */
    uint64_t size;              /**< Bytes a record; #LX_NONE where they vary (bytes). */
    lx_compression compression; /**< How payloads are kept. */
    uint32_t align;             /**< Payloads lie at multiples of this, a power of two <= 4096. */
    uint32_t id;                /**< Never used twice within a dataset. */
} lx_field;

/**
 * The fields of a dataset, in order.
 * @par Thread safety
 * One thread at a time while fields are added; after that any number.
 */
typedef struct lx_schema lx_schema;

/** A schema without fields; NULL when out of memory. */
LX_API lx_schema *lx_schema_new(void);

/** Ends a schema of lx_schema_new(); NULL is nothing. */
LX_API void lx_schema_free(lx_schema *schema);

/**
 * Adds a field.
 *
 * @param[in] schema       A schema of lx_schema_new().
 * @param[in] name         Its name, unique in the schema.
 * @param[in] dtype        #LX_BYTES for strings of bytes of any length, else dense.
 * @param[in] shape        @p ndim extents of a dense record; NULL if @p ndim is 0.
 * @param[in] ndim         0 for a scalar and for #LX_BYTES.
 * @param[in] compression  How payloads are kept.
 * @param[out] error       Where a failure is told; may be NULL.
 *
 * @retval LX_ERR_ARGUMENT  The name is not valid, the dtype or compression is none, the record
 *                          is larger than #LX_RECORD_MAX, or bytes were given a shape.
 * @retval LX_ERR_EXISTS    There is a field of that name.
 * @retval LX_ERR_LIMIT     There are #LX_FIELDS_MAX fields.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_schema_add_field(lx_schema *schema, const char *name, lx_dtype dtype,
                                     const uint64_t *shape, size_t ndim,
                                     lx_compression compression, lx_error *error);

/** Number of fields. */
LX_API size_t lx_schema_get_count(const lx_schema *schema);

/** Field number @p position, valid as long as the schema; NULL if there are not so many. */
LX_API const lx_field *lx_schema_get_field(const lx_schema *schema, size_t position);

/**
 * Finds a field by its name.
 * @retval LX_ERR_NOT_FOUND  There is none; the error lists the names that there are.
 */
LX_API lx_status lx_schema_find_field(const lx_schema *schema, const char *name,
                                      size_t *position, lx_error *error);

/* ------------------------------------------------------------------ writer */

/** What survives what. See doc/zrecord-format.md, "Durability". */
typedef enum lx_durability {
    /** A commit is synced before it returns: it survives a power loss. */
    LX_DURABILITY_FULL = 0,
    /** A commit survives kill -9 at once, and a power loss within about a second. */
    LX_DURABILITY_PERIODIC = 1,
    /** A commit survives kill -9; a power loss only after lx_writer_sync() or close. */
    LX_DURABILITY_NONE = 2
} lx_durability;

/**
 * How a writer works; defaults come from lx_writer_options_new().
 * @par Thread safety
 * One thread at a time. A writer copies what it needs: the options may go once it is open.
 */
typedef struct lx_writer_options lx_writer_options;

/** The defaults: periodic durability, chunks of 1,048,576 records or 1 GiB, level 6, an executor
 * of its own. NULL when out of memory. */
LX_API lx_writer_options *lx_writer_options_new(void);

/** Ends options; NULL is nothing. */
LX_API void lx_writer_options_free(lx_writer_options *options);

/** Sets what survives what; #LX_ERR_ARGUMENT for a value that is none. */
LX_API lx_status lx_writer_options_set_durability(lx_writer_options *options,
                                                  lx_durability durability, lx_error *error);

/**
 * Sets when a chunk is full; counts for lx_writer_create() alone.
 *
 * @param[in] options  Options.
 * @param[in] records  Payloads a chunk, 1 to 2^32 - 1.
 * @param[in] bytes    Bytes a chunk, 4096 to 2^40. A larger record gets a chunk of its own.
 * @param[out] error   Where a failure is told; may be NULL.
 * @retval LX_ERR_ARGUMENT  One of them is out of its range.
 */
LX_API lx_status lx_writer_options_set_chunk(lx_writer_options *options, uint64_t records,
                                             uint64_t bytes, lx_error *error);

/** Sets the effort of flate, 1 (fast) to 9 (small); #LX_ERR_ARGUMENT for anything else. */
LX_API lx_status lx_writer_options_set_level(lx_writer_options *options, int level,
                                             lx_error *error);

/** Has the writer's tasks run by @p executor, which is referenced; NULL: by one of its own. */
LX_API lx_status lx_writer_options_set_executor(lx_writer_options *options,
                                                lx_executor *executor, lx_error *error);

/**
 * Appends to a dataset.
 *
 * Only one writer can have a dataset open. What it appends becomes visible and durable by
 * commits, each of them whole or not at all. After a failed append nothing more is taken until
 * lx_writer_rollback(); after a failed sync the writer is done with (#LX_ERR_POISONED), and what
 * was committed before is found by opening the dataset again.
 *
 * @par Thread safety
 * Any thread may call, one waits for the other. A child of fork() gets #LX_ERR_FORKED.
 */
typedef struct lx_writer lx_writer;

/**
 * Creates a dataset and opens it for writing.
 *
 * @param[in]  path     Directory to make; it may exist if it is empty or holds what an
 *                      interrupted creation left.
 * @param[in]  schema   At least one field; copied.
 * @param[in]  options  NULL for the defaults.
 * @param[out] writer   To be closed with lx_writer_close().
 * @param[out] error    Where a failure is told; may be NULL.
 *
 * @retval LX_ERR_EXISTS    There is a dataset, or something else, at @p path.
 * @retval LX_ERR_BUSY      Another writer is creating it.
 * @retval LX_ERR_ARGUMENT  The schema has no field.
 * @retval LX_ERR_IO        The system refused; errno tells why.
 */
LX_API lx_status lx_writer_create(const char *path, const lx_schema *schema,
                                  const lx_writer_options *options, lx_writer **writer,
                                  lx_error *error);

/**
 * Opens a dataset to append to it. What a crash left behind is made durable or cut off first.
 *
 * @param[in]  path     The dataset's directory.
 * @param[in]  options  NULL for the defaults; set_chunk does not count.
 * @param[out] writer   To be closed with lx_writer_close().
 * @param[out] error    Where a failure is told; may be NULL.
 *
 * @retval LX_ERR_NOT_FOUND    There is no dataset at @p path.
 * @retval LX_ERR_BUSY         Another writer has it open; the error tells its process.
 * @retval LX_ERR_STATE        It is sealed.
 * @retval LX_ERR_CORRUPT      meta.json or LOG is damaged; the error tells where.
 * @retval LX_ERR_UNSUPPORTED  Its format or a feature of it is newer than this library.
 * @retval LX_ERR_LIMIT        It has more than #LX_FIELDS_MAX fields.
 * @retval LX_ERR_IO           The system refused; errno tells why.
 */
LX_API lx_status lx_writer_open(const char *path, const lx_writer_options *options,
                                lx_writer **writer, lx_error *error);

/** A value of one field, to be written. Nothing is kept of it once the call returns. */
typedef struct lx_value {
    const void *data; /**< Its bytes; may be NULL if @ref size is 0 or #LX_NONE. */
    uint64_t size;    /**< How many; the field's size for a dense one; #LX_NONE: it is missing. */
} lx_value;

/**
 * Appends one record.
 *
 * @param[in]  writer  A writer.
 * @param[in]  values  One for each field, in the schema's order.
 * @param[out] index   The record's index; may be NULL.
 * @param[out] error   Where a failure is told; may be NULL.
 *
 * @retval LX_ERR_ARGUMENT  A value does not have its field's size; nothing was appended.
 * @retval LX_ERR_LIMIT     A value is larger than #LX_RECORD_MAX; nothing was appended.
 * @retval LX_ERR_IO        This or an earlier append could not be stored (a full disk, say); all
 *                          since the last commit is to be undone by lx_writer_rollback().
 * @retval LX_ERR_POISONED  An earlier sync failed.
 */
LX_API lx_status lx_writer_append(lx_writer *writer, const lx_value *values, uint64_t *index,
                                  lx_error *error);

/** Values of one field for many records, to be written. */
typedef struct lx_values {
    /** Dense: record after record, each of the field's size. Bytes: the values joined. NULL: all
     * missing. */
    const void *data;
    /** Bytes: count + 1 places in @ref data, ascending; value i is [offsets[i], offsets[i + 1]).
     * Dense: NULL. */
    const uint64_t *offsets;
    /** One byte a record, 0 for a missing one; NULL: none is missing. */
    const uint8_t *present;
} lx_values;

/**
 * Appends many records.
 *
 * @param[in]  writer   A writer.
 * @param[in]  count    How many.
 * @param[in]  columns  One for each field, in the schema's order.
 * @param[out] first    Index of the first of them; may be NULL.
 * @param[out] error    Where a failure is told; may be NULL.
 * @retval LX_ERR_LIMIT  There would be more than 2^59 - 1 records, too; nothing was appended.
 * @return Else as lx_writer_append(); arguments are checked for all records before any is
 *         appended.
 */
LX_API lx_status lx_writer_extend(lx_writer *writer, uint64_t count, const lx_values *columns,
                                  uint64_t *first, lx_error *error);

/**
 * Makes everything appended so far visible to readers, at once, and durable as the writer's
 * options say. Within a transaction it is #LX_ERR_STATE.
 *
 * @retval LX_ERR_IO        Not committed, for instance for want of room; lx_writer_rollback()
 *                          makes the writer usable again.
 * @retval LX_ERR_POISONED  A sync failed: whether this commit survives is not known.
 */
LX_API lx_status lx_writer_commit(lx_writer *writer, lx_error *error);

/** Commits, if no transaction is open, and makes all that is committed durable now. */
LX_API lx_status lx_writer_sync(lx_writer *writer, lx_error *error);

/**
 * Begins a transaction: until lx_writer_end() nothing is committed, however much is appended.
 * What was appended before is committed first. #LX_ERR_STATE if one is open already.
 */
LX_API lx_status lx_writer_begin(lx_writer *writer, lx_error *error);

/** Ends a transaction by committing it. #LX_ERR_STATE if none is open. */
LX_API lx_status lx_writer_end(lx_writer *writer, lx_error *error);

/** Undoes all that was appended since the last commit and ends the transaction, if one is open. */
LX_API lx_status lx_writer_rollback(lx_writer *writer, lx_error *error);

/**
 * Commits and seals: the tables hold every record, all files have exactly the bytes that count,
 * and meta.json has their lengths and CRCs. Nothing can be appended after that. It is also the
 * fastest form to open.
 *
 * @retval LX_ERR_STATE        A transaction is open.
 * @retval LX_ERR_UNSUPPORTED  The log holds changes of old records, which this version cannot
 *                             fold into the tables.
 * @return Else as lx_writer_commit(). It is not sealed then, unless meta.json says so.
 */
LX_API lx_status lx_writer_seal(lx_writer *writer, lx_error *error);

/** Records, those appended and not yet committed with them. */
LX_API uint64_t lx_writer_get_length(lx_writer *writer);

/** The fields; valid until the writer is closed. */
LX_API const lx_schema *lx_writer_get_schema(const lx_writer *writer);

/**
 * Commits what is pending (a transaction still open is undone), syncs, and ends the writer,
 * whatever fails. NULL is nothing.
 * @return The first failure of all that; the writer is gone in any case.
 */
LX_API lx_status lx_writer_close(lx_writer *writer, lx_error *error);

/* ----------------------------------------------------------------- dataset */

/** When the checksums of raw records are checked. Compressed ones are checked at every read. */
typedef enum lx_verify {
    LX_VERIFY_FIRST = 0,  /**< When a record is first touched through this handle. */
    LX_VERIFY_ALWAYS = 1, /**< At every read. */
    LX_VERIFY_NEVER = 2   /**< Never. That a value lies within committed bytes is checked all the
                               same. */
} lx_verify;

/** How a dataset is opened for reading; defaults come from lx_dataset_options_new(). */
typedef struct lx_dataset_options lx_dataset_options;

/** The defaults: verification at first touch, the newest commit. NULL when out of memory. */
LX_API lx_dataset_options *lx_dataset_options_new(void);

/** Ends options; NULL is nothing. */
LX_API void lx_dataset_options_free(lx_dataset_options *options);

/** Sets when checksums are checked; #LX_ERR_ARGUMENT for a value that is none. */
LX_API lx_status lx_dataset_options_set_verify(lx_dataset_options *options, lx_verify verify,
                                               lx_error *error);

/** With true, only commits that survive a power loss are seen. */
LX_API lx_status lx_dataset_options_set_durable(lx_dataset_options *options, bool durable,
                                                lx_error *error);

/**
 * Has the files and mappings of a dataset given up on the gc queue of @p executor, and not on the
 * thread that lets go of the last view or batch that needs them. NULL, the default: on that thread.
 *
 * The options keep a reference to @p executor. A dataset does not: once it is closed, what is left
 * is given up on the thread that lets go.
 */
LX_API lx_status lx_dataset_options_set_executor(lx_dataset_options *options,
                                                 lx_executor *executor, lx_error *error);

/**
 * Reads a dataset: the state that was committed when it was opened, or last refreshed.
 *
 * @par Thread safety
 * All calls may be made from any threads at once, lx_dataset_close() excepted. A child of fork()
 * may go on reading.
 */
typedef struct lx_dataset lx_dataset;

/**
 * Opens a dataset for reading. Nothing is scanned but the log.
 *
 * @param[in]  path     The dataset's directory.
 * @param[in]  options  NULL for the defaults.
 * @param[out] dataset  To be closed with lx_dataset_close().
 * @param[out] error    Where a failure is told; may be NULL.
 *
 * @retval LX_ERR_NOT_FOUND    There is no dataset at @p path.
 * @retval LX_ERR_CORRUPT      meta.json, LOG or the length of a table is damaged.
 * @retval LX_ERR_UNSUPPORTED  Its format or a feature of it is newer than this library.
 * @retval LX_ERR_BUSY         It is just being removed.
 * @retval LX_ERR_LIMIT        It has more than #LX_FIELDS_MAX fields, or a table that is too large
 *                             to be mapped on this machine.
 * @retval LX_ERR_IO           The system refused; errno tells why.
 */
LX_API lx_status lx_dataset_open(const char *path, const lx_dataset_options *options,
                                 lx_dataset **dataset, lx_error *error);

/** Ends the handle. Views that are not yet released keep what they show. NULL is nothing. */
LX_API void lx_dataset_close(lx_dataset *dataset);

/**
 * Removes a dataset, the directory with it. A directory without a readable meta.json, or with
 * anything in it that is no part of the dataset, is left as it is. Interrupted in the middle, the
 * dataset is damaged, and can be removed again.
 *
 * @param[in]  path   The dataset's directory.
 * @param[out] error  Where a failure is told; may be NULL.
 *
 * @retval LX_ERR_NOT_FOUND    There is no dataset at @p path.
 * @retval LX_ERR_BUSY         It is being written or read, by this process or another.
 * @retval LX_ERR_EXISTS       Something in it is no part of the dataset. Nothing is removed.
 * @retval LX_ERR_CORRUPT      meta.json is damaged.
 * @retval LX_ERR_UNSUPPORTED  Its format or a feature of it is newer than this library.
 * @retval LX_ERR_IO           The system refused; errno tells why.
 */
LX_API lx_status lx_dataset_remove(const char *path, lx_error *error);

/**
 * Goes on to the newest commit.
 * @param[in]  dataset  A dataset.
 * @param[out] changed  Whether there was a newer one; may be NULL.
 * @param[out] error    Where a failure is told; may be NULL.
 * @return As lx_dataset_open(); after a failure the old state stays.
 */
LX_API lx_status lx_dataset_refresh(lx_dataset *dataset, bool *changed, lx_error *error);

/** Records in the state that is being read. */
LX_API uint64_t lx_dataset_get_length(lx_dataset *dataset);

/** The fields; valid until the dataset is closed. */
LX_API const lx_schema *lx_dataset_get_schema(const lx_dataset *dataset);

/** Its directory, as it was opened; valid until the dataset is closed. */
LX_API const char *lx_dataset_get_path(const lx_dataset *dataset);

/** What tells this dataset, and this state of it, from all others. */
typedef struct lx_identity {
    char uuid[40];       /**< The dataset, 36 characters and a NUL. */
    uint64_t generation; /**< Of the log. */
    uint64_t epoch;      /**< Frame of the log. */
    uint32_t crc;        /**< Of that frame. */
    uint32_t sealed;     /**< 1 if the dataset is sealed. */
} lx_identity;

/** Tells which state is being read. */
LX_API void lx_dataset_get_identity(lx_dataset *dataset, lx_identity *identity);

/**
 * Copies records of one dense field into the caller's memory, in the order asked for. A missing
 * one gives zeros.
 *
 * @param[in]  dataset  A dataset.
 * @param[in]  field    Position of a dense field in the schema.
 * @param[in]  indices  @p count indices of records, in any order, repeats allowed.
 * @param[in]  count    How many.
 * @param[out] out      Record i goes to @p out + i * @p stride.
 * @param[in]  stride   Bytes from one record to the next, at least the field's size.
 * @param[out] error    Where a failure is told; may be NULL.
 *
 * @retval LX_ERR_RANGE     An index is not below the length; the error has it.
 * @retval LX_ERR_CORRUPT   A record is damaged; the error has field, record, file and offset. The
 *                          dataset stays usable; what is at @p out is not to be used.
 * @retval LX_ERR_ARGUMENT  No such field, a field of bytes, or too small a stride.
 */
LX_API lx_status lx_dataset_gather(lx_dataset *dataset, size_t field, const uint64_t *indices,
                                   size_t count, void *out, size_t stride, lx_error *error);

/**
 * Tells how long records of any field are, for lx_dataset_gather_bytes().
 *
 * @param[in]  dataset  A dataset.
 * @param[in]  field    Position of a field in the schema.
 * @param[in]  indices  @p count indices of records.
 * @param[in]  count    How many.
 * @param[out] offsets  count + 1 numbers from 0: record i would have the bytes
 *                      [offsets[i], offsets[i + 1]) of a buffer that holds them all.
 * @param[out] present  @p count bytes, 0 where the record has no value; may be NULL.
 * @param[out] error    Where a failure is told; may be NULL.
 * @return As lx_dataset_gather().
 */
LX_API lx_status lx_dataset_measure(lx_dataset *dataset, size_t field, const uint64_t *indices,
                                    size_t count, uint64_t *offsets, uint8_t *present,
                                    lx_error *error);

/**
 * Copies records of any field, back to back, to where lx_dataset_measure() put them.
 *
 * @param[in]  dataset  A dataset.
 * @param[in]  field    Position of a field in the schema.
 * @param[in]  indices  @p count indices of records.
 * @param[in]  count    How many.
 * @param[out] out      At least offsets[count] bytes; may be NULL if that is 0.
 * @param[in]  offsets  As measured for the same indices.
 * @param[out] error    Where a failure is told; may be NULL.
 * @retval LX_ERR_MISMATCH  A record is not as long as @p offsets say: the dataset was refreshed
 *                          between the two calls. Measure again.
 * @return Else as lx_dataset_gather().
 */
LX_API lx_status lx_dataset_gather_bytes(lx_dataset *dataset, size_t field,
                                         const uint64_t *indices, size_t count, void *out,
                                         const uint64_t *offsets, lx_error *error);

/** A record in the dataset's own memory; read-only. */
typedef struct lx_slice {
    const void *data; /**< Its bytes; NULL if it is missing. */
    uint64_t size;    /**< How many. */
} lx_slice;

/** Keeps slices readable, also after the dataset is refreshed or closed. */
typedef struct lx_view lx_view;

/**
 * Shows records of one field where they lie, without a copy.
 *
 * @param[in]  dataset  A dataset.
 * @param[in]  field    Position of a field in the schema.
 * @param[in]  indices  @p count indices of records.
 * @param[in]  count    How many.
 * @param[out] slices   One for each record.
 * @param[out] view     To be released with lx_view_release(); the slices are readable until then.
 * @param[out] error    Where a failure is told; may be NULL.
 * @retval LX_ERR_UNSUPPORTED  A record is compressed: it has to be gathered.
 * @return Else as lx_dataset_gather().
 */
LX_API lx_status lx_dataset_view(lx_dataset *dataset, size_t field, const uint64_t *indices,
                                 size_t count, lx_slice *slices, lx_view **view, lx_error *error);

/** Ends a view; any thread may. NULL is nothing. */
LX_API void lx_view_release(lx_view *view);

/* ---------------------------------------------------------- verify and stat */

/** Told of each damage that lx_dataset_verify() finds. @p damage is valid during the call. A
 * return of other than #LX_OK ends the verification with that status. */
typedef lx_status (*lx_damage_function)(const lx_error *damage, void *user);

/** Told now and then how far a long job is: @p done of @p total records. A return of other than
 * #LX_OK ends the job with that status. */
typedef lx_status (*lx_progress_function)(uint64_t done, uint64_t total, void *user);

/** What lx_dataset_verify() did. */
typedef struct lx_verification {
    uint64_t records;     /**< Records looked at. */
    uint64_t values;      /**< Values looked at: records times fields. */
    uint64_t bytes;       /**< Stored bytes whose CRC was taken. */
    uint64_t damages;     /**< How many were found. */
    uint64_t reserved[4]; /**< Zero. */
} lx_verification;

/**
 * Reads every record of every field, checks its entry and its checksum, and decompresses it;
 * of a sealed dataset also the tables' own checksums and the lengths of all files. Values of zstd
 * fields, which this version cannot decompress, are checked by their checksums.
 *
 * @param[in]  dataset   A dataset.
 * @param[in]  damaged   Told of each damage; may be NULL.
 * @param[in]  progress  Told how far it is; may be NULL.
 * @param[in]  user      Given to both.
 * @param[out] result    What was done; may be NULL.
 * @param[out] error     The first damage, or why it could not go on; may be NULL.
 * @retval LX_OK           Nothing is damaged.
 * @retval LX_ERR_CORRUPT  Something is.
 */
LX_API lx_status lx_dataset_verify(lx_dataset *dataset, lx_damage_function damaged,
                                   lx_progress_function progress, void *user,
                                   lx_verification *result, lx_error *error);

/** The sizes of a dataset, as lx_dataset_stat() tells them. */
typedef struct lx_statistics {
    uint64_t length;         /**< Records. */
    uint64_t chunks;         /**< Chunk files. */
    uint64_t chunk_records;  /**< Payloads that a chunk takes. */
    uint64_t chunk_limit;    /**< Bytes that a chunk takes. */
    uint64_t payloads;       /**< Payloads stored in chunks, live or not. */
    uint64_t chunk_bytes;    /**< Committed bytes of all chunks. */
    uint64_t live_bytes;     /**< Those that some record refers to. */
    uint64_t table_bytes;    /**< Committed bytes of all tables. */
    uint64_t log_bytes;      /**< Valid bytes of the log. */
    uint64_t log_entries;    /**< Entries that still lie in the log and not in the tables. */
    double utilisation;      /**< Live payloads / (chunks * chunk_records); 0 without chunks. */
    double live_ratio;       /**< live_bytes / chunk_bytes; 1 without chunks. */
    uint64_t reserved[8];    /**< Zero. */
} lx_statistics;

/** The sizes of one field, as lx_dataset_stat() tells them. */
typedef struct lx_field_statistics {
    uint64_t present;       /**< Records that have a value. */
    uint64_t missing;       /**< Records that have none. */
    uint64_t inlined;       /**< Values of at most 8 bytes, kept in the table. */
    uint64_t compressed;    /**< Values that are stored compressed. */
    uint64_t logical_bytes; /**< Bytes of all values, decompressed. */
    uint64_t stored_bytes;  /**< Bytes they take in chunks. */
    uint64_t reserved[4];   /**< Zero. */
} lx_field_statistics;

/**
 * Adds up sizes. Reads all tables, but no record.
 *
 * @param[in]  dataset  A dataset.
 * @param[out] totals   The dataset's sizes.
 * @param[out] fields   One for each field, in the schema's order; may be NULL.
 * @param[out] error    Where a failure is told; may be NULL.
 * @retval LX_ERR_CORRUPT  An entry is damaged.
 */
LX_API lx_status lx_dataset_stat(lx_dataset *dataset, lx_statistics *totals,
                                 lx_field_statistics *fields, lx_error *error);

/** One chunk, as lx_dataset_get_chunk() tells it. */
typedef struct lx_chunk_info {
    uint32_t id;      /**< Its number; the file is chunk/ID.zr. */
    uint64_t records; /**< Payloads in it. */
    uint64_t bytes;   /**< Committed bytes. */
} lx_chunk_info;

/** Chunk number @p position in ascending order of ids; #LX_END if there are not so many,
 * #LX_ERR_ARGUMENT where a pointer is NULL. */
LX_API lx_status lx_dataset_get_chunk(lx_dataset *dataset, size_t position, lx_chunk_info *info);

LX_END_DECLS

#endif
