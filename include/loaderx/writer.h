/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Writing of datasets: one writer at a time for each.
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

/**
 * @defgroup lx_writer_options Options of a writer
 * @see lx_error, lx_executor, lx_writer
 * @{
 */

/** What a commit survives once it has returned. doc/zrecord-format.md has the details. */
typedef enum lx_durability {
    LX_DURABILITY_FULL = 0,     /**< A power loss: the commit is synced before it returns. */
    LX_DURABILITY_PERIODIC = 1, /**< The end of the process at once, kill -9 included; a power loss
                                     within about a second. Outside a transaction the writer also
                                     commits by itself after each 256 MiB of payloads, which a
                                     rollback does not undo. The default. */
    LX_DURABILITY_NONE = 2      /**< The end of the process; a power loss only after
                                     lx_writer_sync() or lx_writer_close(). */
} lx_durability;

/**
 * The options of a writer.
 *
 * @par Thread safety
 * One thread at a time. A writer copies what it needs when it is opened.
 */
typedef struct lx_writer_options lx_writer_options;

/**
 * Returns options with the defaults: periodic durability, chunks of 1,048,576 payloads or 1 GiB,
 * level 6, an executor of its own. Returns NULL when out of memory.
 */
LX_API lx_writer_options *lx_writer_options_new(void);

/** Frees options. NULL is allowed. */
LX_API void lx_writer_options_free(lx_writer_options *options);

/**
 * Sets what a commit survives.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p durability is invalid, or @p options is NULL.
 */
LX_API lx_status lx_writer_options_set_durability(lx_writer_options *options,
                                                  lx_durability durability, lx_error *error);

/**
 * Sets when a chunk of a new dataset is full. lx_writer_open() ignores it: the dataset keeps the
 * values with which it was created.
 *
 * @param[in] options  The options.
 * @param[in] records  Payloads per chunk, 1 to 2^32 - 1.
 * @param[in] bytes    Bytes per chunk, 4096 to 2^40. A larger payload gets a chunk of its own.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            They are set.
 * @retval LX_ERR_ARGUMENT  A number is out of range, or @p options is NULL; nothing changed.
 */
LX_API lx_status lx_writer_options_set_chunk_limits(lx_writer_options *options, uint64_t records,
                                                    uint64_t bytes, lx_error *error);

/**
 * Sets the level of Deflate, 1 (fast) to 9 (small).
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p level is out of range, or @p options is NULL.
 */
LX_API lx_status lx_writer_options_set_compression_level(lx_writer_options *options, int level,
                                                         lx_error *error);

/**
 * Sets the executor that runs the writer's tasks, and takes a reference to it. With NULL, the
 * default, the writer opens one of its own.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_writer_options_set_executor(lx_writer_options *options, lx_executor *executor,
                                                lx_error *error);

/** @} */

/**
 * @defgroup lx_writer Create datasets and append records
 *
 * @code
 * lx_writer *writer = NULL;
 * if (lx_writer_create("fashion", schema, NULL, &writer, &error) != LX_OK)
 *     return complain(&error);
 * const lx_values columns[] = {{.data = images}, {.data = labels}};
 * lx_writer_extend(writer, 60000, columns, NULL, &error);
 * if (lx_writer_close(writer, &error) != LX_OK)
 *     return complain(&error); // the first failure of the three
 * @endcode
 *
 * Records have no order except their index. If the data has an order, in time or by a key, store it
 * in a field.
 * @see loaderx-import(1), lx_dataset, lx_error, lx_schema, lx_writer_add_field(),
 * lx_writer_commit(), lx_writer_modify(), lx_writer_options, lx_writer_rebalance(), zrecord(5)
 * @{
 */

/**
 * Appends records to a dataset, and changes them.
 *
 * One writer at a time can have a dataset open. Its operations become visible and durable by
 * commits, each of them whole or not at all, in the order of the calls. After a failed operation
 * the writer takes no further one until lx_writer_rollback(). After a failed sync, and when LOCK
 * was removed, it is poisoned: every call returns #LX_ERR_POISONED. Close it, and open the dataset
 * again to find the earlier commits.
 *
 * @par Thread safety
 * Full. The operations of all threads form one sequence, and a rollback undoes those of all. The
 * writers of the executor compress and write, each into a chunk of its own. In a child of fork(2)
 * calls that return a status return #LX_ERR_FORKED; a child that outlives the writer's process does
 * not hold its lock.
 */
typedef struct lx_writer lx_writer;

/**
 * Creates a dataset and opens it for writing.
 *
 * @param[in]  path     The directory to create. It may exist if it is empty or holds the remains of
 *                      an interrupted creation.
 * @param[in]  schema   The fields, at least one; copied.
 * @param[in]  options  The options; NULL for the defaults.
 * @param[out] writer   Receives the writer, to be closed with lx_writer_close().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The writer is open.
 * @retval LX_ERR_EXISTS       A dataset, or something else, is at @p path.
 * @retval LX_ERR_NOT_FOUND    The parent directory does not exist.
 * @retval LX_ERR_BUSY         Another writer is creating the dataset.
 * @retval LX_ERR_ARGUMENT     The schema has no field, @p path lies among the files of another
 *                             dataset, or a pointer is NULL.
 * @retval LX_ERR_UNSUPPORTED  @p path is on a network file system; the error names it.
 * @retval LX_ERR_IO           A system call failed; the error has its errno.
 * @retval LX_ERR_NOMEM        Out of memory.
 */
LX_API lx_status lx_writer_create(const char *path, const lx_schema *schema,
                                  const lx_writer_options *options, lx_writer **writer,
                                  lx_error *error);

/**
 * Opens a dataset for writing. First it recovers from a crash of the last writer: it makes durable
 * what that has committed, and cuts off an incomplete commit.
 *
 * @param[in]  path     The dataset's directory.
 * @param[in]  options  The options; NULL for the defaults. lx_writer_options_set_chunk_limits() has
 *                      no effect.
 * @param[out] writer   Receives the writer, to be closed with lx_writer_close().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The writer is open.
 * @retval LX_ERR_NOT_FOUND    @p path is not a dataset, or does not exist.
 * @retval LX_ERR_BUSY         Another writer has it open; the error names its process.
 * @retval LX_ERR_STATE        The dataset is sealed; see lx_dataset_unseal().
 * @retval LX_ERR_CORRUPT      meta.json or LOG is damaged; the error reports where.
 * @retval LX_ERR_UNSUPPORTED  The format, or a feature that the dataset uses, is newer than this
 *                             library; or the dataset is on a network file system, which the error
 *                             names.
 * @retval LX_ERR_LIMIT        It has more than #LX_MAX_FIELDS fields.
 * @retval LX_ERR_IO           A system call failed; the error has its errno.
 * @retval LX_ERR_ARGUMENT     A pointer is NULL.
 * @retval LX_ERR_NOMEM        Out of memory.
 */
LX_API lx_status lx_writer_open(const char *path, const lx_writer_options *options,
                                lx_writer **writer, lx_error *error);

/** A value of one field, to be written. The writer keeps no pointer into it after the call. */
typedef struct lx_value {
    const void *data; /**< The bytes; may be NULL if @ref size is 0 or #LX_NONE. */
    uint64_t size;    /**< The number of bytes, that of the field for a dense one; #LX_NONE for a
                           missing value. */
} lx_value;

/**
 * Appends a record.
 *
 * @param[in]  writer  The writer.
 * @param[in]  values  A value for each field, in the schema's order.
 * @param[out] index   Receives the index of the record; may be NULL.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The record is part of the next commit.
 * @retval LX_ERR_ARGUMENT  A value does not have the size of its field, or a pointer is NULL;
 *                          nothing was appended.
 * @retval LX_ERR_LIMIT     A value is larger than #LX_MAX_VALUE, or the dataset would have more
 *                          than 2^59 - 1 records; nothing was appended. Or no chunk id is left;
 *                          then as #LX_ERR_IO.
 * @retval LX_ERR_IO        This or an earlier operation could not be stored, on a full disk for
 *                          instance. lx_writer_rollback() undoes everything since the last commit.
 * @retval LX_ERR_STATE     The writer has sealed the dataset.
 * @retval LX_ERR_POISONED  An earlier sync failed.
 * @retval LX_ERR_FORKED    The writer belongs to the parent process.
 * @retval LX_ERR_NOMEM     Out of memory; as #LX_ERR_IO.
 */
LX_API lx_status lx_writer_append(lx_writer *writer, const lx_value *values, uint64_t *index,
                                  lx_error *error);

/**
 * Values of one field for many records, to be written. The writer keeps no pointer into them after
 * the call.
 */
typedef struct lx_values {
    const void *data;        /**< Of a dense field, one value after another, each of the field's
                                  size; of #LX_BYTES, the bytes of all values. NULL: all are
                                  missing. */
    const uint64_t *offsets; /**< Of #LX_BYTES, count + 1 ascending offsets in @c data: value i is
                                  [offsets[i], offsets[i + 1]). NULL for a dense field. */
    const uint8_t *present;  /**< A byte for each record, 0 if the value is missing; NULL if none
                                  is. */
} lx_values;

/**
 * Appends many records. It checks the arguments of all of them before it appends any.
 *
 * @param[in]  writer   The writer.
 * @param[in]  count    The number of records.
 * @param[in]  columns  A column of @p count values for each field, in the schema's order.
 * @param[out] first    Receives the index of the first of the records; may be NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_ARGUMENT  As for lx_writer_append(), or offsets do not ascend.
 * @return Otherwise as lx_writer_append().
 */
LX_API lx_status lx_writer_extend(lx_writer *writer, uint64_t count, const lx_values *columns,
                                  uint64_t *first, lx_error *error);

/** Returns the number of records, those included that are not committed yet. */
LX_API uint64_t lx_writer_get_length(lx_writer *writer);

/**
 * Returns the fields as they are now. The schema stays valid until the writer is closed; after a
 * field is added, dropped or renamed, another call returns the new one.
 */
LX_API const lx_schema *lx_writer_get_schema(const lx_writer *writer);

/**
 * Commits what is pending, syncs and closes the writer. An open transaction is rolled back. The
 * writer is closed even if one of the steps fails. NULL is allowed.
 * @return The first failure, as lx_writer_commit(); else #LX_OK.
 */
LX_API lx_status lx_writer_close(lx_writer *writer, lx_error *error);

/** @} */

/**
 * @defgroup lx_writer_modify Copy, modify and delete records
 *
 * Changes are committed and rolled back together with all other operations of the writer. A change
 * overwrites nothing that is committed: readers keep their snapshot, and the old values take room
 * until lx_writer_rebalance().
 *
 * Give record 7 another label, and delete record 9:
 *
 * @code
 * size_t label;
 * int64_t three = 3;
 * lx_value value = {&three, sizeof three};
 * uint64_t moved;
 *
 * lx_schema_find_field(lx_writer_get_schema(writer), "label", &label,
 *                      &error);
 * lx_writer_modify(writer, 7, &label, &value, 1, &error);
 * lx_writer_delete(writer, 9, &moved, &error);
 * lx_writer_commit(writer, &error);
 * @endcode
 * @see lx_schema, lx_writer, lx_writer_rebalance(), zrecord(5)
 * @{
 */

/**
 * Appends records of another dataset, or of this one. So a subset is a copy of some records to a
 * new dataset, a split is several of these, and a merge is a copy of several datasets to one.
 *
 * Fields correspond by name. A field that @p from lacks is missing in the copies, and a field that
 * this dataset lacks is left out. A compressed value is copied as it is stored if the field is
 * compressed in the same way here. Each value is verified first.
 *
 * @param[in]  writer   The writer.
 * @param[in]  from     The dataset to copy from, in the snapshot that it reads.
 * @param[in]  indices  @p count indices of records of @p from, in any order; repeats are allowed.
 *                      NULL for the first @p count.
 * @param[in]  count    The number of records; without @p indices, #LX_NONE for all of them.
 * @param[out] first    Receives the index of the first copy; may be NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_RANGE        An index is not below the length of @p from; nothing was appended.
 * @retval LX_ERR_MISMATCH     A field has another dtype or shape in @p from, or no names are equal;
 *                             nothing was appended.
 * @retval LX_ERR_CORRUPT      A record of @p from is damaged. lx_writer_rollback() undoes
 *                             everything since the last commit.
 * @retval LX_ERR_UNSUPPORTED  This library cannot decompress a record of @p from, and the field
 *                             here is not compressed in the same way; as #LX_ERR_CORRUPT.
 * @return Otherwise as lx_writer_extend().
 */
LX_API lx_status lx_writer_copy(lx_writer *writer, lx_dataset *from, const uint64_t *indices,
                                uint64_t count, uint64_t *first, lx_error *error);

/**
 * Gives some fields of a record new values.
 *
 * @param[in]  writer  The writer.
 * @param[in]  index   The index of the record, below lx_writer_get_length(); it need not be
 *                     committed.
 * @param[in]  fields  @p count positions in the schema. If one is repeated, its last value counts.
 * @param[in]  values  A value for each of the fields; #LX_NONE as its size makes it missing.
 * @param[in]  count   The number of fields; 0 changes nothing.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_RANGE     The index is not below the length; nothing changed.
 * @retval LX_ERR_ARGUMENT  A field does not exist, a value does not have the size of its field, or
 *                          a pointer is NULL; nothing changed.
 * @return Otherwise as lx_writer_append().
 */
LX_API lx_status lx_writer_modify(lx_writer *writer, uint64_t index, const size_t *fields,
                                  const lx_value *values, size_t count, lx_error *error);

/**
 * Gives some fields of many records new values, in the order of @p indices. It checks the arguments
 * of all of them before it changes any.
 *
 * @param[in]  writer       The writer.
 * @param[in]  indices      @p count indices, as for lx_writer_modify(); repeats are allowed.
 * @param[in]  count        The number of records.
 * @param[in]  fields       @p field_count positions in the schema.
 * @param[in]  columns      A column of @p count values for each of the fields.
 * @param[in]  field_count  The number of fields.
 * @param[out] error        Receives the first failure; may be NULL.
 * @return As lx_writer_modify().
 */
LX_API lx_status lx_writer_modify_many(lx_writer *writer, const uint64_t *indices, uint64_t count,
                                       const size_t *fields, const lx_values *columns,
                                       size_t field_count, lx_error *error);

/**
 * Deletes a record. The last record takes its place.
 *
 * No call deletes a record and keeps the order of the others. It would change the index of every
 * later record, in this dataset and wherever indices are kept, and cost as much as writing all of
 * them.
 *
 * @param[in]  writer  The writer.
 * @param[in]  index   The index of the record, below lx_writer_get_length().
 * @param[out] moved   Receives the previous index of the record that is at @p index now; #LX_NONE
 *                     if the last record was deleted and none moved. May be NULL.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_RANGE  The index is not below the length; nothing changed.
 * @return Otherwise as lx_writer_append().
 */
LX_API lx_status lx_writer_delete(lx_writer *writer, uint64_t index, uint64_t *moved,
                                  lx_error *error);

/**
 * Deletes the records from index @p length on. No record moves.
 *
 * @retval LX_ERR_RANGE  The dataset has fewer than @p length records; nothing changed.
 * @return Otherwise as lx_writer_append().
 */
LX_API lx_status lx_writer_truncate(lx_writer *writer, uint64_t length, lx_error *error);

/** @} */

/**
 * @defgroup lx_writer_commit Commit, roll back and seal
 *
 * A commit makes all operations since the last one visible to readers at once, and as durable as
 * lx_writer_options_set_durability() says. While a thread waits for the disk, other threads may add
 * operations; those that commit meanwhile share the next commit (group commit).
 * @see lx_ticket, lx_writer, lx_writer_options, zrecord(5)
 * @{
 */

/**
 * Commits all operations so far.
 *
 * @retval LX_OK            They are visible to readers, and as durable as the options say.
 * @retval LX_ERR_STATE     A transaction is open, another thread rolled back before this commit was
 *                          made, or the writer has sealed the dataset.
 * @retval LX_ERR_IO        The commit failed, for lack of space for instance. After
 *                          lx_writer_rollback() the writer can be used again.
 * @retval LX_ERR_LIMIT     There are more changes than a frame of the WAL takes, 26 million, or no
 *                          chunk id is left; as #LX_ERR_IO.
 * @retval LX_ERR_POISONED  A sync failed, and it is not known whether this commit survives. Or LOCK
 *                          was removed: the dataset is gone, or another writer may have it open.
 * @retval LX_ERR_FORKED    The writer belongs to the parent process.
 * @retval LX_ERR_ARGUMENT  @p writer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory; as #LX_ERR_IO.
 */
LX_API lx_status lx_writer_commit(lx_writer *writer, lx_error *error);

/**
 * Commits all operations so far without waiting: the executor's writers do it. Several such commits
 * become one if they can. A later rollback does not undo it.
 *
 * @param[in]  writer  The writer.
 * @param[out] ticket  Receives a ticket. lx_ticket_wait() waits for the commit and returns its
 *                     status, as lx_writer_commit(). lx_ticket_unref() releases it, which may be at
 *                     once. If the ticket is canceled before the commit begins, the next commit
 *                     includes the operations.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK         The commit is submitted.
 * @retval LX_ERR_STATE  A transaction is open.
 * @return Otherwise as lx_writer_append() and lx_executor_submit().
 */
LX_API lx_status lx_writer_submit_commit(lx_writer *writer, lx_ticket **ticket, lx_error *error);

/**
 * Commits all operations so far, unless a transaction is open, and syncs: everything that is
 * committed survives a power loss.
 * @return As lx_writer_commit(), except that an open transaction is not a failure and stays open.
 */
LX_API lx_status lx_writer_sync(lx_writer *writer, lx_error *error);

/**
 * Begins a transaction: nothing is committed until lx_writer_end_transaction(). Operations
 * before it are committed first.
 *
 * @retval LX_ERR_STATE  A transaction is open already.
 * @return Otherwise as lx_writer_commit().
 */
LX_API lx_status lx_writer_begin_transaction(lx_writer *writer, lx_error *error);

/**
 * Ends a transaction and commits it. After a failure it can only be rolled back.
 *
 * @retval LX_ERR_STATE  No transaction is open.
 * @return Otherwise as lx_writer_commit().
 */
LX_API lx_status lx_writer_end_transaction(lx_writer *writer, lx_error *error);

/**
 * Undoes all operations since the last commit, or since the last submitted one, and ends an open
 * transaction. It makes a writer usable again after a failed operation or commit.
 *
 * @retval LX_OK            The operations are undone.
 * @retval LX_ERR_POISONED  A sync failed: close the writer.
 * @retval LX_ERR_IO        A system call failed; the error has its errno.
 * @retval LX_ERR_FORKED    The writer belongs to the parent process.
 * @retval LX_ERR_ARGUMENT  @p writer is NULL.
 */
LX_API lx_status lx_writer_rollback(lx_writer *writer, lx_error *error);

/**
 * Commits and seals the dataset: the tables hold every record, no file has a byte too many, and
 * meta.json has the length and checksum of each. A sealed dataset opens fastest, and cannot be
 * changed until lx_dataset_unseal().
 *
 * Close the writer after that: calls that change or commit anything, also lx_writer_sync() and
 * another seal, return #LX_ERR_STATE.
 *
 * @retval LX_OK            The dataset is sealed.
 * @retval LX_ERR_STATE     A transaction is open, or the writer has sealed the dataset already.
 * @retval LX_ERR_LIMIT     No generation number is left: copy the dataset.
 * @retval LX_ERR_POISONED  A sync failed, and it is not known whether the dataset is sealed.
 * @return Otherwise as lx_writer_commit(), and the dataset is not sealed.
 */
LX_API lx_status lx_writer_seal(lx_writer *writer, lx_error *error);

/** @} */

/**
 * @defgroup lx_writer_rebalance Rewrite the files of a dataset
 *
 * Nothing that is committed is ever overwritten: a change is an update in the WAL, and the value
 * that it replaces stays in its chunk. These calls write new files (a new generation) without what
 * is no longer used.
 *
 * Each call commits first. Interrupted at any moment, the dataset is as it was before or as it is
 * after; the next writer removes the remains. After a failure it is as before, and unless a sync
 * failed the writer can be used, after lx_writer_rollback() at the latest.
 *
 * Readers keep reading the files that they have open. A writer removes obsolete files
 * that no reader uses: after this call, when it closes, and when the next writer opens the dataset.
 *
 * @code
 * lx_rebalance_result result;
 * if (lx_writer_rebalance(writer, NULL, NULL, &result, &error) != LX_OK)
 *     return complain(&error);
 * printf("%.0f %% of the chunks were in use\n",
 *        result.live_ratio_before * 100);
 * @endcode
 * @see loaderx-checkpoint(1), loaderx-rebalance(1), lx_dataset_stat(), lx_error, lx_writer,
 * zrecord(5)
 * @{
 */

/**
 * Checkpoints the WAL: writes new tables that include the row updates of the WAL, so that none is
 * left in it. A writer does so by itself when there are more than 65,536 updates, and more than an
 * eighth of the records. Without updates the call does nothing.
 *
 * @retval LX_OK            The WAL holds no update.
 * @retval LX_ERR_STATE     A transaction is open, or the writer has sealed the dataset.
 * @retval LX_ERR_LIMIT     No generation number is left: copy the dataset.
 * @retval LX_ERR_POISONED  A sync failed, and it is not known which tables the dataset has.
 * @return Otherwise as lx_writer_commit().
 */
LX_API lx_status lx_writer_checkpoint(lx_writer *writer, lx_error *error);

/** The result of lx_writer_rebalance(). */
typedef struct lx_rebalance_result {
    uint64_t records;          /**< Records of the dataset. */
    uint64_t payloads;         /**< Values that were moved: all that are stored in chunks. */
    uint64_t bytes;            /**< Bytes of these values. */
    uint64_t chunks_before;    /**< Chunk files before. */
    uint64_t chunks_after;     /**< Chunk files after. */
    uint64_t bytes_before;     /**< Committed bytes of all chunks before. */
    uint64_t bytes_after;      /**< Committed bytes of all chunks after. */
    double utilisation_before; /**< @ref payloads / (chunks * payloads that a chunk takes),
                                    before. */
    double utilisation_after;  /**< The same, after. */
    double live_ratio_before;  /**< @ref bytes / bytes of all chunks, before; 1 without chunks. */
    double live_ratio_after;   /**< The same, after: below 1 only because of alignment. */
    uint64_t reserved[4];      /**< Zero. */
} lx_rebalance_result;

/**
 * Rebalances the dataset (compaction): writes the payloads of all records to new chunks, in the
 * order of the records, and new tables for them. Each payload is verified by its checksum and
 * copied as it is stored. The disk must have room for the old and the new files. Memory is bounded
 * by 48 MiB and the size of the largest value, however large the dataset is.
 *
 * @param[in]  writer    The writer; its other callers wait.
 * @param[in]  progress  Receives the records that are done, and all; may be NULL. It must not call
 *                       the writer.
 * @param[in]  user      Passed to @p progress.
 * @param[out] result    Receives the result on success; may be NULL.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The dataset is rebalanced.
 * @retval LX_ERR_CORRUPT   A value is damaged, or values overlap; the error reports where.
 * @retval LX_ERR_STATE     A transaction is open, or the writer has sealed the dataset.
 * @retval LX_ERR_LIMIT     No chunk id or no generation number is left.
 * @retval LX_ERR_IO        A system call failed, for lack of space for instance.
 * @retval LX_ERR_POISONED  A sync failed, and it is not known which files the dataset has.
 * @return Otherwise as lx_writer_commit(), or the status that @p progress returned.
 */
LX_API lx_status lx_writer_rebalance(lx_writer *writer, lx_progress_function progress, void *user,
                                     lx_rebalance_result *result, lx_error *error);

/** @} */

/**
 * @defgroup lx_writer_add_field Add, drop and rename fields
 *
 * Each call commits first, and then changes the schema as a whole or not at all, whatever
 * interrupts it. Later appends follow the schema that lx_writer_get_schema() then returns. Readers
 * keep the fields with which they were opened. After any failure except #LX_ERR_POISONED the fields
 * are unchanged.
 * @see lx_error, lx_schema, lx_writer, zrecord(5)
 * @{
 */

/**
 * Adds a field as the last one of the schema. It is missing in all records until it is written. The
 * cost does not depend on the number of records.
 *
 * @param[in]  writer       The writer.
 * @param[in]  name         As for lx_schema_add_field().
 * @param[in]  dtype        As for lx_schema_add_field().
 * @param[in]  shape        As for lx_schema_add_field().
 * @param[in]  ndim         As for lx_schema_add_field().
 * @param[in]  compression  As for lx_schema_add_field().
 * @param[out] error        Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The field is there.
 * @retval LX_ERR_ARGUMENT  As for lx_schema_add_field().
 * @retval LX_ERR_EXISTS    The schema has a field of that name. Or, while no field was ever
 *                          dropped, a foreign file has a name that belongs to a file of the new
 *                          field.
 * @retval LX_ERR_LIMIT     The dataset has #LX_MAX_FIELDS fields, or no field id is left.
 * @retval LX_ERR_STATE     A transaction is open, or the writer has sealed the dataset.
 * @retval LX_ERR_POISONED  A sync failed, and it is not known whether the field is there.
 * @return Otherwise as lx_writer_commit().
 */
LX_API lx_status lx_writer_add_field(lx_writer *writer, const char *name, lx_dtype dtype,
                                     const uint64_t *shape, size_t ndim, lx_compression compression,
                                     lx_error *error);

/**
 * Drops a field with its values in all records. lx_writer_rebalance() frees their room in chunks.
 *
 * @retval LX_OK             The field is gone.
 * @retval LX_ERR_NOT_FOUND  The schema has no field of that name; the error lists those that it
 *                           has.
 * @retval LX_ERR_ARGUMENT   It is the only field, or a pointer is NULL.
 * @retval LX_ERR_STATE      A transaction is open, or the writer has sealed the dataset.
 * @retval LX_ERR_POISONED   A sync failed, and it is not known whether the field is there.
 * @return Otherwise as lx_writer_commit().
 */
LX_API lx_status lx_writer_drop_field(lx_writer *writer, const char *name, lx_error *error);

/**
 * Renames the field @p name to @p to. It keeps its id, its position in the schema, and its values.
 *
 * @retval LX_OK             The field has the new name.
 * @retval LX_ERR_NOT_FOUND  The schema has no field named @p name; the error lists those that it
 *                           has.
 * @retval LX_ERR_EXISTS     The schema has a field named @p to.
 * @retval LX_ERR_ARGUMENT   @p to is not a valid name, or a pointer is NULL.
 * @retval LX_ERR_STATE      A transaction is open, or the writer has sealed the dataset.
 * @retval LX_ERR_POISONED   A sync failed, and it is not known which name the field has.
 * @return Otherwise as lx_writer_commit().
 */
LX_API lx_status lx_writer_rename_field(lx_writer *writer, const char *name, const char *to,
                                        lx_error *error);

/** @} */

LX_END_DECLS

#endif
