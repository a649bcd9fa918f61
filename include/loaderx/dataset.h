/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reading of datasets, by any number of threads and processes.
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

/** When the checksums of raw values are verified. Those of compressed values are verified at every
 * read. */
typedef enum lx_verify_policy {
    LX_VERIFY_FIRST = 0,  /**< When a handle first reads the value; the default. */
    LX_VERIFY_ALWAYS = 1, /**< At every read. */
    LX_VERIFY_NEVER = 2   /**< Never. That a value lies within committed bytes is still checked. */
} lx_verify_policy;

/** What a reader does about a damaged value: one whose entry, checksum or compressed stream is
 * invalid, or whose file is missing. */
typedef enum lx_damage_policy {
    LX_DAMAGE_RAISE = 0, /**< The call fails with #LX_ERR_CORRUPT; the default. */
    LX_DAMAGE_ZEROS = 1, /**< The value reads as if it were missing: zeros in a dense field, no
                              bytes in a field of #LX_BYTES, and no slice in a view. */
    LX_DAMAGE_SKIP = 2   /**< Loaders only: the batch leaves the record out. */
} lx_damage_policy;

/**
 * The access mode: how tables and chunks are read. Records and errors are the same in all modes,
 * except where another process truncates a file while it is open, or a disk cannot read a sector. A
 * file that is too short when it is opened is #LX_ERR_CORRUPT in all modes.
 */
typedef enum lx_access {
    LX_ACCESS_AUTO = 0, /**< MMAP on local file systems, PREAD on network ones; the
                             default. */
    LX_ACCESS_MMAP = 1, /**< By mmap(2), which is fastest, and reads records where they lie.
                             If another process truncates a file that is open, or a sector is
                             bad, SIGBUS ends the process; in the last page of a truncated file
                             bytes can read as zeros instead, without an error. */
    LX_ACCESS_PREAD = 2 /**< By pread(2); nothing is mapped. Truncation is #LX_ERR_CORRUPT, and
                             a bad sector #LX_ERR_IO; the error has field, record, file and
                             offset. A view holds a copy of its values. */
} lx_access;

/**
 * The options for reading a dataset.
 *
 * @par Thread safety
 * One thread at a time. A dataset copies what it needs when it is opened.
 */
typedef struct lx_dataset_options lx_dataset_options;

/**
 * Returns options with the defaults: verification at the first read, damage is an error, the newest
 * commit, not live. Returns NULL when out of memory.
 */
LX_API lx_dataset_options *lx_dataset_options_new(void);

/** Frees options. NULL is allowed. */
LX_API void lx_dataset_options_free(lx_dataset_options *options);

/**
 * Sets when the checksums of raw values are verified.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p verify is invalid, or @p options is NULL.
 */
LX_API lx_status lx_dataset_options_set_verify_policy(lx_dataset_options *options,
                                                      lx_verify_policy verify, lx_error *error);

/**
 * Sets what is done about damaged values: #LX_DAMAGE_RAISE, the default, or #LX_DAMAGE_ZEROS. In
 * both cases lx_dataset_get_stats() counts them, and lx_dataset_probe() finds them.
 *
 * With #LX_DAMAGE_ZEROS, lx_dataset_get_sizes() has to read the values that it measures; no other
 * call becomes slower. Damage in a value that lx_dataset_options_set_verify_policy() leaves
 * unverified is not noticed: the value is returned as it is stored.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p damage is neither of the two, or @p options is NULL.
 */
LX_API lx_status lx_dataset_options_set_damage_policy(lx_dataset_options *options,
                                                      lx_damage_policy damage, lx_error *error);

/**
 * Sets the access mode; #LX_ACCESS_AUTO is the default.
 *
 * Use #LX_ACCESS_PREAD where other processes may truncate files, or disks may fail, and the
 * process must survive that. The library never installs a signal handler.
 *
 * On network file systems only sealed datasets can be read, and none can be written.
 * lx_dataset_get_access() reports on which one a dataset is.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p access is invalid, or @p options is NULL.
 */
LX_API lx_status lx_dataset_options_set_access(lx_dataset_options *options, lx_access access,
                                               lx_error *error);

/**
 * Sets whether only commits are visible that survive a power loss. By default, false, the newest
 * commit is.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_dataset_options_set_durable(lx_dataset_options *options, bool durable,
                                                lx_error *error);

/**
 * Sets whether the dataset is live. In a live one each call that reads (lx_dataset_gather(),
 * lx_dataset_get_sizes(), lx_dataset_view() and the others, also lx_dataset_get_length()) first
 * refreshes to the newest commit as lx_dataset_refresh() does, and can fail as that can. Without a
 * new commit this costs three system calls.
 *
 * Calls that follow each other may read different snapshots; lx_dataset_pin() holds one.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_dataset_options_set_live(lx_dataset_options *options, bool live,
                                             lx_error *error);

/**
 * Sets the executor whose readers verify the records in lx_dataset_verify(). With NULL, the
 * default, the calling thread does.
 *
 * The options hold a reference to @p executor. A dataset holds none: once the executor is closed,
 * the calling thread does the work again.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_dataset_options_set_executor(lx_dataset_options *options, lx_executor *executor,
                                                 lx_error *error);

/** @} */

/**
 * @defgroup lx_dataset Read a dataset
 *
 * Records of a dense field are read with lx_dataset_gather(). Records of any field are read in two
 * steps: lx_dataset_get_sizes() returns their sizes, and lx_dataset_gather_bytes() copies them.
 * lx_dataset_view() reads raw records without a copy.
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
 * Whatever a damaged or hostile file holds, a call returns #LX_ERR_CORRUPT, and the error has
 * field, record, file and offset. Verification, statistics, backups and repairs read by pread(2) in
 * every access mode.
 * @see loaderx-get(1), lx_dataset_backup(), lx_dataset_export_npy(), lx_dataset_options,
 *      lx_dataset_probe(), lx_dataset_refresh(), lx_dataset_remove(), lx_dataset_stat(),
 *      lx_dataset_verify(), lx_error, lx_schema, lx_source, lx_view, lx_writer, zrecord(5)
 * @{
 */

/**
 * Reads one snapshot of a dataset: the state that was committed when the handle was opened or last
 * refreshed; or, with lx_dataset_options_set_live(), the newest one. A writer changes nothing in
 * it.
 *
 * A handle keeps the fields with which it was opened. It survives whatever is done to the dataset:
 * commits, a seal, a new WAL or new tables. It does not show fields that are added later, and shows
 * a renamed field under its old name. Only when one of its fields is dropped does
 * lx_dataset_refresh() return #LX_ERR_STATE; the last snapshot then stays readable.
 *
 * @par Thread safety
 * Any thread may make any call at any time, except lx_dataset_close(). A child of fork(2) may
 * continue to read.
 */
typedef struct lx_dataset lx_dataset;

/**
 * Opens a dataset for reading, at its newest commit. It scans nothing but the WAL.
 *
 * @param[in]  path     The dataset's directory.
 * @param[in]  options  The options; NULL for the defaults.
 * @param[out] dataset  Receives the handle, to be closed with lx_dataset_close().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The dataset is open.
 * @retval LX_ERR_NOT_FOUND    @p path is not a dataset, or does not exist.
 * @retval LX_ERR_CORRUPT      meta.json or LOG is damaged, or a table is missing or too short.
 * @retval LX_ERR_UNSUPPORTED  The format, or a feature that the dataset uses, is newer than this
 *                             library. Or the dataset is on a network file system and not sealed:
 *                             seal it on the machine that wrote it, or copy it to a local disk.
 * @retval LX_ERR_BUSY         The dataset is being removed.
 * @retval LX_ERR_LIMIT        It has more than #LX_MAX_FIELDS fields, or a table that is too large
 *                             to be mapped on this machine.
 * @retval LX_ERR_IO           A system call failed; the error has its errno.
 * @retval LX_ERR_ARGUMENT     A pointer is NULL.
 * @retval LX_ERR_NOMEM        Out of memory.
 */
LX_API lx_status lx_dataset_open(const char *path, const lx_dataset_options *options,
                                 lx_dataset **dataset, lx_error *error);

/** Closes a handle. Slices of views that are not yet released stay readable. NULL is allowed. */
LX_API void lx_dataset_close(lx_dataset *dataset);

/**
 * Returns the number of records in the snapshot; if the dataset is live, in the newest one, or in
 * the last one that could be read.
 */
LX_API uint64_t lx_dataset_get_length(lx_dataset *dataset);

/** Returns the fields, valid until the dataset is closed. */
LX_API const lx_schema *lx_dataset_get_schema(const lx_dataset *dataset);

/**
 * Returns the directory as it was given to lx_dataset_open(), valid until the dataset is closed.
 */
LX_API const char *lx_dataset_get_path(const lx_dataset *dataset);

/**
 * Returns the access mode: the one that was set, or the one that #LX_ACCESS_AUTO selected.
 */
LX_API lx_access lx_dataset_get_access(lx_dataset *dataset);

/**
 * Returns the name of the network file system that holds the dataset ("NFS"), a constant string, or
 * NULL if a local file system does.
 */
LX_API const char *lx_dataset_get_network(lx_dataset *dataset);

/** Identifies a dataset and one snapshot of it. */
typedef struct lx_dataset_identity {
    char uuid[40];       /**< The dataset: 36 characters and a NUL. */
    uint64_t generation; /**< The generation of the WAL. */
    uint64_t sequence;   /**< The sequence number of the last frame in it. */
    uint32_t checksum;   /**< The checksum of that frame. */
    bool sealed;         /**< Whether the dataset is sealed. */
} lx_dataset_identity;

/** Identifies the snapshot that is read; that of a live dataset as lx_dataset_get_length() does. */
LX_API void lx_dataset_get_identity(lx_dataset *dataset, lx_dataset_identity *identity);

/**
 * Copies records of a dense field into the caller's memory, in the order of @p indices. Missing
 * values are zeros.
 *
 * @param[in]  dataset  The dataset.
 * @param[in]  field    The position of a dense field in the schema.
 * @param[in]  indices  @p count indices of records, in any order; repeats are allowed.
 * @param[in]  count    The number of records.
 * @param[out] out      Receives record i at @p out + i * @p stride.
 * @param[in]  stride   Bytes from one record to the next, at least the field's size.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The records are at @p out.
 * @retval LX_ERR_RANGE        An index is not below the length; the error has it.
 * @retval LX_ERR_CORRUPT      A record is damaged; the error has field, record, file and offset.
 *                             The dataset stays usable; the bytes at @p out are undefined.
 * @retval LX_ERR_UNSUPPORTED  This library cannot decompress a record.
 * @retval LX_ERR_ARGUMENT     The field does not exist or is of #LX_BYTES, @p stride is too small,
 *                             or a pointer is NULL.
 * @retval LX_ERR_IO           A system call failed; the error has its errno.
 * @retval LX_ERR_NOMEM        Out of memory.
 * @return Otherwise as lx_dataset_refresh(), if @p dataset is live.
 */
LX_API lx_status lx_dataset_gather(lx_dataset *dataset, size_t field, const uint64_t *indices,
                                   size_t count, void *out, size_t stride, lx_error *error);

/**
 * Returns the sizes of records of any field, as offsets for lx_dataset_gather_bytes().
 *
 * @param[in]  dataset  The dataset.
 * @param[in]  field    The position of a field in the schema.
 * @param[in]  indices  @p count indices of records, in any order; repeats are allowed.
 * @param[in]  count    The number of records.
 * @param[out] offsets  Receives @p count + 1 numbers from 0: record i has the bytes
 *                      [offsets[i], offsets[i + 1]) of a buffer that holds all of the records.
 * @param[out] present  Receives @p count bytes: 0 if the record has no value, or a damaged one with
 *                      #LX_DAMAGE_ZEROS, else 1. May be NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @return As lx_dataset_gather(), for any field.
 */
LX_API lx_status lx_dataset_get_sizes(lx_dataset *dataset, size_t field, const uint64_t *indices,
                                      size_t count, uint64_t *offsets, uint8_t *present,
                                      lx_error *error);

/**
 * Copies records of any field, one after another, to the offsets of lx_dataset_get_sizes().
 *
 * @param[in]  dataset  The dataset.
 * @param[in]  field    The position of a field in the schema.
 * @param[in]  indices  The same indices as for lx_dataset_get_sizes().
 * @param[in]  count    The number of records.
 * @param[in]  offsets  The offsets of lx_dataset_get_sizes().
 * @param[out] out      Receives the records: at least offsets[count] bytes; may be NULL if that is
 *                      0.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_MISMATCH  The size of a record differs from @p offsets: the dataset was refreshed
 *                          between the two calls, or is live. Measure again, or use
 *                          lx_dataset_pin().
 * @return Otherwise as lx_dataset_get_sizes().
 */
LX_API lx_status lx_dataset_gather_bytes(lx_dataset *dataset, size_t field, const uint64_t *indices,
                                         size_t count, const uint64_t *offsets, void *out,
                                         lx_error *error);

/** @} */

/**
 * @defgroup lx_dataset_refresh Follow the commits of a writer
 *
 * A handle reads one snapshot until it is refreshed. A live handle (lx_dataset_options_set_live())
 * refreshes itself in each call, so that the calls for several fields of the same records, or for
 * their sizes and then for their bytes, may read different snapshots. lx_dataset_pin() holds one,
 * cheaply enough for each batch:
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
 * A loader over a live dataset pins it for each batch.
 *
 * A commit is visible before it is durable. A commit that was not made durable can be lost without
 * a restart of the machine, if a disk fails. The newest commit is then an older one, and a refresh
 * goes back to it. lx_dataset_options_set_durable() hides such commits.
 * @see lx_dataset, lx_dataset_options, lx_source_new_dataset(), zrecord(5)
 * @{
 */

/**
 * Refreshes a handle to the newest commit. The cost depends on what is new; without a new commit it
 * is three system calls. After a failure the handle reads the previous snapshot.
 *
 * @param[in]  dataset  The dataset.
 * @param[out] changed  Receives whether the snapshot is another one; may be NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK         The handle reads the newest commit.
 * @retval LX_ERR_STATE  A field of the handle was dropped (the error names it), or another dataset
 *                       is at its path: close the handle and open it again.
 * @return Otherwise as lx_dataset_open().
 */
LX_API lx_status lx_dataset_refresh(lx_dataset *dataset, bool *changed, lx_error *error);

/**
 * Opens another handle on the snapshot that @p dataset reads; on the newest one if that is live.
 * The new handle stays there until it is refreshed. It shares all that is large, and costs less
 * than a microsecond.
 *
 * @param[in]  dataset  The dataset.
 * @param[out] pinned   Receives the handle, to be closed with lx_dataset_close(), before or after
 *                      @p dataset. It has the same options, but is not live.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The handle is open.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise as lx_dataset_refresh(), if @p dataset is live.
 */
LX_API lx_status lx_dataset_pin(lx_dataset *dataset, lx_dataset **pinned, lx_error *error);

/**
 * Waits until the dataset has at least @p length records, and refreshes the handle to the newest
 * commit. It looks every millisecond at first, and every 20 milliseconds later.
 *
 * @param[in]  dataset      The dataset.
 * @param[in]  length       The number of records to wait for.
 * @param[in]  nanoseconds  The longest time to wait; 0 looks once, #LX_NONE waits without a limit.
 * @param[out] error        Receives the first failure; may be NULL.
 *
 * @retval LX_OK           There are as many records.
 * @retval LX_ERR_TIMEOUT  There are fewer. This is not a failure: @p error is unchanged.
 * @return Otherwise as lx_dataset_refresh().
 */
LX_API lx_status lx_dataset_wait(lx_dataset *dataset, uint64_t length, uint64_t nanoseconds,
                                 lx_error *error);

/** @} */

/**
 * @defgroup lx_dataset_probe Find damaged records
 *
 * A batch in which damaged values are zeros, and the records that have one:
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
 * Finds the records that have a damaged value. Whatever the options of the dataset, it checks the
 * entries and checksums of all requested values, and decompresses them. It counts nothing in
 * lx_dataset_get_stats().
 *
 * @param[in]  dataset      The dataset.
 * @param[in]  fields       @p field_count positions in the schema; NULL for all fields.
 * @param[in]  field_count  The number of fields; ignored if @p fields is NULL.
 * @param[in]  indices      @p count indices of records, in any order; repeats are allowed.
 * @param[in]  count        The number of records.
 * @param[out] damaged      Receives @p count bytes: 1 if a value of the record is damaged, else 0.
 * @param[out] error        Receives the first failure; may be NULL. Damage is not a failure.
 *
 * @retval LX_OK            All records were checked.
 * @retval LX_ERR_RANGE     An index is not below the length; the error has it.
 * @retval LX_ERR_ARGUMENT  A field does not exist, or a pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise as lx_dataset_refresh(), if @p dataset is live.
 */
LX_API lx_status lx_dataset_probe(lx_dataset *dataset, const size_t *fields, size_t field_count,
                                  const uint64_t *indices, size_t count, uint8_t *damaged,
                                  lx_error *error);

/** The statistics of a handle. */
typedef struct lx_dataset_stats {
    uint64_t damaged;     /**< Damaged values that made a call fail or were read as missing. A value
                               that is measured and then gathered counts once. */
    uint64_t reserved[7]; /**< Zero. */
} lx_dataset_stats;

/** Copies the statistics of a handle and its pinned handles since it was opened. */
LX_API void lx_dataset_get_stats(lx_dataset *dataset, lx_dataset_stats *stats);

/** @} */

/**
 * @defgroup lx_view Read records without a copy
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

/** A value in the dataset's memory; read-only. */
typedef struct lx_slice {
    const void *data; /**< The bytes; NULL if the value is missing, or damaged with
                           #LX_DAMAGE_ZEROS. */
    uint64_t size;    /**< The number of bytes. */
} lx_slice;

/** Keeps slices readable, also after the dataset is refreshed or closed. */
typedef struct lx_view lx_view;

/**
 * Returns slices of the stored values of one field, without a copy; with #LX_ACCESS_PREAD, of
 * copies that the view holds. Slices are aligned as lx_field::align says, except those of values of
 * up to 8 bytes, which lie in tables.
 *
 * @param[in]  dataset  The dataset.
 * @param[in]  field    The position of a field in the schema.
 * @param[in]  indices  @p count indices of records, in any order; repeats are allowed.
 * @param[in]  count    The number of records.
 * @param[out] slices   Receives a slice for each record.
 * @param[out] view     Receives the view, to be freed with lx_view_free(); the slices are
 *                      readable until then, whatever a writer does.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_UNSUPPORTED  A value is compressed: gather it instead.
 * @return Otherwise as lx_dataset_get_sizes().
 */
LX_API lx_status lx_dataset_view(lx_dataset *dataset, size_t field, const uint64_t *indices,
                                 size_t count, lx_slice *slices, lx_view **view, lx_error *error);

/** Frees a view; any thread may. NULL is allowed. */
LX_API void lx_view_free(lx_view *view);

/** @} */

LX_END_DECLS

#endif
