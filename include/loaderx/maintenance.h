/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Maintaining datasets: verification, comparison, backup, joining, statistics, removal,
 * unsealing and export.
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
 * Called for each damaged item that lx_dataset_verify() finds, on the calling thread, and for each
 * value of type #LX_IMAGE that is intact but no image. Records come first, in ascending order, with
 * the fields of a record in schema order; damaged files come last.
 *
 * @param damage  Describes the item; valid only during the call. Its status is #LX_ERR_CORRUPT or,
 *                for a value that is no image, #LX_ERR_MISMATCH.
 * @param user    The pointer that was passed to lx_dataset_verify().
 * @param error   The error of the call, which already reports the first damaged item; may be NULL.
 * @return #LX_OK to continue. Any other status ends the verification, which returns that status;
 *         the error still reports the first damaged item.
 */
typedef lx_status (*lx_damage_function)(const lx_error *damage, void *user, lx_error *error);

/** The result of lx_dataset_verify(). */
typedef struct lx_verify_result {
    uint64_t records;    /**< The number of records that were checked. */
    uint64_t values;     /**< The number of values that were checked, which is the number of
                               records times the number of fields. */
    uint64_t bytes;      /**< The number of stored bytes whose checksums were computed. */
    uint64_t damages;    /**< The number of damaged items that were found. */
    uint64_t not_images; /**< The number of intact values of type #LX_IMAGE that are no images. */
    uint64_t leftover_bytes; /**< As in #lx_storage_stats. */
    uint64_t reserved[2];    /**< Reserved; zero. */
} lx_verify_result;

/**
 * Verifies a dataset: reads every value of every record, checks its entry and its checksum, and
 * decompresses it. A value of type #LX_STR or #LX_JSON must be valid UTF-8 or JSON. A missing value
 * is damage if its field is marked as having none. The call also checks that each chunk file
 * exists, even if the file contains no live values. For a sealed dataset, it also checks the
 * checksums of the tables and the exact lengths of all files. lx_dataset_repair() finds the same
 * damage. A value that cannot be read from the disk (EIO) counts as damaged. If the library was
 * built without libzstd, compressed values of zstd fields are checked only against their checksums.
 *
 * A value of type #LX_IMAGE that begins as no image file is reported and counted, but it is no
 * damage: writers refuse such values, but those before 1.0.0 did not.
 *
 * The readers of the dataset's executor check parts of the dataset in parallel. If the dataset has
 * no executor, the call opens one with one reader per CPU. The call prefetches the data, so the
 * verification of a dataset that is not in memory runs at the speed of the disk.
 *
 * @param[in]  dataset   The dataset.
 * @param[in]  damaged   The function to call for each damaged item; may be NULL.
 * @param[in]  progress  The progress callback, which receives the number of records checked so far
 *                       and the total; may be NULL.
 * @param[in]  user      The pointer to pass to both functions.
 * @param[out] result    Receives the result; may be NULL.
 * @param[out] error     Receives the reason why the call could not continue, or else the first
 *                       damaged item; may be NULL.
 *
 * @retval LX_OK            Nothing is damaged.
 * @retval LX_ERR_CORRUPT   Something is damaged.
 * @retval LX_ERR_IO        A system call failed; the error reports its errno. The rest of the
 *                          dataset was not checked.
 * @retval LX_ERR_ARGUMENT  @p dataset is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, the status that @p damaged or @p progress returned or, if @p dataset is live,
 *         any status that lx_dataset_refresh() returns.
 */
LX_API lx_status lx_dataset_verify(lx_dataset *dataset, lx_damage_function damaged,
                                   lx_progress_function progress, void *user,
                                   lx_verify_result *result, lx_error *error);

/** @} */

/**
 * @defgroup lx_dataset_digest Compare datasets
 *
 * Two datasets can be compared value by value, or by their digests, for example if they are on
 * different machines. Neither depends on how the values are stored: in which chunks, compressed or
 * not, after which changes.
 * @see loaderx-diff(1), loaderx-digest(1), lx_dataset, lx_dataset_read_card(), lx_error, zrecord(5)
 * @{
 */

/**
 * Computes a digest of the contents of a dataset: the names, dtypes and shapes of the fields, and
 * the values of all records, in order. The card is not included.
 *
 * The digest detects accidents, not attacks: it is made of CRCs, and it is easy to make another
 * dataset with the same digest on purpose. If a single value changed by accident, the digest stays
 * the same with a probability of 2^-32. zrecord-format.md, 9.10, defines the digest exactly.
 *
 * The readers of an executor of the call's own compute parts of the digest in parallel; there are
 * as many as the dataset's executor has. All values are read and verified, as by
 * lx_dataset_verify(), whatever the dataset's damage policy.
 *
 * @param[in]  dataset   The dataset.
 * @param[in]  progress  The progress callback, which receives the number of records read so far
 *                       and the total; may be NULL.
 * @param[in]  user      The pointer to pass to @p progress.
 * @param[out] digest    Receives the digest; unchanged on failure.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK               Success.
 * @retval LX_ERR_CORRUPT      A value is damaged; the error reports which one.
 * @retval LX_ERR_UNSUPPORTED  A value is compressed by a codec that this library lacks.
 * @retval LX_ERR_ARGUMENT     @p dataset or @p digest is NULL.
 * @retval LX_ERR_IO           A system call failed; the error reports its errno.
 * @retval LX_ERR_NOMEM        Out of memory.
 * @return Otherwise, the status that @p progress returned or, if @p dataset is live, any status
 *         that lx_dataset_refresh() returns.
 */
LX_API lx_status lx_dataset_digest(lx_dataset *dataset, lx_progress_function progress, void *user,
                                   uint64_t *digest, lx_error *error);

/** The number of differing records that lx_dataset_diff() lists for each field. */
#define LX_DIFF_FIRST 8

/** A field of two datasets to compare, and the result. */
typedef struct lx_field_diff {
    size_t a;                      /**< The position of the field in the schema of the first
                                        dataset; set by the caller. */
    size_t b;                      /**< In the schema of the second dataset; set by the caller. */
    uint64_t count;                /**< Receives the number of records with different values. */
    uint64_t first[LX_DIFF_FIRST]; /**< Receives the first of these records, at most @ref count. */
    uint64_t reserved[4];          /**< Reserved; zero. */
} lx_field_diff;

/**
 * Compares the values of two datasets, record by record: those of the records that both have. A
 * missing value differs from every value that is present. Values are compared as bytes, so -0.0
 * differs from 0.0. Schemas, lengths and cards are not compared.
 *
 * The call reads, verifies and runs in parallel as lx_dataset_digest() does, with the readers of
 * the executor of @p a.
 *
 * @param[in]     a         The first dataset.
 * @param[in]     b         The second dataset.
 * @param[in,out] fields    @p count pairs of fields to compare, which must have the same dtype and
 *                          shape.
 * @param[in]     count     The number of pairs.
 * @param[in]     progress  The progress callback, which receives the number of records compared so
 *                          far and the total; may be NULL.
 * @param[in]     user      The pointer to pass to @p progress.
 * @param[out]    error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK            All records were compared, whether or not they are equal.
 * @retval LX_ERR_MISMATCH  A pair of fields differs in dtype or shape.
 * @retval LX_ERR_ARGUMENT  A field does not exist, or a pointer is NULL.
 * @return Otherwise, any status that lx_dataset_digest() returns.
 */
LX_API lx_status lx_dataset_diff(lx_dataset *a, lx_dataset *b, lx_field_diff *fields, size_t count,
                                 lx_progress_function progress, void *user, lx_error *error);

/** @} */

/**
 * @defgroup lx_dataset_backup Copy a dataset file by file
 * @see loaderx-backup(1), loaderx-pull(1), lx_dataset, lx_dataset_verify(), lx_error, zrecord(5)
 * @{
 */

/**
 * Copies the current snapshot to another directory, file by file: the committed bytes of chunks and
 * tables, the WAL up to the end of the snapshot, and meta.json last. The copy is an independent
 * dataset with the same records and the same UUID. While the call runs, a writer may continue and
 * even replace files; this does not affect the copy.
 *
 * The copy is durable when the call returns, and all of its commits are valid on any machine. If
 * the last commit was not synced, the call adds an empty, synced commit to the copy; in this case,
 * lx_dataset_get_identity() returns a later sequence number for the copy. (A copy made by other
 * means loses the unsynced commits, as after a power loss, if it is opened on a different machine
 * or after a restart.)
 *
 * Records are not verified. Do not write to both the copy and the original: their snapshots would
 * have the same UUID but different records.
 *
 * @param[in]  dataset   The dataset.
 * @param[in]  path      The directory to create; it may already exist if it is empty.
 * @param[in]  progress  The progress callback, which receives the number of bytes copied so far and
 *                       the total; may be NULL.
 * @param[in]  user      The pointer to pass to @p progress.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK             The copy is complete. After any failure, the incomplete copy is
 *                           removed.
 * @retval LX_ERR_ARGUMENT   @p path is inside the directory of a dataset or is an empty string, or
 *                           a pointer is NULL.
 * @retval LX_ERR_NOT_FOUND  The parent directory does not exist.
 * @retval LX_ERR_EXISTS     @p path exists and is not an empty directory; it is unchanged.
 * @retval LX_ERR_BUSY       A writer is creating a dataset at @p path.
 * @retval LX_ERR_CORRUPT    A file is missing, or shorter than its committed bytes.
 * @retval LX_ERR_STATE      An import into the dataset is not complete (#LX_CARD_IMPORT); or the
 *                           snapshot was lost because the page cache lost pages: refresh the
 *                           dataset.
 * @retval LX_ERR_IO         A system call failed; the error reports its errno.
 * @retval LX_ERR_NOMEM      Out of memory.
 * @return Otherwise, the status that @p progress returned or, if @p dataset is live, any status
 *         that lx_dataset_refresh() returns.
 */
LX_API lx_status lx_dataset_backup(lx_dataset *dataset, const char *path,
                                   lx_progress_function progress, void *user, lx_error *error);

/**
 * Copies a sealed dataset to another directory, in as many calls as it takes: if a call fails, or
 * its process ends, a later call with the same arguments continues. Made for remote
 * datasets (remote.h), of which several ranges are read at a time.
 *
 * Until the copy is complete, the directory is not a dataset, and only this function uses it. The
 * checksums of the tables are verified; those of the records are not, see lx_dataset_verify(). If
 * the machine lost power in the meantime, what was copied before may be damaged.
 *
 * @param[in]  dataset   The dataset.
 * @param[in]  path      The directory to create. It may already exist if it is empty, or if earlier
 *                       calls have copied a part of the same snapshot to it.
 * @param[in]  progress  The progress callback, which receives the number of bytes copied so far, by
 *                       all calls, and the total; may be NULL.
 * @param[in]  user      The pointer to pass to @p progress.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK             The copy is complete and durable. After any failure, what was copied
 *                           stays.
 * @retval LX_ERR_STATE      The dataset is not sealed.
 * @retval LX_ERR_EXISTS     @p path exists and contains something else; it is unchanged.
 * @retval LX_ERR_BUSY       Another process is copying to @p path.
 * @retval LX_ERR_CORRUPT    A file is missing, does not have its size, or is a table with a wrong
 *                           checksum; the next call copies that table again.
 * @return Otherwise, any status that lx_dataset_backup() returns.
 */
LX_API lx_status lx_dataset_pull(lx_dataset *dataset, const char *path,
                                 lx_progress_function progress, void *user, lx_error *error);

/** @} */

/**
 * @defgroup lx_dataset_join Join datasets without copying their records
 * @see loaderx-join(1), lx_dataset, lx_dataset_push(), lx_dataset_verify(), lx_error,
 * lx_writer_copy(), zrecord(5)
 * @{
 */

/**
 * Joins sealed datasets: creates a sealed dataset whose records are those of the parts, one part
 * after the other. No record is read or copied: the chunks stay in the folders of the parts, which
 * are inside the directory of the new dataset, and only the tables are written again, with the
 * checksums that the values have there. So a join costs about 24 bytes read and written for each
 * value. The whole directory, with the parts, is the dataset from then on: it can be moved, copied
 * by lx_dataset_pull() and lx_dataset_backup(), and sent by lx_dataset_push(). Unless no
 * part has a chunk, because all values are short, it can never be unsealed, and lx_dataset_remove()
 * refuses it, because the parts are not its own; lx_writer_copy() makes a dataset that can be
 * changed.
 *
 * The parts must not change or move after that. Of each part, only the folder `chunk` is needed;
 * its own meta.json may stay, so that the part is a dataset as well. A part may itself have been
 * joined.
 *
 * All parts must have the same fields: the same names in any order, and for each name the same
 * dtype, shape, compression and alignment. The new dataset has them in the order of the first part.
 * It has those texts of the cards that all parts have in common. Its UUID follows from the parts,
 * their order and their paths: joining them again makes the same dataset, so that a push that was
 * interrupted can continue. A value is intact in the new dataset if and only if it is in its part;
 * lx_dataset_verify() tells.
 *
 * The dataset is durable when the call returns, and so are the names of local parts, which may have
 * been moved to their folders just before. If the call fails or is interrupted, @p path is no
 * dataset, and the call can be repeated; the parts never change.
 *
 * @param[in]  path      The directory to create. It may exist if it contains only the parts, or
 *                       what an interrupted join left. It need not contain the parts yet: if they
 *                       are remote, the new files have to be sent to where they are.
 * @param[in]  parts     @p count datasets, local or remote (remote.h), in the order of their
 *                       records. They must have been opened without a limit of the length, or only
 *                       the records up to that limit are joined.
 * @param[in]  paths     For each part, the path of its folder relative to @p path, or to the URL of
 *                       the new dataset: 1 to 8 names, joined by slashes, of at most 200 bytes
 *                       together. Each name has 1 to 64 of the characters A-Z a-z 0-9 _ . - and
 *                       does not begin with a dot. "" is for a part that was joined itself, and
 *                       whose parts have the same paths in the new dataset. So a great number of
 *                       remote parts can be joined in groups, of which one is open at a time: join
 *                       each group in a directory of its own, then the groups in an empty one.
 * @param[in]  count     The number of parts, at least 1.
 * @param[in]  progress  The progress callback, which receives the number of values passed over so
 *                       far, and the total; may be NULL.
 * @param[in]  user      The pointer to pass to @p progress.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The dataset is complete and durable.
 * @retval LX_ERR_STATE        A part is not sealed.
 * @retval LX_ERR_MISMATCH     The fields of two parts differ; the error names the field.
 * @retval LX_ERR_UNSUPPORTED  A zstd field has different dictionaries in two parts: write them
 *                             without dictionaries, or copy the records; or @p path is on a network
 *                             file system (the error names it): join in a local directory, and send
 *                             the result with lx_dataset_push().
 * @retval LX_ERR_EXISTS       @p path contains a dataset or anything else, which the error names;
 *                             nothing changed.
 * @retval LX_ERR_BUSY         Another process is creating a dataset at @p path.
 * @retval LX_ERR_CORRUPT      A table of a part is damaged, or an entry in it is not valid; the
 *                             error names the record and the field. Repair the part first.
 * @retval LX_ERR_LIMIT        There are too many records or chunks, or too many parts for the size
 *                             of meta.json.
 * @retval LX_ERR_ARGUMENT     A path is invalid, a part is given twice, @p count is 0, @p path is
 *                             inside the directory of a dataset, or a pointer is NULL.
 * @retval LX_ERR_NOT_FOUND    The parent directory of @p path does not exist.
 * @retval LX_ERR_IO           A system call failed, or a part cannot be read; the error reports its
 *                             errno.
 * @retval LX_ERR_NOMEM        Out of memory.
 * @return Otherwise, the status that @p progress returned.
 *
 * @par Thread safety
 * Any threads may use the parts during the call.
 */
LX_API lx_status lx_dataset_join(const char *path, lx_dataset *const *parts,
                                 const char *const *paths, uint64_t count,
                                 lx_progress_function progress, void *user, lx_error *error);

/** @} */

/**
 * @defgroup lx_dataset_stat Count a dataset's records and bytes
 * @see loaderx-stat(1), lx_dataset, lx_dataset_verify(), lx_error, lx_writer_rebalance()
 * @{
 */

/** The sizes of a dataset. */
typedef struct lx_storage_stats {
    uint64_t length;        /**< The number of records. */
    uint64_t chunks;        /**< The number of chunk files. */
    uint64_t chunk_records; /**< The maximum number of payloads in a chunk. */
    uint64_t chunk_limit;   /**< The maximum number of bytes in a chunk. */
    uint64_t payloads;      /**< The number of payloads in chunks, live or dead. */
    uint64_t chunk_bytes;   /**< The number of committed bytes in all chunks. */
    uint64_t live_bytes;    /**< The number of chunk bytes that records refer to. */
    uint64_t table_bytes;   /**< The number of committed bytes in all tables: 24 bytes for each
                                 value, present or missing, except values that are still only in the
                                 WAL. */
    uint64_t log_bytes;     /**< The number of valid bytes in the WAL. */
    uint64_t log_entries;   /**< The number of entries in the WAL that are not in the tables yet. */
    double utilisation;     /**< live_payloads / (chunks * chunk_records); 0 if there are no
                                 chunks. */
    double live_ratio;      /**< live_bytes / chunk_bytes; 1 if there are no chunks. */
    uint64_t live_payloads; /**< The number of payloads that records refer to. */
    uint64_t dead_bytes;    /**< The number of chunk bytes that lx_writer_rebalance() would free: by
                                 how much chunk_bytes would decrease. Padding that the live values
                                 need in their new places is not dead. 0 if the values would need
                                 more padding there than now. A handle that was opened before a
                                 field was added counts the values of that field as dead. */
    uint64_t parts; /**< The number of parts that the chunks of a joined dataset are in; 0 if
                                 it was not joined. In a joined dataset, a payload that several
                                 records share is live once for each of them. */
    uint64_t
        leftover_bytes;   /**< The number of bytes of tables and chunks that are not committed, or
                                  in old files: a writer that is writing them, that was interrupted or
                                  that keeps old files for a reader. The next writer frees those that
                                  no reader uses. 0 if the dataset is remote. */
    uint64_t reserved[4]; /**< Reserved; zero. */
} lx_storage_stats;

/** The sizes of one field. */
typedef struct lx_field_stats {
    uint64_t present;       /**< The number of records that have a value. */
    uint64_t missing;       /**< The number of records without a value. */
    uint64_t inlined;       /**< The number of values of at most 8 bytes, which are stored in the
                                 table. */
    uint64_t compressed;    /**< The number of values that are stored compressed. */
    uint64_t logical_bytes; /**< The uncompressed size of all values, in bytes. */
    uint64_t stored_bytes;  /**< The size of all values in chunks, in bytes. It includes only live
                                 values, because a dataset does not record the field to which dead
                                 bytes belong. */
    uint64_t inline_bytes;  /**< The size of the values in the table, in bytes. */
    uint64_t dictionary_bytes; /**< The size of the field's dictionary, in bytes; 0 if it has none
                                    (yet). */
    uint64_t reserved[2];      /**< Reserved; zero. */
} lx_field_stats;

/**
 * Computes the sizes of a dataset. The call reads all tables, but no records.
 *
 * @param[in]  dataset  The dataset.
 * @param[out] totals   Receives the sizes of the dataset.
 * @param[out] fields   Receives the sizes of each field, in schema order; may be NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The sizes were stored in @p totals and @p fields.
 * @retval LX_ERR_CORRUPT   An entry is damaged.
 * @retval LX_ERR_ARGUMENT  @p dataset or @p totals is NULL.
 * @return Otherwise, any status that lx_dataset_gather() returns.
 */
LX_API lx_status lx_dataset_stat(lx_dataset *dataset, lx_storage_stats *totals,
                                 lx_field_stats *fields, lx_error *error);

/** The sizes of a chunk. */
typedef struct lx_chunk_stats {
    uint32_t id;            /**< The chunk id; the file is chunk/ID.zr. */
    uint64_t payloads;      /**< The number of payloads, live or dead. */
    uint64_t bytes;         /**< The number of committed bytes. */
    uint64_t live_payloads; /**< The number of payloads that records refer to. */
    uint64_t live_bytes;    /**< The size of the live payloads in bytes. */
    uint64_t dead_bytes;    /**< The number of bytes that the chunk would lose if it contained only
                                 its live payloads, in record order. The sum over all chunks differs
                                 from @ref lx_storage_stats.dead_bytes only by padding, which is
                                 less than the alignment for each live payload. */
    uint64_t reserved[3];   /**< Zero. */
} lx_chunk_stats;

/**
 * Returns the sizes of all chunks of one snapshot, including their live payloads, in ascending
 * order of chunk id. The call reads all tables, but no records.
 *
 * @param[in]  dataset   The dataset.
 * @param[out] infos     Receives the sizes of up to @p capacity chunks; may be NULL if @p capacity
 *                       is 0.
 * @param[in]  capacity  The number of chunks that fit in @p infos.
 * @param[out] count     Receives the number of chunks.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The sizes were stored in @p infos. With a @p capacity of 0, only
 *                          @p count was set.
 * @retval LX_ERR_LIMIT     There are more than @p capacity chunks; @p count is set to their number.
 * @retval LX_ERR_CORRUPT   An entry is damaged.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @return Otherwise, any status that lx_dataset_gather() returns.
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
 * Removes a dataset and its directory. If the directory has no readable meta.json, or contains
 * anything that is not part of the dataset, the call changes nothing. The call removes meta.json
 * last. If the call is interrupted, the dataset is damaged, and a second call removes the rest.
 *
 * @param[in]  path   The dataset's directory.
 * @param[out] error  Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The dataset was removed.
 * @retval LX_ERR_NOT_FOUND    @p path is not a dataset, or does not exist.
 * @retval LX_ERR_BUSY         This process or a different one is reading or writing the dataset.
 * @retval LX_ERR_EXISTS       The directory contains something that is not part of the dataset.
 *                             Nothing was removed.
 * @retval LX_ERR_CORRUPT      meta.json is damaged.
 * @retval LX_ERR_UNSUPPORTED  The format, or a feature that the dataset uses, is newer than this
 *                             library; or the dataset was joined from parts, whose files are not
 *                             its own.
 * @retval LX_ERR_LIMIT        The dataset has more than #LX_MAX_FIELDS fields.
 * @retval LX_ERR_IO           A system call failed; the error reports its errno.
 * @retval LX_ERR_ARGUMENT     @p path is NULL.
 */
LX_API lx_status lx_dataset_remove(const char *path, lx_error *error);

/**
 * Checks whether a dataset's directory contains anything that is not part of the dataset, which
 * would make lx_dataset_remove() fail. The call changes nothing and takes no locks, so the dataset
 * may be in use.
 *
 * @param[in]  path   The dataset's directory.
 * @param[out] error  Receives the first failure; may be NULL.
 *
 * @retval LX_OK          The directory contains nothing else.
 * @retval LX_ERR_EXISTS  The directory contains something else; the error names it.
 * @return Otherwise, any status that lx_dataset_remove() returns except #LX_ERR_BUSY.
 */
LX_API lx_status lx_dataset_check_removable(const char *path, lx_error *error);

/** @} */

/**
 * @defgroup lx_dataset_unseal Unseal a dataset
 * @see loaderx-unseal(1), lx_dataset, lx_error, lx_writer_seal(), zrecord(5)
 * @{
 */

/**
 * Removes the seal of a dataset, so that lx_writer_open() can open it again. The call replaces only
 * meta.json, so its cost does not depend on the size of the dataset, and readers are not affected.
 * If the dataset is not sealed, the call changes nothing and succeeds, unless a writer has the
 * dataset open.
 *
 * @param[in]  path   The dataset's directory.
 * @param[out] error  Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The dataset is not sealed.
 * @retval LX_ERR_NOT_FOUND    @p path is not a dataset, or does not exist.
 * @retval LX_ERR_BUSY         A writer has the dataset open; the error names its process.
 * @retval LX_ERR_CORRUPT      meta.json is damaged.
 * @retval LX_ERR_UNSUPPORTED  The format, or a feature that the dataset uses, is newer than this
 *                             library; or the dataset is on a network file system (the error names
 *                             the file system), or was joined from parts.
 * @retval LX_ERR_LIMIT        The dataset has more than #LX_MAX_FIELDS fields.
 * @retval LX_ERR_IO           A system call failed; the error reports its errno. If a sync failed,
 *                             it is unknown whether the dataset will be sealed after a power loss:
 *                             call the function again.
 * @retval LX_ERR_ARGUMENT     @p path is NULL.
 */
LX_API lx_status lx_dataset_unseal(const char *path, lx_error *error);

/** @} */

/**
 * @defgroup lx_dataset_export_npy Export records to files
 * @see loaderx-export(1), lx_dataset, lx_dataset_gather()
 * @{
 */

/** The maximum length of a file name suffix in bytes, excluding the NUL. */
#define LX_MAX_SUFFIX 32

/**
 * The options of an export.
 *
 * @par Thread safety
 * Only one thread at a time may use the options.
 */
typedef struct lx_export_options lx_export_options;

/** Returns new options with the defaults: all records, no suffix. Returns NULL if out of memory. */
LX_API lx_export_options *lx_export_options_new(void);

/** Frees the options. NULL is allowed. */
LX_API void lx_export_options_free(lx_export_options *options);

/**
 * Sets the records to export.
 *
 * @param[in]  options  The options.
 * @param[in]  indices  @p count record indices, in any order. They are not copied and must stay
 *                      valid until the export returns. NULL, the default, means all records.
 * @param[in]  count    The number of records; ignored if @p indices is NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_export_options_set_indices(lx_export_options *options, const uint64_t *indices,
                                               uint64_t count, lx_error *error);

/**
 * Sets the suffix of each file name, for example ".png"; NULL, the default, means none. The suffix
 * applies only to lx_dataset_export_files().
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p suffix contains a slash or more than #LX_MAX_SUFFIX bytes, or
 *                          @p options is NULL; nothing changed.
 */
LX_API lx_status lx_export_options_set_suffix(lx_export_options *options, const char *suffix,
                                              lx_error *error);

/**
 * Sets the progress callback, which receives the number of records exported so far and the total;
 * NULL, the default, means none. @p user is passed to the callback.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_export_options_set_progress(lx_export_options *options,
                                                lx_progress_function progress, void *user,
                                                lx_error *error);

/** The result of an export. */
typedef struct lx_export_result {
    uint64_t records;       /**< The number of records that were read. */
    uint64_t bytes;         /**< The size of the values that were written, in bytes. */
    uint64_t missing;       /**< The number of records without a value. */
    uint64_t first_missing; /**< The index of the first record without a value; #LX_NONE if there is
                                 none. */
    uint64_t damaged;       /**< With #LX_DAMAGE_ZEROS, the number of records with a damaged
                                 value. */
    uint64_t reserved[3];   /**< Reserved; zero. */
} lx_export_result;

/**
 * Writes records of a dense field to an .npy file, as one array of shape (count, *shape). Missing
 * values are written as zeros, and so are damaged values if the dataset was opened with
 * #LX_DAMAGE_ZEROS.
 *
 * @param[in]  dataset  The dataset.
 * @param[in]  field    The position of a dense field in the schema.
 * @param[in]  path     The file. An existing file is replaced when the new file is complete, and
 *                      kept if the call fails. A symbolic link is followed.
 * @param[in]  options  The records and the progress callback; NULL for the defaults.
 * @param[out] result   Receives the result on success; may be NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK             The file was written.
 * @retval LX_ERR_RANGE      An index is not less than the length; nothing was written.
 * @retval LX_ERR_ARGUMENT   The field does not exist, the size of its values varies, @p path is
 *                           inside the directory of a dataset, a suffix is set, or a pointer is
 *                           NULL.
 * @retval LX_ERR_EXISTS     @p path exists and is not a regular file.
 * @retval LX_ERR_NOT_FOUND  The parent directory does not exist.
 * @retval LX_ERR_CORRUPT    A record is damaged; the error reports which one.
 * @retval LX_ERR_IO         A system call failed; the error reports its errno.
 * @retval LX_ERR_NOMEM      Out of memory.
 * @return Otherwise, the status that the progress callback returned or, if @p dataset is live, any
 *         status that lx_dataset_refresh() returns.
 */
LX_API lx_status lx_dataset_export_npy(lx_dataset *dataset, size_t field, const char *path,
                                       const lx_export_options *options, lx_export_result *result,
                                       lx_error *error);

/**
 * Writes each record of a field of any kind to its own file. The file name is the index, with at
 * least eight digits, followed by the suffix. No file is written for a missing value or, with
 * #LX_DAMAGE_ZEROS, for a damaged value.
 *
 * @param[in]  dataset  The dataset.
 * @param[in]  field    The position of the field in the schema.
 * @param[in]  path     The directory; the call creates it if it does not exist. Existing files are
 *                      never replaced.
 * @param[in]  options  The options; NULL for the defaults.
 * @param[out] result   Receives the result on success; may be NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_EXISTS     A file with the name of a record already exists.
 * @retval LX_ERR_NOT_FOUND  The parent directory of @p path does not exist.
 * @return Otherwise, any status that lx_dataset_export_npy() returns, except that any field and a
 *         suffix are allowed. Files that were written before a failure are kept.
 */
LX_API lx_status lx_dataset_export_files(lx_dataset *dataset, size_t field, const char *path,
                                         const lx_export_options *options, lx_export_result *result,
                                         lx_error *error);

/** @} */

LX_END_DECLS

#endif
