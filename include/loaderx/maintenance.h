/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Maintenance of datasets: verification, backup, statistics, export, removal.
 */
#ifndef LOADERX_MAINTENANCE_H
#define LOADERX_MAINTENANCE_H

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
 * @param error   That of the call, which already reports the first damage; may be NULL.
 * @return #LX_OK to continue. Any other status ends the verification with that status; its error
 *         still reports the first damage.
 */
typedef lx_status (*lx_damage_function)(const lx_error *damage, void *user, lx_error *error);

/** The result of lx_dataset_verify(). */
typedef struct lx_verify_result {
    uint64_t records;     /**< Records that were checked. */
    uint64_t values;      /**< Values that were checked: records times fields. */
    uint64_t bytes;       /**< Stored bytes of which a checksum was computed. */
    uint64_t damages;     /**< Damages that were found. */
    uint64_t reserved[4]; /**< Zero. */
} lx_verify_result;

/**
 * Verifies a dataset: reads every value of every record, checks its entry and its checksum, and
 * decompresses it. It checks that each chunk file exists, also those without a live value. Of a
 * sealed dataset it also checks the checksums of the tables and the exact lengths of all files.
 * lx_dataset_repair() finds the same damages. A value that the disk cannot read (EIO) is one of them.
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
 * @param[out] error     Receives the reason why the call could not continue, else the first damage;
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
                                   lx_verify_result *result, lx_error *error);

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
 * @retval LX_ERR_EXISTS     @p path exists, and is unchanged.
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

/**
 * @defgroup lx_dataset_stat Count records and bytes of a dataset
 * @see loaderx-stat(1), lx_dataset, lx_dataset_verify(), lx_error, lx_writer_rebalance()
 * @{
 */

/** The sizes of a dataset. */
typedef struct lx_storage_stats {
    uint64_t length;        /**< Records. */
    uint64_t chunks;        /**< Chunk files. */
    uint64_t chunk_records; /**< The most payloads of a chunk. */
    uint64_t chunk_limit;   /**< The most bytes of a chunk. */
    uint64_t payloads;      /**< Payloads in chunks, live or not. */
    uint64_t chunk_bytes;   /**< Committed bytes of all chunks. */
    uint64_t live_bytes;    /**< Bytes of chunks to which a record refers. */
    uint64_t table_bytes;   /**< Committed bytes of all tables. */
    uint64_t log_bytes;     /**< Valid bytes of the WAL. */
    uint64_t log_entries;   /**< Entries in the WAL that are not in the tables yet. */
    double utilisation;     /**< live_payloads / (chunks * chunk_records); 0 without chunks. */
    double live_ratio;      /**< live_bytes / chunk_bytes; 1 without chunks. */
    uint64_t live_payloads; /**< Payloads to which a record refers. */
    uint64_t dead_bytes;    /**< chunk_bytes - live_bytes: values that were replaced, deleted or
                                  never used, which lx_writer_rebalance() removes, and the gaps for
                                  alignment before values, which it does not. */
    uint64_t reserved[6];   /**< Zero. */
} lx_storage_stats;

/** The sizes of one field. */
typedef struct lx_field_stats {
    uint64_t present;       /**< Records with a value. */
    uint64_t missing;       /**< Records without one. */
    uint64_t inlined;       /**< Values of at most 8 bytes, which are stored in the table. */
    uint64_t compressed;    /**< Values that are stored compressed. */
    uint64_t logical_bytes; /**< Bytes of all values, decompressed. */
    uint64_t stored_bytes;  /**< Bytes of all values in chunks. They are live: the field of dead
                                 bytes is not recorded. */
    uint64_t reserved[4];   /**< Zero. */
} lx_field_stats;

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
LX_API lx_status lx_dataset_stat(lx_dataset *dataset, lx_storage_stats *totals,
                                 lx_field_stats *fields, lx_error *error);

/** The sizes of a chunk. */
typedef struct lx_chunk_stats {
    uint32_t id;           /**< The id; the file is chunk/ID.zr. */
    uint64_t records;      /**< Payloads, live or not. */
    uint64_t bytes;        /**< Committed bytes. */
    uint64_t live_records; /**< Payloads to which a record refers. */
    uint64_t live_bytes;   /**< The bytes of those. */
} lx_chunk_stats;

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
LX_API lx_status lx_dataset_stat_chunks(lx_dataset *dataset, lx_chunk_stats *infos, size_t capacity,
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

/** The longest suffix of a file in bytes, without the NUL. */
#define LX_MAX_SUFFIX 32

/**
 * The options of an export.
 *
 * @par Thread safety
 * One thread at a time.
 */
typedef struct lx_export_options lx_export_options;

/** Returns options with the defaults: all records, no suffix. Returns NULL when out of memory. */
LX_API lx_export_options *lx_export_options_new(void);

/** Frees options. NULL is allowed. */
LX_API void lx_export_options_free(lx_export_options *options);

/**
 * Sets the records to export.
 *
 * @param[in]  options  The options.
 * @param[in]  indices  @p count indices of records, in any order. They are not copied: they must
 *                      stay valid until the export returns. NULL, the default, for all records.
 * @param[in]  count    The number of records; ignored if @p indices is NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            They are set.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_export_options_set_indices(lx_export_options *options, const uint64_t *indices,
                                               uint64_t count, lx_error *error);

/**
 * Sets the end of the name of each file, ".png" for instance, for lx_dataset_export_files() only;
 * NULL, the default, for nothing.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p suffix has a slash or more than #LX_MAX_SUFFIX bytes, or @p options
 *                          is NULL; nothing changed.
 */
LX_API lx_status lx_export_options_set_suffix(lx_export_options *options, const char *suffix,
                                              lx_error *error);

/**
 * Sets the function that receives the number of records that are done, and of all; NULL, the
 * default, for none. @p user is passed to it.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_export_options_set_progress(lx_export_options *options,
                                                lx_progress_function progress, void *user,
                                                lx_error *error);

/** The result of an export. */
typedef struct lx_export_result {
    uint64_t records;       /**< Records that were read. */
    uint64_t bytes;         /**< Bytes of values that were written. */
    uint64_t missing;       /**< Records without a value. */
    uint64_t first_missing; /**< The index of the first of those; #LX_NONE if there is none. */
    uint64_t damaged;       /**< Records with a damaged value, with #LX_DAMAGE_ZEROS. */
    uint64_t reserved[3];   /**< Zero. */
} lx_export_result;

/**
 * Writes records of a dense field to an .npy file, as one array of shape (count, *shape). Missing
 * values are zeros in it, and so are damaged ones in a dataset that was opened with
 * #LX_DAMAGE_ZEROS.
 *
 * @param[in]  dataset  The dataset.
 * @param[in]  field    The position of a dense field in the schema.
 * @param[in]  path     The file. An existing file is replaced when the new one is complete, and
 *                      stays after a failure. A symbolic link is followed.
 * @param[in]  options  The records and the progress; NULL for the defaults.
 * @param[out] result   Receives the result on success; may be NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK             The file is written.
 * @retval LX_ERR_RANGE      An index is not below the length; nothing was written.
 * @retval LX_ERR_ARGUMENT   The field does not exist or is of #LX_BYTES, @p path lies among the
 *                           files of a dataset, a suffix is set, or a pointer is NULL.
 * @retval LX_ERR_EXISTS     Something that is not a regular file is at @p path.
 * @retval LX_ERR_NOT_FOUND  The parent directory does not exist.
 * @retval LX_ERR_CORRUPT    A record is damaged; the error names it.
 * @retval LX_ERR_IO         A system call failed; the error has its errno.
 * @retval LX_ERR_NOMEM      Out of memory.
 * @return Otherwise the status that the progress function returned, or as lx_dataset_refresh() if
 *         @p dataset is live.
 */
LX_API lx_status lx_dataset_export_npy(lx_dataset *dataset, size_t field, const char *path,
                                       const lx_export_options *options, lx_export_result *result,
                                       lx_error *error);

/**
 * Writes each record of any field to a file of its own. The name is the index, with at least eight
 * digits, and the suffix. Missing values have no file; nor have damaged ones, with
 * #LX_DAMAGE_ZEROS.
 *
 * @param[in]  dataset  The dataset.
 * @param[in]  field    The position of the field in the schema.
 * @param[in]  path     The directory, which is created if it does not exist. No existing file is
 *                      replaced.
 * @param[in]  options  The options; NULL for the defaults.
 * @param[out] result   Receives the result on success; may be NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_EXISTS     A file of such a name exists.
 * @retval LX_ERR_NOT_FOUND  The parent directory of @p path does not exist.
 * @return Otherwise as lx_dataset_export_npy(), for any field. Files that were written before a
 *         failure stay.
 */
LX_API lx_status lx_dataset_export_files(lx_dataset *dataset, size_t field, const char *path,
                                         const lx_export_options *options, lx_export_result *result,
                                         lx_error *error);

/** @} */

LX_END_DECLS

#endif
