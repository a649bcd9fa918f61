/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reading datasets, from any number of threads and processes.
 */
#ifndef LOADERX_DATASET_H
#define LOADERX_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/executor.h>
#include <loaderx/schema.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_dataset_options Options for reading a dataset
 * @see lx_dataset, lx_dataset_refresh(), lx_error
 * @{
 */

/**
 * When to verify the checksums of raw values. Checksums of compressed values are verified on every
 * read.
 */
typedef enum lx_verify_policy {
    LX_VERIFY_FIRST = 0,  /**< The first time that a handle reads the value, or each time if the
                               dataset is on another machine (remote.h); the default. */
    LX_VERIFY_ALWAYS = 1, /**< On every read. */
    LX_VERIFY_NEVER = 2   /**< Never. The library still checks that a value is within the committed
                               bytes. */
} lx_verify_policy;

/**
 * How a reader handles a damaged value. A value is damaged if its entry, checksum or compressed
 * stream is invalid, or if its file is missing. Readers do not check the UTF-8 or JSON of a value
 * with a valid checksum, which only a faulty writer can have stored: lx_dataset_verify() and
 * lx_dataset_probe() do.
 */
typedef enum lx_damage_policy {
    LX_DAMAGE_RAISE = 0, /**< The call fails with #LX_ERR_CORRUPT; the default. */
    LX_DAMAGE_ZEROS = 1, /**< The value is read as if it were missing: zeros in a dense field, no
                              bytes if the size of values varies, and no slice in a
                              view. */
    LX_DAMAGE_SKIP = 2   /**< Loaders only: the record is left out of the batch. */
} lx_damage_policy;

/**
 * The access mode: how tables and chunks are read. Records and errors are the same in all modes,
 * except when another process truncates an open file, or a disk cannot read a sector. In all modes,
 * a file that is too short when it is opened causes #LX_ERR_CORRUPT.
 */
typedef enum lx_access {
    LX_ACCESS_AUTO = 0, /**< #LX_ACCESS_PREAD on network file systems, #LX_ACCESS_MMAP on others;
                             the default. While values are not in memory, calls that read several
                             values do not wait for one page after another: they request all values
                             from the system at once, and read them with pread(2). */
    LX_ACCESS_MMAP = 1, /**< Uses mmap(2), which is fastest for values in memory and reads records
                             in place. If another process truncates an open file, or a sector is
                             bad, SIGBUS kills the process; in the last page of a truncated file,
                             bytes may instead read as zeros, without an error. */
    LX_ACCESS_PREAD = 2 /**< Uses pread(2); nothing is memory-mapped. Truncation causes
                             #LX_ERR_CORRUPT, and a bad sector causes #LX_ERR_IO; the error reports
                             the field, record, file and offset. A view contains copies of its
                             values. */
} lx_access;

/**
 * The options for reading a dataset.
 *
 * @par Thread safety
 * Only one thread at a time may use the options. A dataset copies what it needs when it is opened.
 */
typedef struct lx_dataset_options lx_dataset_options;

/**
 * Returns new options with the defaults: a dataset verifies values on the first read, fails on
 * damage, shows the newest commit, and is not live. Returns NULL if out of memory.
 */
LX_API lx_dataset_options *lx_dataset_options_new(void);

/** Frees the options. NULL is allowed. */
LX_API void lx_dataset_options_free(lx_dataset_options *options);

/**
 * Sets when to verify the checksums of raw values.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p verify is invalid, or @p options is NULL.
 */
LX_API lx_status lx_dataset_options_set_verify_policy(lx_dataset_options *options,
                                                      lx_verify_policy verify, lx_error *error);

/**
 * Sets how to handle damaged values: #LX_DAMAGE_RAISE, the default, or #LX_DAMAGE_ZEROS. In both
 * cases, lx_dataset_get_stats() counts damaged values, and lx_dataset_probe() finds the records
 * that contain them.
 *
 * With #LX_DAMAGE_ZEROS, lx_dataset_get_sizes() has to read the values whose sizes it returns; no
 * other call becomes slower. If the verify policy (lx_dataset_options_set_verify_policy()) leaves a
 * value unverified, damage in the value goes unnoticed, and the value is returned as stored.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p damage is neither of these policies, or @p options is NULL.
 */
LX_API lx_status lx_dataset_options_set_damage_policy(lx_dataset_options *options,
                                                      lx_damage_policy damage, lx_error *error);

/**
 * Sets the access mode; #LX_ACCESS_AUTO is the default.
 *
 * Use #LX_ACCESS_PREAD if your process must survive disk failures and the truncation of files by
 * other processes. The library never installs a signal handler.
 *
 * On network file systems, only sealed datasets can be read, and no dataset can be written.
 * lx_dataset_get_network() reports which network file system a dataset is on.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p access is invalid, or @p options is NULL.
 */
LX_API lx_status lx_dataset_options_set_access(lx_dataset_options *options, lx_access access,
                                               lx_error *error);

/**
 * Sets whether to show only commits that survive a power loss. The default, false, shows the newest
 * commit.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_dataset_options_set_durable(lx_dataset_options *options, bool durable,
                                                lx_error *error);

/**
 * Sets whether the dataset is live. If it is live, each call that reads (lx_dataset_gather(),
 * lx_dataset_get_sizes(), lx_dataset_view() and so on, including lx_dataset_get_length()) first
 * refreshes to the newest commit as lx_dataset_refresh() does, and can fail with the same statuses.
 * If there is no new commit, the refresh makes three system calls.
 *
 * Consecutive calls may read different snapshots; use lx_dataset_pin() to read one snapshot in
 * several calls.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_dataset_options_set_live(lx_dataset_options *options, bool live,
                                             lx_error *error);

/**
 * Sets the number of records to show: the first @p length records of the dataset. #LX_NONE, the
 * default, shows all records. If @p length is the length that the dataset had when the state of a
 * loader was saved, a run continues with the same samples even if records have been appended since
 * then.
 *
 * Later refreshes do not show more records either, but may show fewer if records were deleted.
 * lx_dataset_stat(), lx_dataset_verify() and lx_dataset_backup() process the whole dataset.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_dataset_options_set_length(lx_dataset_options *options, uint64_t length,
                                               lx_error *error);

/**
 * Sets the executor whose readers verify the records in lx_dataset_verify(). With NULL, the
 * default, lx_dataset_verify() opens an executor for the call.
 *
 * The options hold a reference to @p executor, but a dataset does not: after the executor is
 * closed, the calling thread does the work.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_dataset_options_set_executor(lx_dataset_options *options, lx_executor *executor,
                                                 lx_error *error);

/** @} */

/**
 * @defgroup lx_dataset Read a dataset
 *
 * lx_dataset_gather() reads records of a dense field. Reading records of any field takes two steps:
 * lx_dataset_get_sizes() returns their sizes, and lx_dataset_gather_bytes() copies them.
 * lx_dataset_view() reads raw records without copying them.
 *
 * @code
 * const uint64_t indices[] = {7, 0, 59999};
 * unsigned char images[3][28][28];
 * lx_dataset *fashion = NULL;
 * if (lx_dataset_open("fashion", NULL, &fashion, &error) != LX_OK ||
 *     lx_dataset_gather(fashion, 0, indices, 3, images,
 *                       sizeof images[0], &error) != LX_OK)
 *     return complain(&error);
 * lx_dataset_close(fashion);
 * @endcode
 *
 * If a file is damaged or hostile, a call that reads it returns #LX_ERR_CORRUPT, and the error
 * reports the field, record, file and offset. Verification, statistics, backups and repairs use
 * pread(2) in every access mode.
 * @see loaderx-get(1), lx_dataset_backup(), lx_dataset_export_npy(), lx_dataset_options,
 *      lx_dataset_probe(), lx_dataset_refresh(), lx_dataset_remove(), lx_dataset_stat(),
 *      lx_dataset_verify(), lx_error, lx_schema, lx_source, lx_view, lx_writer, zrecord(5)
 * @{
 */

/**
 * A handle that reads one snapshot of a dataset: the state that was committed when the handle was
 * opened or last refreshed or, with lx_dataset_options_set_live(), the newest state. Writers never
 * change a snapshot.
 *
 * A handle keeps the fields that the dataset had when it was opened. The handle stays valid through
 * all changes to the dataset: commits, a seal, a new WAL or new tables. It does not show fields
 * that are added later, and shows a renamed field under its old name. If one of its fields is
 * dropped, lx_dataset_refresh() returns #LX_ERR_STATE, but the last snapshot stays readable.
 *
 * @par Thread safety
 * Any thread may make any call at any time, except lx_dataset_close(). A child of fork(2) may
 * continue to read.
 */
typedef struct lx_dataset lx_dataset;

/**
 * Opens a dataset for reading, at its newest commit. The call scans only the WAL.
 *
 * @param[in]  path     The dataset's directory.
 * @param[in]  options  The options; NULL for the defaults.
 * @param[out] dataset  Receives the handle; close it with lx_dataset_close().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The dataset was opened.
 * @retval LX_ERR_NOT_FOUND    @p path is not a dataset, or does not exist.
 * @retval LX_ERR_CORRUPT      meta.json or LOG is damaged, or a table is missing or too short.
 * @retval LX_ERR_UNSUPPORTED  The format, or a feature that the dataset uses, is newer than this
 *                             library; or the dataset is on a network file system and is not
 *                             sealed: seal it on the machine that wrote it, or copy it to a local
 *                             disk.
 * @retval LX_ERR_BUSY         The dataset is being removed.
 * @retval LX_ERR_MISMATCH     The dataset has fewer records than lx_dataset_options_set_length()
 *                             requested.
 * @retval LX_ERR_LIMIT        The dataset has more than #LX_MAX_FIELDS fields, or a table that is
 *                             too large to be memory-mapped on this machine.
 * @retval LX_ERR_IO           A system call failed; the error reports its errno.
 * @retval LX_ERR_ARGUMENT     A pointer is NULL.
 * @retval LX_ERR_NOMEM        Out of memory.
 */
LX_API lx_status lx_dataset_open(const char *path, const lx_dataset_options *options,
                                 lx_dataset **dataset, lx_error *error);

/** Closes a handle. Slices of views that have not been freed stay readable. NULL is allowed. */
LX_API void lx_dataset_close(lx_dataset *dataset);

/**
 * Returns the number of records in the snapshot. For a live dataset, the snapshot is the newest one
 * or, if that cannot be read, the last one that could be read.
 */
LX_API uint64_t lx_dataset_get_length(lx_dataset *dataset);

/** Returns the fields; they are valid until the dataset is closed. */
LX_API const lx_schema *lx_dataset_get_schema(const lx_dataset *dataset);

/**
 * Returns the path that was passed to lx_dataset_open(), or the URL of a dataset on another
 * machine; it is valid until the dataset is closed.
 */
LX_API const char *lx_dataset_get_path(const lx_dataset *dataset);

/**
 * Returns the access mode that was set, or the one that #LX_ACCESS_AUTO selected.
 */
LX_API lx_access lx_dataset_get_access(lx_dataset *dataset);

/**
 * Returns the name of the network file system that the dataset is on (for example "NFS"), or the
 * kind of transport of a dataset on another machine, as a constant string; NULL if the file system
 * is local.
 */
LX_API const char *lx_dataset_get_network(lx_dataset *dataset);

/** Identifies a dataset and one snapshot of it. */
typedef struct lx_dataset_identity {
    char uuid[40];        /**< The dataset's UUID: 36 characters and a NUL. */
    uint64_t generation;  /**< The generation of the WAL. */
    uint64_t sequence;    /**< The sequence number of the last frame in the WAL. */
    uint32_t checksum;    /**< The checksum of that frame. */
    bool sealed;          /**< Whether the dataset is sealed. */
    uint64_t changes;     /**< The number of changes: if it is the same in a later snapshot, then
                               records were only appended in between. */
    uint64_t reserved[3]; /**< Zero. */
} lx_dataset_identity;

/**
 * Identifies the current snapshot. For a live dataset, the call selects the snapshot as
 * lx_dataset_get_length() does.
 */
LX_API void lx_dataset_get_identity(lx_dataset *dataset, lx_dataset_identity *identity);

/**
 * Copies records of a dense field to the caller's memory, in the order of @p indices. Missing
 * values become zeros; lx_dataset_get_present() tells which ones are missing.
 *
 * @param[in]  dataset  The dataset.
 * @param[in]  field    The position of a dense field in the schema.
 * @param[in]  indices  @p count record indices, in any order; repeats are allowed.
 * @param[in]  count    The number of records.
 * @param[out] out      Receives record i at @p out + i * @p stride.
 * @param[in]  stride   The distance in bytes from one record to the next; at least the field's
 *                      size.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The records were copied to @p out.
 * @retval LX_ERR_RANGE        An index is not less than the length; the error reports the index.
 * @retval LX_ERR_CORRUPT      A record is damaged; the error reports the field, record, file and
 *                             offset. The dataset stays usable; the bytes at @p out are undefined.
 * @retval LX_ERR_UNSUPPORTED  This library cannot decompress a record.
 * @retval LX_ERR_ARGUMENT     The field does not exist, the size of its values varies, @p stride is
 *                             too small, or a pointer is NULL.
 * @retval LX_ERR_IO           A system call failed; the error reports its errno.
 * @retval LX_ERR_NOMEM        Out of memory.
 * @return Otherwise, if @p dataset is live, any status that lx_dataset_refresh() returns.
 */
LX_API lx_status lx_dataset_gather(lx_dataset *dataset, size_t field, const uint64_t *indices,
                                   size_t count, void *out, size_t stride, lx_error *error);

/**
 * Returns whether values of a field may be missing in the current snapshot. If not, none is, and
 * there is no need to call lx_dataset_get_present(). The call reads no values, so it may also return
 * true for a field whose missing values were all filled in. The snapshot of a live dataset may
 * change before the next call: pin it (lx_dataset_pin()), and read the values from the pin.
 *
 * @param[in]  dataset  The dataset.
 * @param[in]  field    The position of a field in the schema; if there is no such field, the result
 *                      is false.
 */
LX_API bool lx_dataset_may_lack_values(lx_dataset *dataset, size_t field);

/**
 * Tells which records have a value in a field, of any type, without reading the values. A damaged
 * value counts as present, whatever the damage policy is.
 *
 * @param[in]  dataset  The dataset.
 * @param[in]  field    The position of a field in the schema.
 * @param[in]  indices  @p count record indices, in any order; repeats are allowed.
 * @param[in]  count    The number of records.
 * @param[out] present  Receives @p count bytes: 0 if the value is missing, otherwise 1.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The bytes were stored.
 * @retval LX_ERR_RANGE     An index is not less than the length; the error reports the index.
 * @retval LX_ERR_ARGUMENT  The field does not exist, or a pointer is NULL.
 * @retval LX_ERR_IO        A system call failed; the error reports its errno.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, if @p dataset is live, any status that lx_dataset_refresh() returns.
 */
LX_API lx_status lx_dataset_get_present(lx_dataset *dataset, size_t field, const uint64_t *indices,
                                        size_t count, uint8_t *present, lx_error *error);

/**
 * Returns where the values of a field end up if lx_dataset_gather_bytes() copies them one after
 * another: their offsets, and thus their sizes. The field can be of any type.
 *
 * @param[in]  dataset  The dataset.
 * @param[in]  field    The position of a field in the schema.
 * @param[in]  indices  @p count record indices, in any order; repeats are allowed.
 * @param[in]  count    The number of records.
 * @param[out] offsets  Receives @p count + 1 offsets, starting with 0: record i occupies the bytes
 *                      [offsets[i], offsets[i + 1]) of a buffer for all of the records.
 * @param[out] present  Receives @p count bytes: 0 if the record has no value or, with
 *                      #LX_DAMAGE_ZEROS, has a damaged value; otherwise 1. May be NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @return Any status that lx_dataset_gather() returns, except that any field is allowed.
 */
LX_API lx_status lx_dataset_get_sizes(lx_dataset *dataset, size_t field, const uint64_t *indices,
                                      size_t count, uint64_t *offsets, uint8_t *present,
                                      lx_error *error);

/**
 * Copies records of any field, one after another, to the offsets that lx_dataset_get_sizes()
 * returned.
 *
 * @param[in]  dataset  The dataset.
 * @param[in]  field    The position of a field in the schema.
 * @param[in]  indices  The same indices as for lx_dataset_get_sizes().
 * @param[in]  count    The number of records.
 * @param[in]  offsets  The offsets from lx_dataset_get_sizes().
 * @param[out] out      Receives the records, offsets[count] bytes in total; may be NULL if
 *                      offsets[count] is 0.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_MISMATCH  The size of a record differs from @p offsets: the dataset was refreshed
 *                          between the two calls, or is live. Query the sizes again, or use
 *                          lx_dataset_pin().
 * @return Otherwise, any status that lx_dataset_get_sizes() returns.
 */
LX_API lx_status lx_dataset_gather_bytes(lx_dataset *dataset, size_t field, const uint64_t *indices,
                                         size_t count, const uint64_t *offsets, void *out,
                                         lx_error *error);

/**
 * Copies a part of one value to the caller's memory: @p count items from item @p first on. An item
 * is a part of a value at one index of its first dimension (lx_field::item_size): a byte of a bytes
 * field, a row of an array, or a whole scalar. Like pread(2), the call copies fewer items if the
 * value ends before.
 *
 * Of a raw value of more than 64 KiB, only the bytes of the part are read. They are **not
 * verified** unless the handle uses #LX_VERIFY_ALWAYS, because the checksum covers the whole value;
 * the call still checks that the value lies within the committed part of its chunk.
 * #LX_VERIFY_ALWAYS, and lx_dataset_verify(), read the whole value. A shorter value is read and
 * verified as a whole, and a compressed one is also decompressed as a whole.
 *
 * @param[in]  dataset  The dataset.
 * @param[in]  field    The position of a field in the schema.
 * @param[in]  index    The index of the record.
 * @param[in]  first    The first item.
 * @param[in]  count    The number of items.
 * @param[out] out      Has room for @p count items; may be NULL if @p count is 0.
 * @param[out] read     Receives the number of items that were copied; #LX_NONE if the record has no
 *                      value or, with #LX_DAMAGE_ZEROS, has a damaged value.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The items were copied.
 * @retval LX_ERR_RANGE     @p index is not less than the length. It is no failure if @p first is
 *                          beyond the end of the value.
 * @retval LX_ERR_ARGUMENT  The field does not exist, or a pointer is NULL.
 * @return Otherwise, any status that lx_dataset_gather() returns.
 */
LX_API lx_status lx_dataset_read_part(lx_dataset *dataset, size_t field, uint64_t index,
                                      uint64_t first, uint64_t count, void *out, uint64_t *read,
                                      lx_error *error);

/** @} */

/**
 * @defgroup lx_dataset_refresh Follow the commits of a writer
 *
 * A handle reads one snapshot until it is refreshed. A live handle (lx_dataset_options_set_live())
 * refreshes itself in each call. Calls for several fields of the same records, or for their sizes
 * and then their bytes, may therefore read different snapshots. lx_dataset_pin() opens a handle
 * that keeps one snapshot, and is cheap enough to call for each batch:
 *
 * @code
 * lx_dataset *pinned = NULL;
 * if (lx_dataset_pin(live, &pinned, &error) != LX_OK ||
 *     lx_dataset_gather(pinned, 0, indices, 256, images,
 *                       sizeof images[0], &error) != LX_OK ||
 *     lx_dataset_gather(pinned, 1, indices, 256, labels,
 *                       sizeof labels[0], &error) != LX_OK)
 *     return complain(&error);
 * lx_dataset_close(pinned);
 * @endcode
 *
 * A loader over a live dataset pins the dataset for each batch.
 *
 * A commit is visible before it is durable. If a disk fails, a commit that is not durable can be
 * lost even if the machine is not restarted. An older commit then becomes the newest one, and a
 * refresh goes back to it. lx_dataset_options_set_durable() hides commits that are not durable.
 * @see lx_dataset, lx_dataset_options, lx_source_new_dataset(), zrecord(5)
 * @{
 */

/**
 * Refreshes a handle to the newest commit. The cost depends on how much has been committed since
 * the last refresh; if there is no new commit, the call makes three system calls. After a failure,
 * the handle still reads the previous snapshot.
 *
 * @param[in]  dataset  The dataset.
 * @param[out] changed  Receives whether the snapshot has changed; may be NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK         The handle reads the newest commit.
 * @retval LX_ERR_STATE  A field of the handle was dropped (the error names it), or a different
 *                       dataset is now at the handle's path: close the handle and open the dataset
 *                       again.
 * @return Otherwise, any status that lx_dataset_open() returns.
 */
LX_API lx_status lx_dataset_refresh(lx_dataset *dataset, bool *changed, lx_error *error);

/**
 * Opens a second handle on the snapshot that @p dataset reads, or on the newest snapshot if
 * @p dataset is live. The new handle keeps this snapshot until it is refreshed. The two handles
 * share all large data, and the call takes less than a microsecond.
 *
 * @param[in]  dataset  The dataset.
 * @param[out] pinned   Receives the handle; close it with lx_dataset_close(), before or after
 *                      @p dataset. The new handle has the same options, but is not live.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The handle was opened.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, if @p dataset is live, any status that lx_dataset_refresh() returns.
 */
LX_API lx_status lx_dataset_pin(lx_dataset *dataset, lx_dataset **pinned, lx_error *error);

/**
 * Waits until the dataset has at least @p length records, and refreshes the handle to the newest
 * commit. The call polls at intervals that grow from 1 to 20 milliseconds.
 *
 * @param[in]  dataset      The dataset.
 * @param[in]  length       The number of records to wait for.
 * @param[in]  nanoseconds  The maximum time to wait; 0 checks once, and #LX_NONE waits without a
 *                          limit.
 * @param[out] error        Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The dataset has at least @p length records.
 * @retval LX_ERR_TIMEOUT   The dataset has fewer records. This is not a failure: @p error is
 *                          unchanged.
 * @retval LX_ERR_ARGUMENT  @p length exceeds the length set with lx_dataset_options_set_length(),
 *                          or @p dataset is NULL.
 * @return Otherwise, any status that lx_dataset_refresh() returns.
 */
LX_API lx_status lx_dataset_wait(lx_dataset *dataset, uint64_t length, uint64_t nanoseconds,
                                 lx_error *error);

/** @} */

/**
 * @defgroup lx_dataset_probe Find damaged records
 *
 * This example reads a batch with zeros in place of damaged values, and then finds the records with
 * damaged values:
 *
 * @code
 * lx_dataset_options_set_damage_policy(options, LX_DAMAGE_ZEROS, &error);
 * lx_dataset_open("fashion", options, &fashion, &error);
 * lx_dataset_gather(fashion, 0, indices, 256, images, 784, &error);
 * lx_dataset_get_stats(fashion, &stats);
 * if (stats.damaged != before)
 *     lx_dataset_probe(fashion, NULL, 0, indices, 256, damaged,
 *                      &error);
 * @endcode
 * @see lx_dataset, lx_dataset_options, lx_dataset_repair(), lx_dataset_verify(), lx_error
 * @{
 */

/**
 * Finds the records that have a damaged value. Regardless of the dataset's options, the call checks
 * the entries, the checksums, and the UTF-8 or JSON of all requested values, and decompresses them.
 * It does not affect the counts of lx_dataset_get_stats().
 *
 * @param[in]  dataset      The dataset.
 * @param[in]  fields       @p field_count positions in the schema; NULL for all fields.
 * @param[in]  field_count  The number of fields; ignored if @p fields is NULL.
 * @param[in]  indices      @p count record indices, in any order; repeats are allowed.
 * @param[in]  count        The number of records.
 * @param[out] damaged      Receives @p count bytes: 1 if a value of the record is damaged,
 *                          otherwise 0.
 * @param[out] error        Receives the first failure; may be NULL. Damage is not a failure.
 *
 * @retval LX_OK            All records were checked.
 * @retval LX_ERR_RANGE     An index is not less than the length; the error reports the index.
 * @retval LX_ERR_ARGUMENT  A field does not exist, or a pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, if @p dataset is live, any status that lx_dataset_refresh() returns.
 */
LX_API lx_status lx_dataset_probe(lx_dataset *dataset, const size_t *fields, size_t field_count,
                                  const uint64_t *indices, size_t count, uint8_t *damaged,
                                  lx_error *error);

/** The statistics of a handle. */
typedef struct lx_dataset_stats {
    uint64_t damaged;     /**< The number of damaged values that made a call fail or were read as
                               missing. If a value is gathered after its size was queried, it counts
                               only once. */
    uint64_t reserved[7]; /**< Reserved; zero. */
} lx_dataset_stats;

/**
 * Copies the statistics of a handle. They cover the time since the handle was opened, and include
 * the statistics of handles that were pinned from it.
 */
LX_API void lx_dataset_get_stats(lx_dataset *dataset, lx_dataset_stats *stats);

/** @} */

/**
 * @defgroup lx_view Read records without copying them
 *
 * @code
 * lx_slice image;
 * lx_view *view = NULL;
 * const uint64_t index = 7;
 * if (lx_dataset_view(fashion, 0, &index, 1, &image, &view, &error) != LX_OK)
 *     return complain(&error);
 * show(image.data, image.size);
 * lx_view_free(view);
 * @endcode
 * @see lx_dataset, lx_error
 * @{
 */

/** A value in memory that belongs to the library and is read-only. */
typedef struct lx_slice {
    const void *data; /**< The bytes; NULL if the value is missing or, with #LX_DAMAGE_ZEROS,
                           if it is damaged. */
    uint64_t size;    /**< The number of bytes. */
} lx_slice;

/** An object that keeps slices readable, even after the dataset is refreshed or closed. */
typedef struct lx_view lx_view;

/**
 * Returns slices of the stored values of one field, without copying them. With #LX_ACCESS_PREAD,
 * the slices point to copies that the view owns. Slices are aligned to lx_field::align bytes,
 * except for values of up to 8 bytes, which are stored in tables.
 *
 * @param[in]  dataset  The dataset.
 * @param[in]  field    The position of a field in the schema.
 * @param[in]  indices  @p count record indices, in any order; repeats are allowed.
 * @param[in]  count    The number of records.
 * @param[out] slices   Receives one slice per record.
 * @param[out] view     Receives the view; free it with lx_view_free(). The slices stay readable
 *                      until then, whatever a writer does.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_UNSUPPORTED  A value is compressed: use lx_dataset_gather() or
 *                             lx_dataset_gather_bytes() instead.
 * @return Otherwise, any status that lx_dataset_get_sizes() returns.
 */
LX_API lx_status lx_dataset_view(lx_dataset *dataset, size_t field, const uint64_t *indices,
                                 size_t count, lx_slice *slices, lx_view **view, lx_error *error);

/** Frees a view. Any thread may call it. NULL is allowed. */
LX_API void lx_view_free(lx_view *view);

/** @} */

LX_END_DECLS

#endif
