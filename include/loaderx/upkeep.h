/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Looking after zrecord datasets: verification, repair, backup, statistics, export, removal.
 */
#ifndef LOADERX_UPKEEP_H
#define LOADERX_UPKEEP_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/dataset.h>
#include <loaderx/progress.h>

LX_BEGIN_DECLS

/** @defgroup lx_dataset_verify Check every record of a dataset
 * @{ */

/** Told of each damage that lx_dataset_verify() finds, on the thread that called it, in ascending
 * order of records, and of fields within a record; those of files follow. @p damage is valid during
 * the call. A return of other than #LX_OK ends the verification with that status; its lx_error
 * tells of the first damage all the same. */
typedef lx_status (*lx_damage_function)(const lx_error *damage, void *user);

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
 * The readers of the executor that the dataset was opened with check parts of it side by side;
 * where it has none, those of one that is opened for the call, one for each CPU. What is to be read
 * soon is asked for ahead, so a dataset that is not in memory is read as fast as the disk gives it.
 *
 * @param[in]  dataset   A dataset.
 * @param[in]  damaged   Told of each damage; may be NULL.
 * @param[in]  progress  Told how far it is; may be NULL.
 * @param[in]  user      Given to both.
 * @param[out] result    What was done; may be NULL.
 * @param[out] error     The first damage, else why it could not go on; may be NULL.
 * @retval LX_OK           Nothing is damaged.
 * @retval LX_ERR_CORRUPT  Something is.
 * @retval LX_ERR_IO       The system refused; errno tells why. The rest was not looked at.
 * @return Else what @p damaged or @p progress returned, or as lx_dataset_refresh() where @p dataset
 *         is live.
 */
LX_API lx_status lx_dataset_verify(lx_dataset *dataset, lx_damage_function damaged,
                                   lx_progress_function progress, void *user,
                                   lx_verification *result, lx_error *error);

/** @} */

/** @defgroup lx_dataset_backup Copy a dataset file by file
 * @{ */

/**
 * Copies the state that is being read to another directory, file by file: a dataset of its own,
 * with the same records and the same uuid. Whoever writes, or replaces files, goes on meanwhile,
 * and nothing of that is in the copy. What the state does not name is left out.
 *
 * The copy is durable when the call returns. All of its commits count on any machine: where the
 * last one had not been synced, or together with its data, one that changes nothing and counts as
 * synced is added behind it. Then, and only then, lx_dataset_get_identity() tells of a later epoch. A
 * dataset that is copied by other means loses commits that were not synced, as in a loss of power,
 * once the copy is on another machine or the machine is started again.
 *
 * Records are not verified. Copy and dataset must not both be written to: their states would have
 * the same uuid and not the same records.
 *
 * @param[in]  dataset   A dataset.
 * @param[in]  path      The directory to make; it may be there if it is empty.
 * @param[in]  progress  Told how many bytes are copied; may be NULL.
 * @param[in]  user      Given to it.
 * @param[out] error     Where a failure is told; may be NULL.
 *
 * @retval LX_ERR_ARGUMENT @p path lies among the files of a dataset, or is empty.
 * @retval LX_ERR_NOT_FOUND The folder is not there in which it is to be made.
 * @retval LX_ERR_EXISTS   Something is in @p path. It is left as it is.
 * @retval LX_ERR_BUSY     A writer is creating a dataset there.
 * @retval LX_ERR_CORRUPT  A file is absent or shorter than what is committed of it.
 * @retval LX_ERR_STATE    A loss of cached pages has taken the state that is being read: refresh.
 * @retval LX_ERR_IO       The system refused; errno tells why.
 * @return Else what @p progress returned, or as lx_dataset_refresh() where @p dataset is live.
 *         After a failure, what was made is removed.
 */
LX_API lx_status lx_dataset_backup(lx_dataset *dataset, const char *path,
                                   lx_progress_function progress, void *user, lx_error *error);

/** @} */

/** @defgroup lx_dataset_repair Repair a damaged dataset
 * @{ */

/** What lx_dataset_repair() may do. */
typedef enum lx_repair {
    LX_REPAIR_REPORT = 0,        /**< Nothing: it tells what #LX_REPAIR_VALUES would do. */
    LX_REPAIR_VALUES = 1,        /**< Damaged values become missing ones. */
    LX_REPAIR_RECORDS = 2,       /**< Records with a damaged value are deleted: the last records
                                      take their places, as lx_writer_delete() has it. */
    LX_REPAIR_REPORT_RECORDS = 3 /**< Nothing: it tells what #LX_REPAIR_RECORDS would do. */
} lx_repair;

/** What is done about a damage. */
typedef enum lx_remedy {
    LX_REMEDY_NONE = 0,    /**< Nothing can be done, or nothing need be: it is told only. */
    LX_REMEDY_MISSING = 1, /**< The value reads as missing. */
    LX_REMEDY_DELETE = 2,  /**< Its record is deleted. */
    LX_REMEDY_FORGET = 3,  /**< What is not there is not said to be there any more: later commits,
                                and chunks of theirs, rows of a table, bytes of a chunk, a seal. */
    LX_REMEDY_LEFTOVER = 4 /**< Nothing now: the next writer removes the file, which an earlier one
                                left, when no reader needs it. */
} lx_remedy;

/** Something that lx_dataset_repair() has found. */
typedef struct lx_finding {
    lx_remedy remedy;     /**< What is done about it. */
    lx_error damage;      /**< What is wrong, and where. Its status is #LX_ERR_CORRUPT; of a file
                               that is no part of the dataset, or a leftover, #LX_ERR_EXISTS. */
    uint64_t reserved[4]; /**< Zero. */
} lx_finding;

/** Told of each finding, on the thread that repairs; @p finding is valid during the call. A return
 * of other than #LX_OK ends the repair with that status, and with nothing changed; its lx_error
 * tells the status, as with #lx_progress_function. */
typedef lx_status (*lx_finding_function)(const lx_finding *finding, void *user);

/** What lx_dataset_repair() did, or would do. */
typedef struct lx_repair_result {
    uint64_t records;     /**< Records looked at. */
    uint64_t values;      /**< Values looked at. */
    uint64_t damages;     /**< Damages found. */
    uint64_t missing;     /**< Values that read as missing now, or would. Those of lost rows count
                               all: which of them were missing before is not known. */
    uint64_t deleted;     /**< Records that were deleted, or would be. */
    uint64_t kept_bytes;  /**< Stored bytes of damaged values that were put aside. */
    uint64_t foreign;     /**< Files that are no part of the dataset, and leftovers. */
    uint32_t changed;     /**< 1 if the dataset was changed. */
    uint32_t unused;      /**< Zero. */
    char aside[512];      /**< Where things were put aside (its end, if it is longer), or "". */
    uint64_t reserved[8]; /**< Zero. */
} lx_repair_result;

/**
 * Makes of a damaged dataset one that is whole: keeps what verifies, and puts the rest aside. Also
 * of one that cannot be opened, unless its meta.json is damaged, or the first frame of its log
 * without a seal that tells what there is, or a file of it is a symbolic link: what that points to
 * is to be put in its place. A LOCK that is no file is to be removed.
 *
 * - A value that does not verify becomes missing, or its record is deleted, as @p mode says.
 * - Where the log is damaged, the dataset is as it was after the last commit before that; those
 *   behind are lost, and the message tells what is known of them. Where the dataset is sealed, and
 *   the log does not reach what was sealed, meta.json and the tables tell what is in it, and
 *   nothing is lost.
 * - Rows behind the end of a table that is too short read as missing, of all their values.
 * - A chunk that is absent or too short ends where it ends; values that lay behind are damaged.
 * - A seal is taken off, if anything is changed.
 * - Files that are no part of the dataset are told of and left as they are; those that an earlier
 *   writer left, and the next one removes, as such.
 *
 * What is taken out goes to a new directory beside the dataset, DIR.damaged-N: a list
 * (damaged.json) of the damages with all that their entries say, the stored bytes that could be
 * read (values), the old meta.json, log and tables, and chunks that only lost commits name. Nothing
 * of that is needed by the dataset.
 *
 * All changes come into being at once, with a new meta.json. Interrupted before that, in whatever
 * way, the dataset is as it was. Readers that have it open go on with what they had; there must be
 * no writer, except beside a report, which looks at what was committed last. Where nothing
 * is damaged nothing is changed.
 *
 * @param[in]  path      The dataset's directory.
 * @param[in]  mode      What may be done; first look at what a report tells.
 * @param[in]  found     Told of each finding; may be NULL.
 * @param[in]  progress  Told how many records were looked at; may be NULL.
 * @param[in]  user      Given to both.
 * @param[out] result    What was done; may be NULL.
 * @param[out] error     Where a failure is told; may be NULL.
 *
 * @retval LX_OK               Nothing was damaged, or it is repaired.
 * @retval LX_ERR_CORRUPT      Something is damaged, and nothing was changed: because of @p mode, or
 *                             as nothing can be done. The error tells of the first damage, and of
 *                             what else may be done where it cannot be repaired.
 * @retval LX_ERR_NOT_FOUND    There is no dataset at @p path.
 * @retval LX_ERR_BUSY         It is being written, and @p mode is not that of a report; or a
 *                             writer replaces its meta.json again and again.
 * @retval LX_ERR_UNSUPPORTED  Its format or a feature of it is newer than this library; or it is on
 *                             a network file system, and @p mode is not that of a report.
 * @retval LX_ERR_LIMIT        It has more than #LX_FIELDS_MAX fields, or there are no more numbers
 *                             for generations, or it tells of more than 2^36 records of which
 *                             nothing is there.
 * @retval LX_ERR_ARGUMENT     @p path is NULL, or @p mode is none.
 * @retval LX_ERR_IO           The system refused; errno tells why. A value that the disk does not
 *                             give back (EIO) is a damage.
 */
LX_API lx_status lx_dataset_repair(const char *path, lx_repair mode, lx_finding_function found,
                                   lx_progress_function progress, void *user,
                                   lx_repair_result *result, lx_error *error);

/** @} */

/** @defgroup lx_dataset_stat Count records and bytes of a dataset
 * @{ */

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
    uint64_t live_payloads;  /**< Payloads that some record refers to. */
    uint64_t dead_bytes;     /**< chunk_bytes less live_bytes: what was replaced, deleted or never
                                  used, which a rebalance gives back; and gaps, which it does not:
                                  before each value there is room up to its field's alignment. */
    uint64_t reserved[6];    /**< Zero. */
} lx_statistics;

/** The sizes of one field, as lx_dataset_stat() tells them. */
typedef struct lx_field_statistics {
    uint64_t present;       /**< Records that have a value. */
    uint64_t missing;       /**< Records that have none. */
    uint64_t inlined;       /**< Values of at most 8 bytes, kept in the table. */
    uint64_t compressed;    /**< Values that are stored compressed. */
    uint64_t logical_bytes; /**< Bytes of all values, decompressed. */
    uint64_t stored_bytes;  /**< Bytes they take in chunks, all live. Which field dead bytes were
                                 of is written down nowhere. */
    uint64_t reserved[4];   /**< Zero. */
} lx_field_statistics;

/**
 * Adds up sizes. Reads all tables, but no record.
 *
 * @param[in]  dataset  A dataset.
 * @param[out] totals   The dataset's sizes.
 * @param[out] fields   One for each field, in the schema's order; may be NULL.
 * @param[out] error    Where a failure is told; may be NULL.
 * @retval LX_ERR_CORRUPT   An entry is damaged.
 * @retval LX_ERR_ARGUMENT  @p dataset or @p totals is NULL.
 * @return Else as lx_dataset_refresh() where @p dataset is live.
 */
LX_API lx_status lx_dataset_stat(lx_dataset *dataset, lx_statistics *totals,
                                 lx_field_statistics *fields, lx_error *error);

/** One chunk, as lx_dataset_get_chunk() and lx_dataset_stat_chunks() tell it. */
typedef struct lx_chunk_info {
    uint32_t id;           /**< Its number; the file is chunk/ID.zr. */
    uint64_t records;      /**< Payloads in it, live or not. */
    uint64_t bytes;        /**< Committed bytes. */
    uint64_t live_records; /**< Payloads that some record refers to; #LX_NONE: not counted. */
    uint64_t live_bytes;   /**< Their bytes; #LX_NONE: not counted. */
} lx_chunk_info;

/** Chunk number @p position in ascending order of ids, without what is live of it; #LX_END if there
 * are not so many, #LX_ERR_ARGUMENT where a pointer is NULL, else as lx_dataset_refresh() where
 * @p dataset is live. */
LX_API lx_status lx_dataset_get_chunk(lx_dataset *dataset, size_t position, lx_chunk_info *info);

/**
 * Tells of all chunks of one state, in ascending order of ids, and counts what is live of each.
 * Reads all tables, but no record.
 *
 * @param[in]  dataset   A dataset.
 * @param[out] infos     Room for @p capacity chunks; may be NULL if that is 0.
 * @param[in]  capacity  How many chunks to tell of at most.
 * @param[out] count     How many there are, also where that is more than @p capacity.
 * @param[out] error     Where a failure is told; may be NULL.
 * @retval LX_OK            Done. With a @p capacity of 0 nothing was read.
 * @retval LX_ERR_CORRUPT   An entry is damaged.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @return Else as lx_dataset_refresh() where @p dataset is live.
 */
LX_API lx_status lx_dataset_stat_chunks(lx_dataset *dataset, lx_chunk_info *infos, size_t capacity,
                                        size_t *count, lx_error *error);

/** @} */

/** @defgroup lx_dataset_remove Remove a dataset
 * @{ */

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
 * @retval LX_ERR_LIMIT        It has more than #LX_FIELDS_MAX fields.
 * @retval LX_ERR_IO           The system refused; errno tells why.
 */
LX_API lx_status lx_dataset_remove(const char *path, lx_error *error);

/**
 * Looks whether lx_dataset_remove() would find anything in a dataset's directory that is no part of
 * it. Nothing is changed or locked: it may be in use.
 *
 * @param[in]  path   The dataset's directory.
 * @param[out] error  Where a failure is told; may be NULL.
 *
 * @retval LX_OK          There is nothing else in it.
 * @retval LX_ERR_EXISTS  There is; @p error names it.
 * @return Else as lx_dataset_remove(), but for #LX_ERR_BUSY.
 */
LX_API lx_status lx_dataset_check_removable(const char *path, lx_error *error);

/** @} */

/** @defgroup lx_dataset_unseal Take the seal off a dataset
 * @{ */

/**
 * Takes the seal off a dataset, so that it can be written again. Nothing else changes, and readers
 * of the sealed dataset go on. One that is not sealed stays as it is, which is no failure, unless a
 * writer has it open.
 *
 * @param[in]  path   The dataset's directory.
 * @param[out] error  Where a failure is told; may be NULL.
 *
 * @retval LX_ERR_NOT_FOUND    There is no dataset at @p path.
 * @retval LX_ERR_BUSY         A writer has it open, sealed or not; the error tells its process.
 * @retval LX_ERR_CORRUPT      meta.json is damaged.
 * @retval LX_ERR_UNSUPPORTED  Its format or a feature of it is newer than this library; or it is on
 *                             a network file system, the error names which.
 * @retval LX_ERR_LIMIT        It has more than #LX_FIELDS_MAX fields.
 * @retval LX_ERR_IO           The system refused; errno tells why. Call again to be sure.
 */
LX_API lx_status lx_dataset_unseal(const char *path, lx_error *error);

/** @} */

/* ------------------------------------------------------------------ export */

/** @defgroup lx_dataset_export_npy Write records to files
 * @{ */

/** What an export did. */
typedef struct lx_export {
    uint64_t records;       /**< Records that were looked at. */
    uint64_t bytes;         /**< Bytes of values that were written. */
    uint64_t missing;       /**< Records that have no value. */
    uint64_t first_missing; /**< The index of the first of them; #LX_NONE if there is none. */
    uint64_t damaged;       /**< Records with a damaged value, with #LX_DAMAGE_ZEROS. */
    uint64_t reserved[3];   /**< Zero. */
} lx_export;

/**
 * Writes records of a dense field to an .npy file, as one array of shape (count, *shape). Records
 * that are missing are zeros in it, and so are damaged ones of a dataset that was opened with
 * #LX_DAMAGE_ZEROS.
 *
 * @param[in]  dataset   A dataset.
 * @param[in]  field     Position of a dense field in the schema.
 * @param[in]  indices   @p count records, in any order; NULL: all of them.
 * @param[in]  count     How many; of no meaning where @p indices is NULL.
 * @param[in]  path      The file; one that is there is replaced when the new one is whole. A link
 *                       is followed.
 * @param[in]  progress  Told how far it is; may be NULL.
 * @param[in]  user      Given to it.
 * @param[out] result    What was done; may be NULL. Written on success only.
 * @param[out] error     Where a failure is told; may be NULL.
 * @retval LX_ERR_RANGE     There is no such record; nothing was written.
 * @retval LX_ERR_ARGUMENT  There is no such field, or it is one of bytes; or @p path lies among the
 *                          files of a dataset.
 * @retval LX_ERR_EXISTS    Something is at @p path that is no regular file.
 * @retval LX_ERR_CORRUPT   A record is damaged; the error tells which.
 * @retval LX_ERR_IO        The system refused; errno tells why.
 * @return Else what @p progress returned.
 */
LX_API lx_status lx_dataset_export_npy(lx_dataset *dataset, size_t field, const uint64_t *indices,
                                       uint64_t count, const char *path,
                                       lx_progress_function progress, void *user,
                                       lx_export *result, lx_error *error);

/** Longest suffix of a file, without the NUL. */
#define LX_SUFFIX_MAX 32

/**
 * Writes records of any field to a file each, named by the index with eight digits at least.
 * Records that are missing have none, nor, with #LX_DAMAGE_ZEROS, have damaged ones.
 *
 * @param[in]  dataset   A dataset.
 * @param[in]  field     Position of the field in the schema.
 * @param[in]  indices   @p count records, in any order; NULL: all of them.
 * @param[in]  count     How many; of no meaning where @p indices is NULL.
 * @param[in]  path      A directory, made if need be. A file of such a name that is there is an
 *                       error, and not replaced.
 * @param[in]  suffix    Behind the number, ".png" say; NULL: nothing.
 * @param[in]  progress  Told how far it is; may be NULL.
 * @param[in]  user      Given to it.
 * @param[out] result    What was done; may be NULL. Written on success only.
 * @param[out] error     Where a failure is told; may be NULL.
 * @retval LX_ERR_EXISTS  A file of that name is there.
 * @retval LX_ERR_NOT_FOUND  The folder is not there in which @p path is to be made.
 * @return Else as lx_dataset_export_npy(). Files that were written before a failure stay.
 */
LX_API lx_status lx_dataset_export_files(lx_dataset *dataset, size_t field,
                                         const uint64_t *indices, uint64_t count, const char *path,
                                         const char *suffix, lx_progress_function progress,
                                         void *user, lx_export *result, lx_error *error);

/** @} */

LX_END_DECLS

#endif
