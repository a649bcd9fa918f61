/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Maintenance of datasets: verification, repair, backup, statistics, export, removal.
 */
#ifndef LOADERX_UPKEEP_H
#define LOADERX_UPKEEP_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/dataset.h>
#include <loaderx/progress.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_dataset_verify Verify every record of a dataset
 * @see loaderx-verify(1), lx_dataset, lx_dataset_probe(), lx_dataset_repair(), lx_dataset_stat(),
 * lx_error
 * @{
 */

/**
 * Receives each damage that lx_dataset_verify() finds, on the thread that called it, in ascending
 * order of records, and of fields within a record; the damages of files follow.
 *
 * @param damage  The damage; valid during the call.
 * @param user    As given to lx_dataset_verify().
 * @return #LX_OK to continue. Any other status ends the verification with that status; its error
 *         reports the first damage all the same.
 */
typedef lx_status (*lx_damage_function)(const lx_error *damage, void *user);

/** The result of lx_dataset_verify(). */
typedef struct lx_verification {
    uint64_t records;     /**< Records that were checked. */
    uint64_t values;      /**< Values that were checked: records times fields. */
    uint64_t bytes;       /**< Stored bytes of which a checksum was computed. */
    uint64_t damages;     /**< Damages that were found. */
    uint64_t reserved[4]; /**< Zero. */
} lx_verification;

/**
 * Verifies a dataset: reads every value of every record, checks its entry and its checksum, and
 * decompresses it. It checks that each chunk file exists, also those without a live value. Of a
 * sealed dataset it also checks the checksums of the tables and the exact lengths of all files.
 * Values of zstd fields, which this version cannot decompress, are checked by their checksums.
 *
 * The readers of the dataset's executor check parts of it in parallel; without one, those of an
 * executor that is opened for the call, one for each CPU. Reads are prefetched, so a dataset that
 * is not in memory is verified at the speed of the disk.
 *
 * @param[in]  dataset   The dataset.
 * @param[in]  damaged   Receives each damage; may be NULL.
 * @param[in]  progress  Receives the records that are done, and all; may be NULL.
 * @param[in]  user      Passed to both functions.
 * @param[out] result    Receives the result; may be NULL.
 * @param[out] error     Receives the first damage, or the reason why the call could not continue;
 *                       may be NULL.
 *
 * @retval LX_OK            Nothing is damaged.
 * @retval LX_ERR_CORRUPT   Something is damaged.
 * @retval LX_ERR_IO        A system call failed; the error has its errno. The rest was not checked.
 * @retval LX_ERR_ARGUMENT  @p dataset is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise the status that @p damaged or @p progress returned, or as lx_dataset_refresh()
 *         if @p dataset is live.
 */
LX_API lx_status lx_dataset_verify(lx_dataset *dataset, lx_damage_function damaged,
                                   lx_progress_function progress, void *user,
                                   lx_verification *result, lx_error *error);

/** @} */

/**
 * @defgroup lx_dataset_backup Copy a dataset file by file
 * @see loaderx-backup(1), lx_dataset, lx_dataset_verify(), lx_error, zrecord(5)
 * @{
 */

/**
 * Copies the snapshot that is read to another directory, file by file: chunks and tables up to
 * their committed bytes, the WAL up to the end of the snapshot, and meta.json last. The copy is a
 * dataset of its own with the same records and the same uuid. A writer may continue meanwhile, and
 * replace files; nothing of that is in the copy.
 *
 * The copy is durable when the call returns, and all of its commits are valid on any machine. If
 * the last commit was not synced, one that changes nothing and is synced is added to the copy; only
 * then does lx_dataset_get_identity() return a later epoch for it. (A dataset that is copied by
 * other means loses the commits that were not synced, as in a power loss, once the copy is on
 * another machine or the machine has restarted.)
 *
 * Records are not verified. Do not write to both the copy and the dataset: their snapshots would
 * have the same uuid and different records.
 *
 * @param[in]  dataset   The dataset.
 * @param[in]  path      The directory to create; it may exist if it is empty.
 * @param[in]  progress  Receives the bytes that are copied, and all; may be NULL.
 * @param[in]  user      Passed to @p progress.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK             The copy is complete. After any failure it is removed.
 * @retval LX_ERR_ARGUMENT   @p path lies among the files of a dataset or is empty, or a pointer is
 *                           NULL.
 * @retval LX_ERR_NOT_FOUND  The parent directory does not exist.
 * @retval LX_ERR_EXISTS     Something is at @p path; it is unchanged.
 * @retval LX_ERR_BUSY       A writer is creating a dataset there.
 * @retval LX_ERR_CORRUPT    A file is missing, or shorter than its committed bytes.
 * @retval LX_ERR_STATE      The snapshot was lost with pages of the page cache: refresh the
 *                           dataset.
 * @retval LX_ERR_IO         A system call failed; the error has its errno.
 * @retval LX_ERR_NOMEM      Out of memory.
 * @return Otherwise the status that @p progress returned, or as lx_dataset_refresh() if @p dataset
 *         is live.
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
    LX_REMEDY_LEFTOVER = 4, /**< Nothing now: the next writer removes the file, which an earlier one
                                 left, when no reader needs it. */
    LX_REMEDY_RESTAMP = 5   /**< The checksum of meta.json is made right: nothing else is wrong in
                                 it. Other damages are found after that only. */
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
    uint64_t deleted;     /**< Records that were deleted or left out, or would be. */
    uint64_t kept_bytes;  /**< Stored bytes of damaged values that were put aside. */
    uint64_t foreign;     /**< Files that are no part of the dataset, and leftovers. */
    uint32_t changed;     /**< 1 if the dataset was changed. */
    uint32_t unused;      /**< Zero. */
    char aside[512];      /**< Where things were put aside (its end, if it is longer), or "". */
    uint64_t reserved[8]; /**< Zero. */
} lx_repair_result;

/**
 * Makes of a damaged dataset one that is whole: keeps what verifies, and puts the rest aside. Also
 * of one that cannot be opened, unless more than the checksum of meta.json is wrong in it, or the
 * first frame of its log without a seal that tells what there is, or a file of it is a symbolic
 * link: what that points to is to be put in its place. A LOCK that is no file is to be removed.
 *
 * - A value that does not verify becomes missing, or its record is deleted, as @p mode says.
 * - Where the log is damaged, the dataset is as it was after the last commit before that; those
 *   behind are lost, and the message tells what is known of them. Where the dataset is sealed, and
 *   the log does not reach what was sealed, meta.json and the tables tell what is in it, and
 *   nothing is lost.
 * - Rows after the end of a table that is too short read as missing. Records of which no table has a
 *   row are left out, and those after them move down: the longest table says how many rows there
 *   are, and not the log.
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
 * @retval LX_ERR_LIMIT        It has more than #LX_MAX_FIELDS fields, or there are no more numbers
 *                             for generations.
 * @retval LX_ERR_ARGUMENT     @p path is NULL, or @p mode is none.
 * @retval LX_ERR_IO           The system refused; errno tells why. A value that the disk does not
 *                             give back (EIO) is a damage.
 */
LX_API lx_status lx_dataset_repair(const char *path, lx_repair mode, lx_finding_function found,
                                   lx_progress_function progress, void *user,
                                   lx_repair_result *result, lx_error *error);

/** @} */

/**
 * @defgroup lx_dataset_stat Count records and bytes of a dataset
 * @see loaderx-stat(1), lx_dataset, lx_dataset_verify(), lx_error, lx_writer_rebalance()
 * @{
 */

/** The sizes of a dataset. */
typedef struct lx_statistics {
    uint64_t length;         /**< Records. */
    uint64_t chunks;         /**< Chunk files. */
    uint64_t chunk_records;  /**< The most payloads of a chunk. */
    uint64_t chunk_limit;    /**< The most bytes of a chunk. */
    uint64_t payloads;       /**< Payloads in chunks, live or not. */
    uint64_t chunk_bytes;    /**< Committed bytes of all chunks. */
    uint64_t live_bytes;     /**< Bytes of chunks to which a record refers. */
    uint64_t table_bytes;    /**< Committed bytes of all tables. */
    uint64_t log_bytes;      /**< Valid bytes of the WAL. */
    uint64_t log_entries;    /**< Entries in the WAL that are not in the tables yet. */
    double utilisation;      /**< live_payloads / (chunks * chunk_records); 0 without chunks. */
    double live_ratio;       /**< live_bytes / chunk_bytes; 1 without chunks. */
    uint64_t live_payloads;  /**< Payloads to which a record refers. */
    uint64_t dead_bytes;     /**< chunk_bytes - live_bytes: values that were replaced, deleted or
                                  never used, which lx_writer_rebalance() removes, and the gaps for
                                  alignment before values, which it does not. */
    uint64_t reserved[6];    /**< Zero. */
} lx_statistics;

/** The sizes of one field. */
typedef struct lx_field_statistics {
    uint64_t present;       /**< Records with a value. */
    uint64_t missing;       /**< Records without one. */
    uint64_t inlined;       /**< Values of at most 8 bytes, which are stored in the table. */
    uint64_t compressed;    /**< Values that are stored compressed. */
    uint64_t logical_bytes; /**< Bytes of all values, decompressed. */
    uint64_t stored_bytes;  /**< Bytes of all values in chunks. They are live: the field of dead
                                 bytes is not recorded. */
    uint64_t reserved[4];   /**< Zero. */
} lx_field_statistics;

/**
 * Sums up the sizes of a dataset. It reads all tables, but no record.
 *
 * @param[in]  dataset  The dataset.
 * @param[out] totals   Receives the sizes of the dataset.
 * @param[out] fields   Receives the sizes of each field, in the schema's order; may be NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The sizes are at @p totals and @p fields.
 * @retval LX_ERR_CORRUPT   An entry is damaged.
 * @retval LX_ERR_ARGUMENT  @p dataset or @p totals is NULL.
 * @return Otherwise as lx_dataset_gather().
 */
LX_API lx_status lx_dataset_stat(lx_dataset *dataset, lx_statistics *totals,
                                 lx_field_statistics *fields, lx_error *error);

/** The sizes of a chunk. */
typedef struct lx_chunk_info {
    uint32_t id;           /**< The id; the file is chunk/ID.zr. */
    uint64_t records;      /**< Payloads, live or not. */
    uint64_t bytes;        /**< Committed bytes. */
    uint64_t live_records; /**< Payloads to which a record refers; #LX_NONE if they are not
                                counted. */
    uint64_t live_bytes;   /**< The bytes of those; #LX_NONE if they are not counted. */
} lx_chunk_info;

/**
 * Returns the sizes of the chunk at @p position, in ascending order of ids, without those of its
 * live payloads.
 *
 * @retval LX_OK            The sizes are at @p info.
 * @retval LX_END           @p position is not below the number of chunks.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @return Otherwise as lx_dataset_refresh(), if @p dataset is live.
 */
LX_API lx_status lx_dataset_get_chunk(lx_dataset *dataset, size_t position, lx_chunk_info *info);

/**
 * Returns the sizes of all chunks of one snapshot, in ascending order of ids, and counts their live
 * payloads. It reads all tables, but no record.
 *
 * @param[in]  dataset   The dataset.
 * @param[out] infos     Receives the sizes of up to @p capacity chunks; may be NULL if that is 0.
 * @param[in]  capacity  The number of chunks that fit.
 * @param[out] count     Receives the number of chunks, also if it exceeds @p capacity.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The sizes are at @p infos. With a @p capacity of 0 nothing was read.
 * @retval LX_ERR_CORRUPT   An entry is damaged.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @return Otherwise as lx_dataset_gather().
 */
LX_API lx_status lx_dataset_stat_chunks(lx_dataset *dataset, lx_chunk_info *infos, size_t capacity,
                                        size_t *count, lx_error *error);

/** @} */

/**
 * @defgroup lx_dataset_remove Remove a dataset
 * @see lx_dataset, lx_error, lx_writer
 * @{
 */

/**
 * Removes a dataset and its directory. A directory without a readable meta.json, or with anything
 * that is not a part of the dataset, is left unchanged. meta.json is removed last: if the call is
 * interrupted, the dataset is damaged, and another call removes the rest.
 *
 * @param[in]  path   The dataset's directory.
 * @param[out] error  Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The dataset is removed.
 * @retval LX_ERR_NOT_FOUND    @p path is not a dataset, or does not exist.
 * @retval LX_ERR_BUSY         It is being read or written, by this process or another.
 * @retval LX_ERR_EXISTS       The directory holds something that is not a part of the dataset.
 *                             Nothing is removed.
 * @retval LX_ERR_CORRUPT      meta.json is damaged.
 * @retval LX_ERR_UNSUPPORTED  The format, or a feature that the dataset uses, is newer than this
 *                             library.
 * @retval LX_ERR_LIMIT        It has more than #LX_MAX_FIELDS fields.
 * @retval LX_ERR_IO           A system call failed; the error has its errno.
 * @retval LX_ERR_ARGUMENT     @p path is NULL.
 */
LX_API lx_status lx_dataset_remove(const char *path, lx_error *error);

/**
 * Checks whether a dataset's directory holds anything that is not a part of the dataset, which
 * would make lx_dataset_remove() fail. It changes and locks nothing: the dataset may be in use.
 *
 * @param[in]  path   The dataset's directory.
 * @param[out] error  Receives the first failure; may be NULL.
 *
 * @retval LX_OK          It holds nothing else.
 * @retval LX_ERR_EXISTS  It does; the error names it.
 * @return Otherwise as lx_dataset_remove(), except #LX_ERR_BUSY.
 */
LX_API lx_status lx_dataset_check_removable(const char *path, lx_error *error);

/** @} */

/**
 * @defgroup lx_dataset_unseal Unseal a dataset
 * @see loaderx-unseal(1), lx_dataset, lx_error, lx_writer_seal(), zrecord(5)
 * @{
 */

/**
 * Removes the seal of a dataset, so that lx_writer_open() opens it again. Only meta.json is
 * replaced, at the same cost for any size, and readers continue. A dataset that is not sealed stays
 * as it is, which is not a failure, unless a writer has it open.
 *
 * @param[in]  path   The dataset's directory.
 * @param[out] error  Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The dataset is not sealed.
 * @retval LX_ERR_NOT_FOUND    @p path is not a dataset, or does not exist.
 * @retval LX_ERR_BUSY         A writer has it open; the error names its process.
 * @retval LX_ERR_CORRUPT      meta.json is damaged.
 * @retval LX_ERR_UNSUPPORTED  The format, or a feature that the dataset uses, is newer than this
 *                             library; or the dataset is on a network file system, which the error
 *                             names.
 * @retval LX_ERR_LIMIT        It has more than #LX_MAX_FIELDS fields.
 * @retval LX_ERR_IO           A system call failed; the error has its errno. If it was a sync, it
 *                             is not known whether the dataset is sealed after a power loss: call
 *                             again.
 * @retval LX_ERR_ARGUMENT     @p path is NULL.
 */
LX_API lx_status lx_dataset_unseal(const char *path, lx_error *error);

/** @} */

/**
 * @defgroup lx_dataset_export_npy Export records to files
 * @see loaderx-export(1), lx_dataset, lx_dataset_gather()
 * @{
 */

/** The result of an export. */
typedef struct lx_export {
    uint64_t records;       /**< Records that were read. */
    uint64_t bytes;         /**< Bytes of values that were written. */
    uint64_t missing;       /**< Records without a value. */
    uint64_t first_missing; /**< The index of the first of those; #LX_NONE if there is none. */
    uint64_t damaged;       /**< Records with a damaged value, with #LX_DAMAGE_ZEROS. */
    uint64_t reserved[3];   /**< Zero. */
} lx_export;

/**
 * Writes records of a dense field to an .npy file, as one array of shape (count, *shape). Missing
 * values are zeros in it, and so are damaged ones in a dataset that was opened with
 * #LX_DAMAGE_ZEROS.
 *
 * @param[in]  dataset   The dataset.
 * @param[in]  field     The position of a dense field in the schema.
 * @param[in]  indices   @p count indices of records, in any order; NULL for all records.
 * @param[in]  count     The number of records; ignored if @p indices is NULL.
 * @param[in]  path      The file. An existing file is replaced when the new one is complete, and
 *                       stays after a failure. A symbolic link is followed.
 * @param[in]  progress  Receives the records that are done, and all; may be NULL.
 * @param[in]  user      Passed to @p progress.
 * @param[out] result    Receives the result on success; may be NULL.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK             The file is written.
 * @retval LX_ERR_RANGE      An index is not below the length; nothing was written.
 * @retval LX_ERR_ARGUMENT   The field does not exist or is of #LX_BYTES, @p path lies among the
 *                           files of a dataset, or a pointer is NULL.
 * @retval LX_ERR_EXISTS     Something that is not a regular file is at @p path.
 * @retval LX_ERR_NOT_FOUND  The parent directory does not exist.
 * @retval LX_ERR_CORRUPT    A record is damaged; the error names it.
 * @retval LX_ERR_IO         A system call failed; the error has its errno.
 * @retval LX_ERR_NOMEM      Out of memory.
 * @return Otherwise the status that @p progress returned, or as lx_dataset_refresh() if @p dataset
 *         is live.
 */
LX_API lx_status lx_dataset_export_npy(lx_dataset *dataset, size_t field, const uint64_t *indices,
                                       uint64_t count, const char *path,
                                       lx_progress_function progress, void *user,
                                       lx_export *result, lx_error *error);

/** The longest suffix of a file in bytes, without the NUL. */
#define LX_MAX_SUFFIX 32

/**
 * Writes each record of any field to a file of its own. The name is the index, with at least eight
 * digits, and the suffix. Missing values have no file; nor have damaged ones, with
 * #LX_DAMAGE_ZEROS.
 *
 * @param[in]  dataset   The dataset.
 * @param[in]  field     The position of the field in the schema.
 * @param[in]  indices   @p count indices of records, in any order; NULL for all records.
 * @param[in]  count     The number of records; ignored if @p indices is NULL.
 * @param[in]  path      The directory, which is created if it does not exist. No existing file is
 *                       replaced.
 * @param[in]  suffix    The end of each name, ".png" for instance; NULL for nothing.
 * @param[in]  progress  Receives the records that are done, and all; may be NULL.
 * @param[in]  user      Passed to @p progress.
 * @param[out] result    Receives the result on success; may be NULL.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_EXISTS     A file of such a name exists.
 * @retval LX_ERR_NOT_FOUND  The parent directory of @p path does not exist.
 * @return Otherwise as lx_dataset_export_npy(), for any field. Files that were written before a
 *         failure stay.
 */
LX_API lx_status lx_dataset_export_files(lx_dataset *dataset, size_t field,
                                         const uint64_t *indices, uint64_t count, const char *path,
                                         const char *suffix, lx_progress_function progress,
                                         void *user, lx_export *result, lx_error *error);

/** @} */

LX_END_DECLS

#endif
