/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Writing of zrecord datasets: one writer a dataset at a time.
 */
#ifndef LOADERX_WRITER_H
#define LOADERX_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/dataset.h>
#include <loaderx/executor.h>
#include <loaderx/progress.h>
#include <loaderx/schema.h>

LX_BEGIN_DECLS

/** @defgroup lx_writer_options How a writer works
 * @{ */

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

/** @} */

/** @defgroup lx_writer Create datasets and append records
 * @{ */

/**
 * Appends to a dataset, and changes it.
 *
 * Only one writer can have a dataset open. What is asked of it becomes visible and durable by
 * commits, each of them whole or not at all, in the order of the calls. After a failed call nothing
 * more is taken until lx_writer_rollback(); after a failed sync, and when LOCK was removed, the
 * writer is done with (#LX_ERR_POISONED), and what was committed before is found by opening the
 * dataset again.
 *
 * @par Thread safety
 * Any thread may call; what they ask for forms one sequence, and a rollback undoes that of all.
 * Compression and writing run on the writers of the executor, each into a chunk of its own. A child
 * of fork() gets #LX_ERR_FORKED.
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
 * @retval LX_ERR_EXISTS       There is a dataset, or something else, at @p path.
 * @retval LX_ERR_NOT_FOUND    The folder is not there in which it is to be made.
 * @retval LX_ERR_BUSY         Another writer is creating it.
 * @retval LX_ERR_ARGUMENT     The schema has no field, or @p path lies among the files of another
 *                             dataset.
 * @retval LX_ERR_UNSUPPORTED  @p path is on a network file system, the error names which.
 * @retval LX_ERR_IO           The system refused; errno tells why.
 */
LX_API lx_status lx_writer_create(const char *path, const lx_schema *schema,
                                  const lx_writer_options *options, lx_writer **writer,
                                  lx_error *error);

/**
 * Opens a dataset to append to it or change it. What a crash left behind is made durable or cut off
 * first.
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
 * @retval LX_ERR_UNSUPPORTED  Its format or a feature of it is newer than this library; or it is on
 *                             a network file system, the error names which.
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
 * @retval LX_ERR_LIMIT     A value is larger than #LX_RECORD_MAX; nothing was appended. Or there
 *                          are no more ids for chunks; as LX_ERR_IO.
 * @retval LX_ERR_IO        This or an earlier append could not be stored (a full disk, say); all
 *                          since the last commit is to be undone by lx_writer_rollback().
 * @retval LX_ERR_STATE     The writer has sealed the dataset.
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

/** @} */

/** @defgroup lx_writer_modify Copy, modify and delete records
 * @{ */

/**
 * Appends records of another dataset, or of this one. What is stored compressed is copied as it is
 * where the field is compressed so here, too. Each value is verified before.
 *
 * Fields belong together by their names. One that @p from does not have is missing in the copies;
 * one that this dataset does not have is left out.
 *
 * @param[in]  writer   A writer.
 * @param[in]  from     The state that is read now.
 * @param[in]  indices  @p count records of @p from, in any order, repeats allowed; NULL: the first
 *                      @p count.
 * @param[in]  count    How many; #LX_NONE without @p indices: all.
 * @param[out] first    Index of the first copy; may be NULL.
 * @param[out] error    Where a failure is told; may be NULL.
 *
 * @retval LX_ERR_RANGE        There is no such record in @p from; nothing was appended.
 * @retval LX_ERR_MISMATCH     A field has another dtype or shape there, or no name is the same;
 *                             nothing was appended.
 * @retval LX_ERR_CORRUPT      A record of @p from is damaged. All since the last commit is to be
 *                             undone by lx_writer_rollback().
 * @retval LX_ERR_UNSUPPORTED  A record of @p from is compressed in a way that this library cannot
 *                             undo, and the field here is not; as LX_ERR_CORRUPT.
 * @return Else as lx_writer_extend().
 */
LX_API lx_status lx_writer_copy(lx_writer *writer, lx_dataset *from, const uint64_t *indices,
                                uint64_t count, uint64_t *first, lx_error *error);

/**
 * Gives some fields of a record new values. The old ones stay readable to whoever has them.
 *
 * @param[in]  writer  A writer.
 * @param[in]  index   A record, below lx_writer_get_length(); one that is not committed yet, too.
 * @param[in]  fields  @p count positions in the schema. Where one is there twice, the last counts.
 * @param[in]  values  One for each; a size of #LX_NONE makes the value missing.
 * @param[in]  count   How many; 0 changes nothing.
 * @param[out] error   Where a failure is told; may be NULL.
 *
 * @retval LX_ERR_RANGE     There is no such record; nothing was changed.
 * @retval LX_ERR_ARGUMENT  There is no such field, or a value does not have its size; nothing was
 *                          changed.
 * @return Else as lx_writer_append().
 */
LX_API lx_status lx_writer_modify(lx_writer *writer, uint64_t index, const size_t *fields,
                                  const lx_value *values, size_t count, lx_error *error);

/**
 * Gives some fields of many records new values, in the order of @p indices.
 *
 * @param[in]  writer       A writer.
 * @param[in]  indices      @p count records, as for lx_writer_modify(); repeats allowed.
 * @param[in]  count        How many.
 * @param[in]  fields       @p field_count positions in the schema.
 * @param[in]  columns      One for each of them, with @p count values.
 * @param[in]  field_count  How many fields.
 * @param[out] error        Where a failure is told; may be NULL.
 * @return As lx_writer_modify(); arguments are checked for all records before any is changed.
 */
LX_API lx_status lx_writer_modify_many(lx_writer *writer, const uint64_t *indices, uint64_t count,
                                       const size_t *fields, const lx_values *columns,
                                       size_t field_count, lx_error *error);

/**
 * Deletes a record. The last record takes its place, whatever that costs another structure that
 * has kept the last one's index: there is no delete that keeps the order, since it would change the
 * index of every record behind it. Whoever needs an order puts it into the records.
 *
 * @param[in]  writer  A writer.
 * @param[in]  index   A record, below lx_writer_get_length().
 * @param[out] moved   The index that the record had which is at @p index now; #LX_NONE if that was
 *                     the last one and nothing moved. May be NULL.
 * @param[out] error   Where a failure is told; may be NULL.
 * @retval LX_ERR_RANGE  There is no such record; nothing was changed.
 * @return Else as lx_writer_append().
 */
LX_API lx_status lx_writer_delete(lx_writer *writer, uint64_t index, uint64_t *moved,
                                  lx_error *error);

/**
 * Deletes the records from @p length on; nothing moves.
 * @retval LX_ERR_RANGE  There are fewer; nothing was changed.
 * @return Else as lx_writer_append().
 */
LX_API lx_status lx_writer_truncate(lx_writer *writer, uint64_t length, lx_error *error);

/** @} */

/** @defgroup lx_writer_commit Commits, transactions and seals
 * @{ */

/**
 * Makes everything asked for so far visible to readers, at once, and durable as the writer's
 * options say. Within a transaction it is #LX_ERR_STATE.
 *
 * Other threads may go on while the disk is waited for. Those of them that commit meanwhile share
 * the next commit: together they wait for two of them at most.
 *
 * @retval LX_ERR_STATE     A transaction is open, or another thread rolled back before this was
 *                          committed; or the writer has sealed the dataset.
 * @retval LX_ERR_IO        Not committed, for instance for want of room; lx_writer_rollback()
 *                          makes the writer usable again.
 * @retval LX_ERR_LIMIT     There are more changes than one frame of the log takes, which are 26
 *                          million, or no more ids for chunks; as LX_ERR_IO.
 * @retval LX_ERR_POISONED  A sync failed: whether this commit survives is not known. Or LOCK was
 *                          removed: the dataset is gone, or another writer may have it.
 */
LX_API lx_status lx_writer_commit(lx_writer *writer, lx_error *error);

/**
 * Commits what was asked for so far, without waiting for it. The executor's write queue does it;
 * several such commits become one where they can. A later rollback does not undo it.
 *
 * @param[in]  writer  A writer.
 * @param[out] ticket  To be waited for with lx_ticket_wait(), which answers as lx_writer_commit(),
 *                     and to be given up with lx_ticket_unref(), which may be at once. Canceled
 *                     before it has begun, it is not committed by this call, but by the next
 *                     commit.
 * @param[out] error   Where a failure is told; may be NULL.
 * @retval LX_ERR_STATE  A transaction is open.
 * @return Else as lx_writer_append(), and as lx_executor_submit().
 */
LX_API lx_status lx_writer_submit_commit(lx_writer *writer, lx_ticket **ticket, lx_error *error);

/**
 * Commits, if no transaction is open, and makes all that is committed durable now.
 * @return As lx_writer_commit(), but for an open transaction, which stays open.
 */
LX_API lx_status lx_writer_sync(lx_writer *writer, lx_error *error);

/**
 * Begins a transaction: until lx_writer_end() nothing is committed, however much is asked for.
 * What was asked for before is committed first.
 *
 * @retval LX_ERR_STATE  One is open already.
 * @return Else as lx_writer_commit().
 */
LX_API lx_status lx_writer_begin(lx_writer *writer, lx_error *error);

/**
 * Ends a transaction by committing it.
 *
 * @retval LX_ERR_STATE  None is open.
 * @return Else as lx_writer_commit(). After a failure it can only be rolled back.
 */
LX_API lx_status lx_writer_end(lx_writer *writer, lx_error *error);

/**
 * Undoes all that was asked for since the last commit, or the last submitted one, and ends the
 * transaction, if one is open.
 *
 * @retval LX_ERR_POISONED  A sync failed: there is nothing left to do but to close the writer.
 * @retval LX_ERR_IO        The system refused; errno tells why.
 */
LX_API lx_status lx_writer_rollback(lx_writer *writer, lx_error *error);

/**
 * Commits and seals: the tables hold every record, all files have exactly the bytes that count,
 * and meta.json has their lengths and CRCs. Nothing can be changed after that, until
 * lx_dataset_unseal(). It is also the fastest form to open.
 *
 * Then the writer is to be closed: all that would change or commit anything, also lx_writer_sync()
 * and to seal once more, is #LX_ERR_STATE.
 *
 * @retval LX_ERR_STATE     A transaction is open, or the writer has sealed the dataset already.
 * @retval LX_ERR_LIMIT     There are no more numbers for generations: copy the dataset.
 * @retval LX_ERR_POISONED  A sync failed, and it is not known whether the dataset is sealed.
 * @return Else as lx_writer_commit(). It is not sealed then.
 */
LX_API lx_status lx_writer_seal(lx_writer *writer, lx_error *error);

/* ---- generations
 *
 * Each of these commits first. Interrupted at any moment it leaves the dataset as it was before, or
 * as it is after. If it fails, it is as before, and unless a sync failed the writer can be used, at
 * the latest after lx_writer_rollback().
 * Readers of before keep what they read: files that nobody needs any more go when they are gone, at
 * the latest when the next writer opens the dataset. */

/** @} */

/** @defgroup lx_writer_rebalance Rewrite the files of a dataset
 * @{ */

/**
 * Takes all changes of old records into new tables, so that none is left in the log. Writers do
 * this by themselves when changes have become many: more than 65,536, and than an eighth of the
 * records. Where there are none, it does nothing.
 *
 * @retval LX_ERR_STATE     A transaction is open.
 * @retval LX_ERR_LIMIT     There are no more numbers for generations: copy the dataset.
 * @retval LX_ERR_POISONED  A sync failed, and it is not known which tables are the dataset's.
 * @return Else as lx_writer_commit().
 */
LX_API lx_status lx_writer_fold(lx_writer *writer, lx_error *error);

/** What lx_writer_rebalance() did. */
typedef struct lx_rebalance {
    uint64_t records;          /**< Records of the dataset. */
    uint64_t payloads;         /**< Values that were moved: all that are stored in chunks. */
    uint64_t bytes;            /**< Bytes of these. */
    uint64_t chunks_before;    /**< Chunk files. */
    uint64_t chunks_after;     /**< The same, of the new ones. */
    uint64_t bytes_before;     /**< Committed bytes of all chunks. */
    uint64_t bytes_after;      /**< The same, of the new ones. */
    double utilisation_before; /**< payloads / (chunks * payloads that a chunk takes). */
    double utilisation_after;  /**< The same, of the new ones. */
    double live_ratio_before;  /**< @ref bytes / bytes of all chunks; 1 without chunks. */
    double live_ratio_after;   /**< The same, of the new ones: below 1 only by alignment. */
    uint64_t reserved[4];      /**< Zero. */
} lx_rebalance;

/**
 * Writes the payloads of all records to new chunks, in the order of the records, and new tables for
 * them, and leaves behind what nothing refers to any more. Each is verified by its checksum, and
 * copied as it is stored. Meanwhile there must be room for both.
 *
 * @param[in]  writer    A writer; nobody else can use it meanwhile.
 * @param[in]  progress  Told how far it is; may be NULL. It must not call the writer.
 * @param[in]  user      Given to it.
 * @param[out] result    What was done; may be NULL. Written on success only.
 * @param[out] error     Where a failure is told; may be NULL.
 *
 * @retval LX_ERR_CORRUPT   A value is damaged, the error tells which; or values lie over one
 *                          another.
 * @retval LX_ERR_STATE     A transaction is open.
 * @retval LX_ERR_LIMIT     There are no more ids for chunks, or numbers for generations.
 * @retval LX_ERR_IO        The system refused, for want of room for instance.
 * @retval LX_ERR_POISONED  A sync failed, and it is not known which files are the dataset's.
 * @return Else as lx_writer_commit(), or what @p progress returned.
 */
LX_API lx_status lx_writer_rebalance(lx_writer *writer, lx_progress_function progress, void *user,
                                     lx_rebalance *result, lx_error *error);

/** @} */

/** @defgroup lx_writer_add_field Add, drop and rename fields
 * @{ */

/**
 * Adds a field, the last in the schema. It is missing in all records, until it is written. Readers
 * that have the dataset open do not see it.
 *
 * @param[in]  writer       A writer. Records that are appended from now on have a value more.
 * @param[in]  name         As for lx_schema_add_field(), as are the next four.
 * @param[in]  dtype        Of its values.
 * @param[in]  shape        @p ndim extents.
 * @param[in]  ndim         Dimensions.
 * @param[in]  compression  How payloads are kept.
 * @param[out] error        Where a failure is told; may be NULL.
 *
 * @retval LX_ERR_ARGUMENT  As for lx_schema_add_field().
 * @retval LX_ERR_EXISTS    There is a field of that name; or, as long as no field was dropped, a
 *                          file of somebody else by a name that only a file of the field may have.
 * @retval LX_ERR_LIMIT     There are #LX_FIELDS_MAX fields, or no more ids for them.
 * @retval LX_ERR_STATE     A transaction is open.
 * @retval LX_ERR_POISONED  A sync failed, and it is not known whether the field is there.
 * @return Else as lx_writer_commit().
 */
LX_API lx_status lx_writer_add_field(lx_writer *writer, const char *name, lx_dtype dtype,
                                     const uint64_t *shape, size_t ndim,
                                     lx_compression compression, lx_error *error);

/**
 * Drops a field, with its values in all records. What they took in chunks is free after a
 * rebalance.
 *
 * @retval LX_ERR_NOT_FOUND  There is none of that name.
 * @retval LX_ERR_ARGUMENT   It is the only one; a dataset keeps at least one.
 * @retval LX_ERR_STATE      A transaction is open.
 * @retval LX_ERR_POISONED   A sync failed, and it is not known whether the field is there.
 * @return Else as lx_writer_commit().
 */
LX_API lx_status lx_writer_drop_field(lx_writer *writer, const char *name, lx_error *error);

/**
 * Renames the field @p name @p to. It keeps its id, its place in the schema, and its values.
 *
 * @retval LX_ERR_NOT_FOUND  There is none of that name.
 * @retval LX_ERR_EXISTS     There is one of the name @p to.
 * @retval LX_ERR_ARGUMENT   @p to is no name for a field.
 * @retval LX_ERR_STATE      A transaction is open.
 * @retval LX_ERR_POISONED   A sync failed, and it is not known which name it has.
 * @return Else as lx_writer_commit().
 */
LX_API lx_status lx_writer_rename_field(lx_writer *writer, const char *name, const char *to,
                                        lx_error *error);

/** @} */

/** @addtogroup lx_writer
 * @{ */

/** Records, those appended and not yet committed with them. */
LX_API uint64_t lx_writer_get_length(lx_writer *writer);

/** The fields as they are now. Valid until the writer is closed, also when fields have been added,
 * dropped or renamed since; then another call gives those that there are. */
LX_API const lx_schema *lx_writer_get_schema(const lx_writer *writer);

/**
 * Commits what is pending (a transaction still open is undone), syncs, and ends the writer,
 * whatever fails. NULL is nothing.
 * @return The first failure of all that; the writer is gone in any case.
 */
LX_API lx_status lx_writer_close(lx_writer *writer, lx_error *error);

/** @} */

LX_END_DECLS

#endif
