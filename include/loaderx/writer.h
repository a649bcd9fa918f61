/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Writing datasets, with one writer per dataset at a time.
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

/** What a commit survives once the call has returned. doc/zrecord-format.md gives the details. */
typedef enum lx_durability {
    LX_DURABILITY_FULL = 0,     /**< The commit survives a power loss: the call syncs the commit
                                     before it returns. */
    LX_DURABILITY_PERIODIC = 1, /**< The commit survives the end of the process (even by kill -9)
                                     immediately, and a power loss after about a second. Outside of
                                     transactions, the writer also commits automatically after every
                                     256 MiB of payloads, and a rollback does not undo such a
                                     commit. The default. */
    LX_DURABILITY_NONE = 2      /**< The commit survives the end of the process, but a power loss
                                     only after lx_writer_sync() or lx_writer_close(). */
} lx_durability;

/**
 * The options of a writer.
 *
 * @par Thread safety
 * Only one thread at a time may use the options. A writer copies what it needs when it is opened.
 */
typedef struct lx_writer_options lx_writer_options;

/**
 * Returns new options with the defaults: periodic durability, chunks of up to 1,048,576 payloads or
 * 1 GiB, the default compression levels and an executor of the writer's own. Returns NULL if out of
 * memory.
 */
LX_API lx_writer_options *lx_writer_options_new(void);

/** Frees the options. NULL is allowed. */
LX_API void lx_writer_options_free(lx_writer_options *options);

/**
 * Sets what a commit survives.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p durability is invalid, or @p options is NULL.
 */
LX_API lx_status lx_writer_options_set_durability(lx_writer_options *options,
                                                  lx_durability durability, lx_error *error);

/**
 * Sets the limits at which a chunk of a new dataset is full. lx_writer_open() ignores the limits: a
 * dataset keeps those with which it was created.
 *
 * @param[in] options  The options.
 * @param[in] records  The number of payloads per chunk, 1 to 2^32 - 1.
 * @param[in] bytes    The number of bytes per chunk, 4096 to 2^40. A larger payload gets its own
 *                     chunk.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  A number is out of range, or @p options is NULL; nothing changed.
 */
LX_API lx_status lx_writer_options_set_chunk_limits(lx_writer_options *options, uint64_t records,
                                                    uint64_t bytes, lx_error *error);

/**
 * Sets the compression level, from 1 (fastest) to 9 (smallest), of the fields for which
 * lx_schema_set_compression() sets none.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p level is out of range, or @p options is NULL.
 */
LX_API lx_status lx_writer_options_set_compression_level(lx_writer_options *options, int level,
                                                         lx_error *error);

/**
 * Sets the executor that runs the writer's tasks, and takes a reference to it. With NULL, the
 * default, the writer opens its own executor.
 *
 * @retval LX_OK            Success.
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
 * lx_writer_extend(writer, 60000, columns, 2, NULL, &error);
 * if (lx_writer_close(writer, &error) != LX_OK)
 *     return complain(&error); // the first failure of the three calls
 * @endcode
 *
 * Records have no order except their index. If the data must be ordered, for example by time or by
 * a key, add a field for the time or the key.
 * @see loaderx-import(1), lx_dataset, lx_error, lx_schema, lx_writer_add_field(),
 * lx_writer_commit(), lx_writer_modify(), lx_writer_options, lx_writer_rebalance(), zrecord(5)
 * @{
 */

/**
 * Appends records to a dataset, and changes records.
 *
 * Only one writer at a time can have a dataset open. Commits make the writer's operations visible
 * and durable, in the order of the calls; each commit takes effect completely or not at all. After
 * a failed operation, the writer accepts no more operations until lx_writer_rollback(). After a
 * failed sync, or if LOCK was removed, the writer is poisoned: every call returns #LX_ERR_POISONED.
 * Close the writer, and open the dataset again to continue from the commits that survived.
 *
 * @par Thread safety
 * Any thread may make any call at any time, except lx_writer_close(). The operations of all threads
 * form one sequence, and a rollback undoes the operations of all threads. The executor's writer
 * threads compress and write the values, each thread to its own chunk. In a child of fork(2), calls
 * that return a status return #LX_ERR_FORKED; a child that outlives the writer's process does not
 * keep the dataset locked.
 */
typedef struct lx_writer lx_writer;

/**
 * Creates a dataset and opens it for writing.
 *
 * @param[in]  path     The directory to create. It may already exist if it is empty or contains
 *                      only the remains of an interrupted creation.
 * @param[in]  schema   The fields, at least one. The call copies them.
 * @param[in]  options  The options; NULL for the defaults.
 * @param[out] writer   Receives the writer; close it with lx_writer_close().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The writer was opened.
 * @retval LX_ERR_EXISTS       A dataset, or something else, already exists at @p path.
 * @retval LX_ERR_NOT_FOUND    The parent directory does not exist.
 * @retval LX_ERR_BUSY         Another writer is creating the dataset.
 * @retval LX_ERR_ARGUMENT     The schema has no fields, @p path is inside the directory of another
 *                             dataset, or a pointer is NULL.
 * @retval LX_ERR_UNSUPPORTED  @p path is on a network file system, or this library cannot write the
 *                             compression of a field; the error names the file system or the field.
 * @retval LX_ERR_IO           A system call failed; the error reports its errno.
 * @retval LX_ERR_NOMEM        Out of memory.
 */
LX_API lx_status lx_writer_create(const char *path, const lx_schema *schema,
                                  const lx_writer_options *options, lx_writer **writer,
                                  lx_error *error);

/**
 * Opens a dataset for writing. If the previous writer crashed, the call first recovers the dataset:
 * it makes that writer's commits durable, and removes any incomplete commit.
 *
 * @param[in]  path     The dataset's directory.
 * @param[in]  options  The options; NULL for the defaults. lx_writer_options_set_chunk_limits() has
 *                      no effect.
 * @param[out] writer   Receives the writer; close it with lx_writer_close().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The writer was opened.
 * @retval LX_ERR_NOT_FOUND    @p path is not a dataset, or does not exist.
 * @retval LX_ERR_BUSY         Another writer has the dataset open; the error names its process.
 * @retval LX_ERR_STATE        The dataset is sealed; see lx_dataset_unseal().
 * @retval LX_ERR_CORRUPT      meta.json or LOG is damaged; the error reports where.
 * @retval LX_ERR_UNSUPPORTED  The format, or a feature that the dataset uses, is newer than this
 *                             library; or the dataset is on a network file system (the error names
 *                             the file system), or was joined from parts.
 * @retval LX_ERR_LIMIT        The dataset has more than #LX_MAX_FIELDS fields.
 * @retval LX_ERR_IO           A system call failed; the error reports its errno.
 * @retval LX_ERR_ARGUMENT     A pointer is NULL.
 * @retval LX_ERR_NOMEM        Out of memory.
 */
LX_API lx_status lx_writer_open(const char *path, const lx_writer_options *options,
                                lx_writer **writer, lx_error *error);

/** A value to write to one field. The writer does not use the value's memory after the call. */
typedef struct lx_value {
    const void *data; /**< The bytes; may be NULL if @ref size is 0 or #LX_NONE. */
    uint64_t size;    /**< The number of bytes, which for a dense field must be the field's size;
                           #LX_NONE for a missing value. */
} lx_value;

/**
 * Appends a record.
 *
 * @param[in]  writer  The writer.
 * @param[in]  values  One value per field, in schema order.
 * @param[in]  count   The number of values, which must equal the number of fields.
 * @param[out] index   Receives the index of the record; may be NULL.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The record will be part of the next commit.
 * @retval LX_ERR_ARGUMENT  @p count is not the number of fields; a value does not have the size of
 *                          its field or, in a ragged field, a multiple of the size of an item; a
 *                          text is not UTF-8, or a #LX_JSON value is not JSON (the error reports
 *                          the byte); or a pointer is NULL. Nothing was appended.
 * @retval LX_ERR_LIMIT     A value is larger than #LX_MAX_VALUE, or the dataset would have more
 *                          than 2^59 - 1 records, in which case nothing was appended; or no chunk
 *                          id is left, in which case recover as for #LX_ERR_IO.
 * @retval LX_ERR_IO        This or an earlier operation could not be stored, for example because
 *                          the disk is full. lx_writer_rollback() undoes everything since the last
 *                          commit.
 * @retval LX_ERR_STATE     The writer has sealed the dataset.
 * @retval LX_ERR_POISONED  An earlier sync failed.
 * @retval LX_ERR_FORKED    The writer belongs to the parent process.
 * @retval LX_ERR_NOMEM     Out of memory; recover as for #LX_ERR_IO.
 */
LX_API lx_status lx_writer_append(lx_writer *writer, const lx_value *values, size_t count,
                                  uint64_t *index, lx_error *error);

/**
 * Values to write to one field of many records. The writer does not use the values' memory after
 * the call.
 */
typedef struct lx_values {
    const void *data;        /**< For a dense field, the values one after another, each of the
                                  field's size; for any other field, the bytes of all values. NULL
                                  if all values are missing or, with @ref offsets, if all values are
                                  empty. */
    const uint64_t *offsets; /**< If values vary in size, count + 1 ascending offsets into @c data,
                                  in bytes: value i consists of the bytes
                                  [offsets[i], offsets[i + 1]). NULL for a dense field. */
    const uint8_t *present;  /**< One byte per record, which is 0 if the value is missing; NULL if
                                  no value is missing. */
} lx_values;

/**
 * Appends many records. The call checks the arguments for all of the records before it appends any
 * record.
 *
 * @param[in]  writer       The writer.
 * @param[in]  count        The number of records.
 * @param[in]  columns      One column of @p count values per field, in schema order.
 * @param[in]  field_count  The number of columns, which must equal the number of fields.
 * @param[out] first        Receives the index of the first appended record; may be NULL.
 * @param[out] error        Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_ARGUMENT  As for lx_writer_append(), or the offsets do not ascend.
 * @return Otherwise, any status that lx_writer_append() returns.
 */
LX_API lx_status lx_writer_extend(lx_writer *writer, uint64_t count, const lx_values *columns,
                                  size_t field_count, uint64_t *first, lx_error *error);

/** Returns the number of records, including records that are not committed yet. */
LX_API uint64_t lx_writer_get_length(lx_writer *writer);

/**
 * Returns the current fields. The schema stays valid until the writer is closed; after you add,
 * drop or rename a field, call this function again to get the new schema.
 */
LX_API const lx_schema *lx_writer_get_schema(const lx_writer *writer);

/**
 * Commits pending operations, syncs, and closes the writer. An open transaction is rolled back. The
 * writer is closed even if one of these steps fails. NULL is allowed.
 * @return #LX_OK, or the status of the first failure, which may be any status that
 *         lx_writer_commit() returns.
 */
LX_API lx_status lx_writer_close(lx_writer *writer, lx_error *error);

/** @} */

/**
 * @defgroup lx_writer_modify Copy, modify and delete records
 *
 * Changes are committed and rolled back together with all other operations of the writer. A change
 * never overwrites committed data: readers keep their snapshots, and the old values take up space
 * until lx_writer_rebalance().
 *
 * This example gives record 7 a new label, and deletes record 9:
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
 * Appends copies of records from another dataset or from this one. To extract a subset, copy some
 * records to a new dataset; to split a dataset, do so several times; to merge datasets, copy all of
 * them to one dataset.
 *
 * Fields are matched by name. The values of a field that only this dataset has are missing in the
 * copies. A field that only @p from has is refused, unless the fields to copy are chosen. A
 * compressed value is copied as stored if the field is compressed in the same way in both datasets.
 * Each value is verified before it is copied.
 *
 * @param[in]  writer   The writer.
 * @param[in]  from     The dataset to copy from; the call reads its current snapshot.
 * @param[in]  fields   The positions, in the schema of @p from, of the @p field_count fields to copy;
 *                      the others are missing in the copies. NULL: all fields of @p from.
 * @param[in]  field_count  The number of @p fields.
 * @param[in]  indices  @p count record indices in @p from, in any order; repeats are allowed. NULL
 *                      means the first @p count records.
 * @param[in]  count    The number of records; if @p indices is NULL, #LX_NONE means all records.
 * @param[out] first    Receives the index of the first copy; may be NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_RANGE        An index is not less than the length of @p from, or a position in
 *                             @p fields is not one of its schema; nothing was appended.
 * @retval LX_ERR_MISMATCH     A field has a different dtype or shape in @p from, this dataset lacks
 *                             a field that is to be copied, or there is none; nothing was appended.
 * @retval LX_ERR_CORRUPT      A record of @p from is damaged. lx_writer_rollback() undoes
 *                             everything since the last commit.
 * @retval LX_ERR_UNSUPPORTED  This library cannot decompress a record of @p from, and the field is
 *                             not compressed in the same way in this dataset; recover as for
 *                             #LX_ERR_CORRUPT.
 * @return Otherwise, any status that lx_writer_extend() returns.
 */
LX_API lx_status lx_writer_copy(lx_writer *writer, lx_dataset *from, const size_t *fields,
                                size_t field_count, const uint64_t *indices, uint64_t count,
                                uint64_t *first, lx_error *error);

/**
 * Sets some fields of a record to new values.
 *
 * @param[in]  writer  The writer.
 * @param[in]  index   The index of the record, less than lx_writer_get_length(). The record need
 *                     not be committed.
 * @param[in]  fields  @p count positions in the schema. If a position is repeated, its last value
 *                     takes effect.
 * @param[in]  values  One value per field; a size of #LX_NONE makes the value missing.
 * @param[in]  count   The number of fields; 0 changes nothing.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_RANGE     The index is not less than the length; nothing changed.
 * @retval LX_ERR_ARGUMENT  A field does not exist, a value does not have the size of its field, or
 *                          a pointer is NULL; nothing changed.
 * @return Otherwise, any status that lx_writer_append() returns.
 */
LX_API lx_status lx_writer_modify(lx_writer *writer, uint64_t index, const size_t *fields,
                                  const lx_value *values, size_t count, lx_error *error);

/**
 * Sets some fields of many records to new values, in the order of @p indices. The call checks the
 * arguments for all of the records before it changes any record.
 *
 * @param[in]  writer       The writer.
 * @param[in]  indices      @p count indices, as for lx_writer_modify(); repeats are allowed.
 * @param[in]  count        The number of records.
 * @param[in]  fields       @p field_count positions in the schema.
 * @param[in]  columns      One column of @p count values per field.
 * @param[in]  field_count  The number of fields.
 * @param[out] error        Receives the first failure; may be NULL.
 * @return Any status that lx_writer_modify() returns.
 */
LX_API lx_status lx_writer_modify_many(lx_writer *writer, const uint64_t *indices, uint64_t count,
                                       const size_t *fields, const lx_values *columns,
                                       size_t field_count, lx_error *error);

/**
 * Deletes a record. The last record takes its place.
 *
 * No call deletes a record and also preserves the order of the other records. Such a call would
 * change the index of every later record, in this dataset and wherever indices are stored, and
 * would cost as much as rewriting all later records.
 *
 * @param[in]  writer  The writer.
 * @param[in]  index   The index of the record, less than lx_writer_get_length().
 * @param[out] moved   Receives the previous index of the record that is now at @p index; #LX_NONE
 *                     if the last record was deleted, so that no record moved. May be NULL.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_RANGE  The index is not less than the length; nothing changed.
 * @return Otherwise, any status that lx_writer_append() returns.
 */
LX_API lx_status lx_writer_delete(lx_writer *writer, uint64_t index, uint64_t *moved,
                                  lx_error *error);

/**
 * Deletes all records with an index of @p length or more. No record moves.
 *
 * @retval LX_ERR_RANGE  The dataset has fewer than @p length records; nothing changed.
 * @return Otherwise, any status that lx_writer_append() returns.
 */
LX_API lx_status lx_writer_truncate(lx_writer *writer, uint64_t length, lx_error *error);

/** @} */

/**
 * @defgroup lx_writer_commit Commit, roll back and seal
 *
 * A commit makes all operations since the previous commit visible to readers at once, and as
 * durable as lx_writer_options_set_durability() specifies. While a thread waits for the disk, other
 * threads can add operations; if several of them commit meanwhile, they share the next commit
 * (group commit).
 * @see lx_ticket, lx_writer, lx_writer_options, zrecord(5)
 * @{
 */

/**
 * Commits all operations so far.
 *
 * @retval LX_OK            The operations are visible to readers, and as durable as the options
 *                          specify.
 * @retval LX_ERR_STATE     A transaction is open, another thread rolled back before this commit was
 *                          made, or the writer has sealed the dataset.
 * @retval LX_ERR_IO        The commit failed, for example because the disk is full. After
 *                          lx_writer_rollback(), the writer can be used again.
 * @retval LX_ERR_LIMIT     There are more changes than a WAL frame can hold (26 million), or no
 *                          chunk id is left; recover as for #LX_ERR_IO.
 * @retval LX_ERR_POISONED  A sync failed, and it is unknown whether this commit survives; or LOCK
 *                          was removed, so the dataset is gone or a different writer may have it
 *                          open.
 * @retval LX_ERR_FORKED    The writer belongs to the parent process.
 * @retval LX_ERR_ARGUMENT  @p writer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory; recover as for #LX_ERR_IO.
 */
LX_API lx_status lx_writer_commit(lx_writer *writer, lx_error *error);

/**
 * Commits all operations so far without waiting: the executor's writer threads perform the commit.
 * Several such commits are combined if possible. A later rollback does not undo the commit.
 *
 * @param[in]  writer  The writer.
 * @param[out] ticket  Receives a ticket. lx_ticket_wait() waits for the commit and returns its
 *                     status, which may be any status that lx_writer_commit() returns. Release the
 *                     ticket with lx_ticket_unref(); you may do so immediately. If the ticket is
 *                     canceled before the commit begins, the next commit includes the operations.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK         The commit was submitted.
 * @retval LX_ERR_STATE  A transaction is open.
 * @return Otherwise, any status that lx_writer_append() or lx_executor_submit() returns.
 */
LX_API lx_status lx_writer_submit_commit(lx_writer *writer, lx_ticket **ticket, lx_error *error);

/**
 * Commits all operations so far, unless a transaction is open, and syncs, so that everything that
 * is committed survives a power loss.
 * @return Any status that lx_writer_commit() returns, except that an open transaction is not a
 *         failure and stays open.
 */
LX_API lx_status lx_writer_sync(lx_writer *writer, lx_error *error);

/**
 * Begins a transaction: nothing is committed until lx_writer_end_transaction(). Earlier operations
 * are committed first.
 *
 * @retval LX_ERR_STATE  A transaction is already open.
 * @return Otherwise, any status that lx_writer_commit() returns.
 */
LX_API lx_status lx_writer_begin_transaction(lx_writer *writer, lx_error *error);

/**
 * Ends a transaction and commits it. After a failure, the transaction can only be rolled back.
 *
 * @retval LX_ERR_STATE  No transaction is open.
 * @return Otherwise, any status that lx_writer_commit() returns.
 */
LX_API lx_status lx_writer_end_transaction(lx_writer *writer, lx_error *error);

/**
 * Undoes all operations since the last commit, whether completed or only submitted, and ends any
 * open transaction. The call makes the writer usable again after a failed operation or commit.
 *
 * @retval LX_OK            The operations were undone.
 * @retval LX_ERR_POISONED  A sync failed: close the writer.
 * @retval LX_ERR_IO        A system call failed; the error reports its errno.
 * @retval LX_ERR_FORKED    The writer belongs to the parent process.
 * @retval LX_ERR_ARGUMENT  @p writer is NULL.
 */
LX_API lx_status lx_writer_rollback(lx_writer *writer, lx_error *error);

/**
 * Commits and seals the dataset: the tables contain every record, no file contains extra bytes, and
 * meta.json lists the size and checksum of each table. A sealed dataset opens fastest, and cannot
 * be changed until lx_dataset_unseal().
 *
 * Close the writer afterwards: calls that change or commit anything, including lx_writer_sync() and
 * a second lx_writer_seal(), return #LX_ERR_STATE.
 *
 * @retval LX_OK            The dataset was sealed.
 * @retval LX_ERR_STATE     A transaction is open, the writer has already sealed the dataset, or an
 *                          import into it is not complete (#LX_CARD_IMPORT).
 * @retval LX_ERR_LIMIT     No generation number is left: copy the dataset to a new dataset.
 * @retval LX_ERR_POISONED  A sync failed, and it is unknown whether the dataset is sealed.
 * @return Otherwise, any status that lx_writer_commit() returns; the dataset is then not sealed.
 */
LX_API lx_status lx_writer_seal(lx_writer *writer, lx_error *error);

/** @} */

/**
 * @defgroup lx_writer_rebalance Rewrite the files of a dataset
 *
 * Committed data is never overwritten: a change is written to the WAL as an update, and the value
 * that it replaces stays in its chunk. These calls write new files (a new generation), which leave
 * out the data that is no longer used.
 *
 * Each call commits first. If the call is interrupted, the dataset is left either as it was before
 * the call or as it is after a complete call, never in between. The next writer removes any
 * leftover files. After a failure, the dataset is as it was before. Unless a sync failed, the
 * writer remains usable, in some cases only after lx_writer_rollback().
 *
 * Readers keep reading the files that they have open. After these calls, and when it opens or
 * closes the dataset, a writer removes the obsolete files that no reader is using.
 *
 * @code
 * lx_rebalance_result result;
 * if (lx_writer_rebalance(writer, NULL, NULL, &result, &error) != LX_OK)
 *     return complain(&error);
 * printf("%.0f%% of the bytes in chunks were live\n",
 *        result.live_ratio_before * 100);
 * @endcode
 * @see loaderx-checkpoint(1), loaderx-rebalance(1), lx_dataset_stat(), lx_error, lx_writer,
 * zrecord(5)
 * @{
 */

/**
 * Checkpoints the WAL: writes new tables that include the row updates of the WAL. Afterwards, the
 * WAL contains no updates. A writer does so automatically when the number of updates exceeds both
 * 65,536 and an eighth of the number of rows in the tables. If there are no updates, the call does
 * nothing.
 *
 * @retval LX_OK            The WAL contains no updates.
 * @retval LX_ERR_STATE     A transaction is open, or the writer has sealed the dataset.
 * @retval LX_ERR_LIMIT     No generation number is left: copy the dataset to a new dataset.
 * @retval LX_ERR_POISONED  A sync failed, and it is unknown which tables the dataset has.
 * @return Otherwise, any status that lx_writer_commit() returns.
 */
LX_API lx_status lx_writer_checkpoint(lx_writer *writer, lx_error *error);

/** The result of lx_writer_rebalance(). */
typedef struct lx_rebalance_result {
    uint64_t records;          /**< The number of records in the dataset. */
    uint64_t payloads;         /**< The number of values that were moved, which is the number of all
                                    values stored in chunks. */
    uint64_t bytes;            /**< The size of these values in bytes. */
    uint64_t chunks_before;    /**< The number of chunk files before the rebalance. */
    uint64_t chunks_after;     /**< The number of chunk files after the rebalance. */
    uint64_t bytes_before;     /**< The number of committed bytes in all chunks before the
                                    rebalance. */
    uint64_t bytes_after;      /**< The number of committed bytes in all chunks after the
                                    rebalance. */
    double utilisation_before; /**< Before the rebalance, @ref payloads / (@ref chunks_before *
                                    maximum payloads per chunk). */
    double utilisation_after;  /**< After the rebalance, @ref payloads / (@ref chunks_after *
                                    maximum payloads per chunk). */
    double live_ratio_before;  /**< @ref bytes / @ref bytes_before; 1 if there are no chunks. */
    double live_ratio_after;   /**< @ref bytes / @ref bytes_after; less than 1 only because of
                                    alignment. */
    uint64_t kept_files;       /**< The number of old files that readers still use, with deleted
                                    values in them. lx_writer_remove_old_files() removes them
                                    later. */
    uint64_t reserved[3];      /**< Reserved; zero. */
} lx_rebalance_result;

/**
 * Rebalances the dataset (compaction): writes the payloads of all records to new chunks, in record
 * order, and writes new tables for them. Each payload is verified against its checksum and copied
 * as stored. The disk must have space for both the old and the new files. The call uses at most 48
 * MiB of memory plus the size of the largest value, regardless of the size of the dataset.
 *
 * @param[in]  writer    The writer. Other threads that call the writer wait until the call returns.
 * @param[in]  progress  The progress callback, which receives the number of records processed so
 *                       far and the total; may be NULL. The callback must not call the writer.
 * @param[in]  user      The pointer to pass to @p progress.
 * @param[out] result    Receives the result on success; may be NULL.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The dataset was rebalanced.
 * @retval LX_ERR_CORRUPT   A value is damaged, or values overlap; the error reports where.
 * @retval LX_ERR_STATE     A transaction is open, or the writer has sealed the dataset.
 * @retval LX_ERR_LIMIT     No chunk id or no generation number is left.
 * @retval LX_ERR_IO        A system call failed, for example because the disk is full.
 * @retval LX_ERR_POISONED  A sync failed, and it is unknown which files the dataset has.
 * @return Otherwise, any status that lx_writer_commit() returns, or the status that @p progress
 *         returned.
 */
LX_API lx_status lx_writer_rebalance(lx_writer *writer, lx_progress_function progress, void *user,
                                     lx_rebalance_result *result, lx_error *error);

/**
 * Removes the old files that no reader uses any more. Every call that makes files obsolete does so,
 * and so does every writer that is opened; with this call, a writer can wait until the bytes of
 * deleted values are gone.
 *
 * @param[in]  writer  The writer.
 * @param[out] kept    Receives the number of old files that are left, because readers that were
 *                     opened before still use them or because they cannot be removed.
 * @param[out] error   Receives the reason for a failure; may be NULL.
 *
 * @retval LX_OK            The number was stored in @p kept.
 * @retval LX_ERR_ARGUMENT  @p writer or @p kept is NULL.
 * @return Otherwise, a status that means that the writer can no longer be used, as
 *         lx_writer_commit() returns it.
 */
LX_API lx_status lx_writer_remove_old_files(lx_writer *writer, uint64_t *kept, lx_error *error);

/** @} */

/**
 * @defgroup lx_writer_add_field Add, drop, rename and compress fields
 *
 * Each call commits first, and then changes the schema completely or not at all, even if it is
 * interrupted. Later appends must use the schema that lx_writer_get_schema() returns after the
 * call. Readers keep the fields that they were opened with. After any failure except
 * #LX_ERR_POISONED, the fields are unchanged.
 * @see lx_error, lx_schema, lx_writer, zrecord(5)
 * @{
 */

/**
 * Adds a field at the end of the schema. The field's value is missing in each record until it is
 * written. The cost does not depend on the number of records.
 *
 * @param[in]  writer       The writer.
 * @param[in]  name         The same as for lx_schema_add_field().
 * @param[in]  dtype        The same as for lx_schema_add_field().
 * @param[in]  shape        The same as for lx_schema_add_field().
 * @param[in]  ndim         The same as for lx_schema_add_field().
 * @param[in]  compression  The same as for lx_schema_add_field().
 * @param[out] error        Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The field was added.
 * @retval LX_ERR_ARGUMENT  The same as for lx_schema_add_field().
 * @retval LX_ERR_EXISTS    The schema already has a field with that name; or a file that does not
 *                          belong to the dataset has the name of one of the new field's files,
 *                          which is possible only if no field was ever dropped.
 * @retval LX_ERR_LIMIT     The dataset already has #LX_MAX_FIELDS fields, or no field id is left.
 * @retval LX_ERR_STATE     A transaction is open, or the writer has sealed the dataset.
 * @retval LX_ERR_POISONED  A sync failed, and it is unknown whether the field exists.
 * @return Otherwise, any status that lx_writer_commit() returns.
 */
LX_API lx_status lx_writer_add_field(lx_writer *writer, const char *name, lx_dtype dtype,
                                     const uint64_t *shape, size_t ndim, lx_compression compression,
                                     lx_error *error);

/**
 * Adds a field as lx_writer_add_field() does, and gives it the same value in each existing record.
 * The call writes 24 bytes per record, and does not rewrite other fields. A value of more than 8
 * bytes is stored only once: all existing records share it until they are changed. The default does
 * not apply to records that are appended later.
 *
 * @param[in]  writer       The writer.
 * @param[in]  name         The same as for lx_schema_add_field().
 * @param[in]  dtype        The same as for lx_schema_add_field().
 * @param[in]  shape        The same as for lx_schema_add_field().
 * @param[in]  ndim         The same as for lx_schema_add_field().
 * @param[in]  compression  The same as for lx_schema_add_field().
 * @param[in]  value        The default, a valid value of the field. If it is NULL or missing (a
 * size of #LX_NONE), the existing records have no value.
 * @param[out] error        Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The field was added.
 * @retval LX_ERR_ARGUMENT  The same as for lx_schema_add_field(); or @p value is not a valid value
 *                          of the field, as for lx_writer_append().
 * @retval LX_ERR_IO        A system call failed, for example because the disk is full.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, any status that lx_writer_add_field() returns.
 */
LX_API lx_status lx_writer_add_field_default(lx_writer *writer, const char *name, lx_dtype dtype,
                                             const uint64_t *shape, size_t ndim,
                                             lx_compression compression, const lx_value *value,
                                             lx_error *error);

/**
 * Drops a field, along with its values in all records. lx_writer_rebalance() frees the space that
 * the values take up in chunks.
 *
 * @retval LX_OK             The field was dropped.
 * @retval LX_ERR_NOT_FOUND  The schema has no field with that name; the error lists the existing
 *                           names.
 * @retval LX_ERR_ARGUMENT   The field is the only field of the dataset, or a pointer is NULL.
 * @retval LX_ERR_STATE      A transaction is open, or the writer has sealed the dataset.
 * @retval LX_ERR_POISONED   A sync failed, and it is unknown whether the field exists.
 * @return Otherwise, any status that lx_writer_commit() returns.
 */
LX_API lx_status lx_writer_drop_field(lx_writer *writer, const char *name, lx_error *error);

/**
 * Renames the field @p name to @p to. The field keeps its id, its position in the schema and its
 * values.
 *
 * @retval LX_OK             The field was renamed.
 * @retval LX_ERR_NOT_FOUND  The schema has no field named @p name; the error lists the existing
 *                           names.
 * @retval LX_ERR_EXISTS     The schema already has a field named @p to.
 * @retval LX_ERR_ARGUMENT   @p to is not a valid name, or a pointer is NULL.
 * @retval LX_ERR_STATE      A transaction is open, or the writer has sealed the dataset.
 * @retval LX_ERR_POISONED   A sync failed, and it is unknown which name the field has.
 * @return Otherwise, any status that lx_writer_commit() returns.
 */
LX_API lx_status lx_writer_rename_field(lx_writer *writer, const char *name, const char *to,
                                        lx_error *error);

/**
 * Converts values for lx_writer_convert_field(), on the calling thread. The function must not call
 * the writer.
 *
 * @param values     The values of consecutive records. The offsets and @c present are set in any
 *                   case. A missing value of a dense field consists of zeros.
 * @param count      The number of records, at least 1.
 * @param converted  Receives the converted values, in the form that lx_writer_extend() takes. Their
 *                   memory belongs to the function, and must stay valid until the next call, or
 *                   until lx_writer_convert_field() returns. All members are NULL at first, which
 *                   means that all values are missing.
 * @param user       The pointer that was passed to lx_writer_convert_field().
 * @param error      Receives the description of a failure; never NULL.
 * @return #LX_OK on success. Any other status ends the conversion, which returns that status
 *         (#LX_ERR_CALLBACK if it is positive).
 */
typedef lx_status (*lx_convert_function)(const lx_values *values, uint64_t count,
                                         lx_values *converted, void *user, lx_error *error);

/**
 * Changes the type of a field, and converts its values. The field keeps its name, its position in
 * the schema and its compression; it gets a new id. Only this field is rewritten. The space of the
 * old values in chunks is freed by lx_writer_rebalance(). Readers that have the field open must
 * open the dataset again, as after lx_writer_drop_field().
 *
 * If the field has a dictionary, the converted values are compressed without one, and a new
 * dictionary is trained later.
 *
 * @param[in]  writer    The writer.
 * @param[in]  name      The name of the field.
 * @param[in]  dtype     The new type, as for lx_schema_add_field().
 * @param[in]  shape     The new shape, as for lx_schema_add_field().
 * @param[in]  ndim      The new number of dimensions, as for lx_schema_add_field().
 * @param[in]  function  Converts values; called for up to 4096 records at a time, in order.
 * @param[in]  user      The pointer to pass to @p function.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK             The field was converted.
 * @retval LX_ERR_NOT_FOUND  The schema has no field with that name; the error lists the existing
 *                           names.
 * @retval LX_ERR_ARGUMENT   The type or the shape is invalid, a converted value is invalid (the
 *                           error reports the record), or a pointer is NULL.
 * @retval LX_ERR_CORRUPT    A value is damaged; the error reports where.
 * @retval LX_ERR_LIMIT      No field id, chunk id or generation number is left, or a converted
 * value is larger than #LX_MAX_VALUE.
 * @retval LX_ERR_STATE      A transaction is open, or the writer has sealed the dataset.
 * @retval LX_ERR_IO         A system call failed, for example because the disk is full.
 * @retval LX_ERR_POISONED   A sync failed, and it is unknown which type the field has.
 * @return Otherwise, any status that @p function, lx_writer_commit() or lx_dataset_open() returns.
 */
LX_API lx_status lx_writer_convert_field(lx_writer *writer, const char *name, lx_dtype dtype,
                                         const uint64_t *shape, size_t ndim,
                                         lx_convert_function function, void *user, lx_error *error);

/**
 * Changes how new values of a field are compressed, for this writer and all later ones; existing
 * values stay as they are. The parameters are the same as for lx_schema_set_compression(). A
 * dictionary that was trained can no longer be changed, so pass the size that lx_field names.
 *
 * @retval LX_OK             The settings were changed.
 * @retval LX_ERR_NOT_FOUND  The schema has no field with that name; the error lists the existing
 *                           names.
 * @retval LX_ERR_ARGUMENT   The same as for lx_schema_set_compression().
 * @retval LX_ERR_STATE      The field has a dictionary, and @p dictionary is another size; or a
 *                           transaction is open, or the writer has sealed the dataset.
 * @retval LX_ERR_POISONED   A sync failed, and it is unknown whether the settings were changed.
 * @return Otherwise, any status that lx_writer_commit() returns.
 */
LX_API lx_status lx_writer_set_compression(lx_writer *writer, const char *name, int level,
                                           uint32_t dictionary, lx_error *error);

/**
 * Trains the dictionary of a zstd field now, on evenly spaced values of the field with the same
 * name in @p from, and compresses new values with it. Existing values stay as they are; to compress
 * them with the dictionary, copy them into a new dataset (lx_writer_copy()) after training its
 * dictionary on the old one. The size of the dictionary is that of lx_schema_set_compression(), or
 * else #LX_DEFAULT_DICTIONARY. Training takes a few seconds.
 *
 * @param[in]  writer  The writer.
 * @param[in]  name    The name of the field in both datasets.
 * @param[in]  from    The dataset to train on, open for reading; NULL: that of the writer, with the
 *                     records of all earlier calls.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK             The field has a dictionary, which is durable.
 * @retval LX_ERR_NOT_FOUND  One of the datasets has no field with that name.
 * @retval LX_ERR_ARGUMENT   The field is not compressed with #LX_COMPRESSION_ZSTD, or @p writer or
 *                           @p name is NULL.
 * @retval LX_ERR_UNSUPPORTED  This library was built without libzstd.
 * @retval LX_ERR_STATE      The field already has a dictionary; or @p from has too few values, or
 *                           values that are too short or have nothing in common; or a transaction
 *                           is open, or the writer has sealed the dataset.
 * @retval LX_ERR_POISONED   A sync failed, and it is unknown whether the field has a dictionary.
 * @return Otherwise, any status that lx_writer_commit(), lx_dataset_open() or lx_dataset_refresh()
 *         returns.
 */
LX_API lx_status lx_writer_train_dictionary(lx_writer *writer, const char *name, lx_dataset *from,
                                            lx_error *error);

/** @} */

LX_END_DECLS

#endif
