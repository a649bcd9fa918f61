/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reading of zrecord datasets, in any number of threads and processes.
 */
#ifndef LOADERX_DATASET_H
#define LOADERX_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/executor.h>
#include <loaderx/schema.h>

LX_BEGIN_DECLS

/** @defgroup lx_dataset_options How a dataset is opened for reading
 * @{ */

/** When the checksums of raw records are checked. Compressed ones are checked at every read. */
typedef enum lx_verify {
    LX_VERIFY_FIRST = 0,  /**< When a record is first touched through this handle. */
    LX_VERIFY_ALWAYS = 1, /**< At every read. */
    LX_VERIFY_NEVER = 2   /**< Never. That a value lies within committed bytes is checked all the
                               same. */
} lx_verify;

/** What is done about a value that cannot be read since it is damaged: its entry is wrong, its
 * checksum, its stream, or its file is gone. */
typedef enum lx_damage {
    LX_DAMAGE_RAISE = 0, /**< The call fails, with #LX_ERR_CORRUPT. */
    LX_DAMAGE_ZEROS = 1, /**< It reads as if it were missing: zeros, or nothing where records are of
                              any length. */
    LX_DAMAGE_SKIP = 2   /**< Of loaders alone: its record is left out of its batch. */
} lx_damage;

/**
 * How tables and chunks are read. Records and errors are the same in all modes, except where another
 * process truncates a file while it is read, or a disk cannot read a sector.
 */
typedef enum lx_placement {
    LX_PLACEMENT_AUTO = 0,   /**< MAPPED on local file systems, PREAD on network ones. */
    LX_PLACEMENT_MAPPED = 1, /**< By mmap(2), which is fastest, and shows records where they lie.
                                  Truncation of a file by another process, or a bad sector, raises
                                  SIGBUS, which ends the process. */
    LX_PLACEMENT_PREAD = 2   /**< By pread(2), and nothing is mapped. Truncation is
                                  #LX_ERR_CORRUPT, and a bad sector #LX_ERR_IO; the error has field,
                                  record, file and offset. A view has a copy of what it shows. */
} lx_placement;

/** How a dataset is opened for reading; defaults come from lx_dataset_options_new(). */
typedef struct lx_dataset_options lx_dataset_options;

/** The defaults: verification at first touch, the newest commit. NULL when out of memory. */
LX_API lx_dataset_options *lx_dataset_options_new(void);

/** Ends options; NULL is nothing. */
LX_API void lx_dataset_options_free(lx_dataset_options *options);

/** Sets when checksums are checked; #LX_ERR_ARGUMENT for a value that is none. */
LX_API lx_status lx_dataset_options_set_verify(lx_dataset_options *options, lx_verify verify,
                                               lx_error *error);

/**
 * Sets what is done about damaged values: #LX_DAMAGE_RAISE, the default, or #LX_DAMAGE_ZEROS. In
 * both cases lx_dataset_read_stats() counts them.
 *
 * With #LX_DAMAGE_ZEROS, lx_dataset_measure() reads what it measures, to know. Nothing else gets
 * slower. What set_verify leaves unverified is not known to be damaged, and read as it is.
 *
 * @retval LX_ERR_ARGUMENT  @p damage is none of the two.
 */
LX_API lx_status lx_dataset_options_set_damage(lx_dataset_options *options, lx_damage damage,
                                               lx_error *error);

/**
 * Sets how tables and chunks are read; #LX_PLACEMENT_AUTO is the default.
 *
 * Where files may be truncated by other processes, or disks fail, and that must not end the process,
 * use #LX_PLACEMENT_PREAD: the library installs no handler of SIGBUS.
 *
 * @retval LX_ERR_ARGUMENT  @p placement is invalid.
 */
LX_API lx_status lx_dataset_options_set_placement(lx_dataset_options *options,
                                                  lx_placement placement, lx_error *error);

/** With true, only commits that survive a power loss are seen. */
LX_API lx_status lx_dataset_options_set_durable(lx_dataset_options *options, bool durable,
                                                lx_error *error);

/**
 * With true, each call that reads (lx_dataset_gather(), lx_dataset_measure(), lx_dataset_view() and
 * the others, lx_dataset_get_length() too) goes on to the newest commit first, as
 * lx_dataset_refresh() does, and fails as that can. Where nothing is new that is three system calls.
 * Calls that follow each other may see different states: see lx_dataset_pin().
 */
LX_API lx_status lx_dataset_options_set_live(lx_dataset_options *options, bool live,
                                             lx_error *error);

/**
 * Has the files and mappings of a dataset given up on the gc queue of @p executor, and not on the
 * thread that lets go of the last view or batch that needs them. NULL, the default: on that thread.
 * Its readers work for lx_dataset_verify().
 *
 * The options keep a reference to @p executor. A dataset does not: once it is closed, what is left
 * is given up on the thread that lets go.
 */
LX_API lx_status lx_dataset_options_set_executor(lx_dataset_options *options,
                                                 lx_executor *executor, lx_error *error);

/** @} */

/** @defgroup lx_dataset Read a dataset
 * @{ */

/**
 * Reads a dataset: the state that was committed when it was opened, or last refreshed, or, with
 * lx_dataset_options_set_live(), the newest one.
 *
 * A handle shows the fields with which it was opened, as long as it lives. It goes on over whatever
 * is done to the dataset: commits, a seal, a new log or new tables, fields that are added (which
 * are not shown) or renamed (the old name stays shown). Only a field that is shown and is dropped
 * ends that: refreshes answer #LX_ERR_STATE, and the state that was read until then stays readable.
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
 * @retval LX_ERR_UNSUPPORTED  Its format or a feature of it is newer than this library; or it is on
 *                             a network file system and not sealed, the error names which.
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
 * Goes on to the newest commit. It costs what is new.
 *
 * A commit that was not made durable can be lost without a restart of the machine, if a disk fails;
 * then the newest commit may be an older one.
 *
 * @param[in]  dataset  A dataset.
 * @param[out] changed  Whether there was a newer one that changed something; may be NULL.
 * @param[out] error    Where a failure is told; may be NULL.
 * @retval LX_ERR_STATE  A field that the handle shows was dropped (the error names it), or another
 *                       dataset is in its place: close the handle, and open it again.
 * @return Else as lx_dataset_open(); after a failure the old state stays.
 */
LX_API lx_status lx_dataset_refresh(lx_dataset *dataset, bool *changed, lx_error *error);

/**
 * Opens another handle on the state that @p dataset reads, on the newest one if that is live. The
 * new handle stays there until it is refreshed, so that calls for several fields, or for lengths
 * and then for bytes, read one state. It shares all that is large, and costs less than a
 * microsecond.
 *
 * @param[in]  dataset  A dataset.
 * @param[out] pinned   To be closed with lx_dataset_close(), before or after @p dataset. It has the
 *                      options of that, but is not live.
 * @param[out] error    Where a failure is told; may be NULL.
 * @return As lx_dataset_refresh() where @p dataset is live; else it fails only for want of memory.
 */
LX_API lx_status lx_dataset_pin(lx_dataset *dataset, lx_dataset **pinned, lx_error *error);

/**
 * Waits until there are so many records, and goes on to the newest commit as lx_dataset_refresh()
 * does. It looks every millisecond first, and every 20 later.
 *
 * @param[in]  dataset      A dataset.
 * @param[in]  length       Records that there must be.
 * @param[in]  nanoseconds  The longest time to wait; 0 only looks, #LX_NONE waits for ever.
 * @param[out] error        Where a failure is told; may be NULL.
 * @retval LX_ERR_TIMEOUT  There are fewer. Nothing failed: @p error is left as it is.
 * @return Else as lx_dataset_refresh().
 */
LX_API lx_status lx_dataset_wait(lx_dataset *dataset, uint64_t length, uint64_t nanoseconds,
                                 lx_error *error);

/** Records in the state that is being read; in the newest one if the dataset is live, or in the
 * last that could be read. */
LX_API uint64_t lx_dataset_get_length(lx_dataset *dataset);

/** The fields; valid until the dataset is closed. */
LX_API const lx_schema *lx_dataset_get_schema(const lx_dataset *dataset);

/** Its directory, as it was opened; valid until the dataset is closed. */
LX_API const char *lx_dataset_get_path(const lx_dataset *dataset);

/**
 * Tells how tables and chunks are read.
 *
 * @param[in]  dataset  A dataset.
 * @param[out] network  The name of the network file system that it is on ("NFS"), a constant; NULL
 *                      where it is on a local one. May be NULL.
 * @return What was asked for; where that is #LX_PLACEMENT_AUTO, what it came to.
 */
LX_API lx_placement lx_dataset_get_placement(lx_dataset *dataset, const char **network);

/** What tells this dataset, and this state of it, from all others. */
typedef struct lx_identity {
    char uuid[40];       /**< The dataset, 36 characters and a NUL. */
    uint64_t generation; /**< Of the log. */
    uint64_t epoch;      /**< Frame of the log. */
    uint32_t crc;        /**< Of that frame. */
    uint32_t sealed;     /**< 1 if the dataset is sealed. */
} lx_identity;

/** Tells which state is being read; of a live dataset as lx_dataset_get_length(). */
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
 * @retval LX_ERR_RANGE        An index is not below the length; the error has it.
 * @retval LX_ERR_CORRUPT      A record is damaged; the error has field, record, file and offset.
 *                             The dataset stays usable; what is at @p out is not to be used.
 * @retval LX_ERR_UNSUPPORTED  A record is compressed in a way that this library cannot undo.
 * @retval LX_ERR_ARGUMENT     No such field, a field of bytes, or too small a stride.
 * @return Else as lx_dataset_refresh() where @p dataset is live.
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
 * @param[out] present  @p count bytes, 0 where the record has no value, or a damaged one with
 *                      #LX_DAMAGE_ZEROS; may be NULL.
 * @param[out] error    Where a failure is told; may be NULL.
 * @retval LX_ERR_UNSUPPORTED  A record is compressed in a way that this library cannot undo.
 * @return Else as lx_dataset_gather().
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
 *                          between the two calls, or is live. Measure again, or lx_dataset_pin().
 * @return Else as lx_dataset_gather().
 */
LX_API lx_status lx_dataset_gather_bytes(lx_dataset *dataset, size_t field,
                                         const uint64_t *indices, size_t count, void *out,
                                         const uint64_t *offsets, lx_error *error);

/** @} */

/** @defgroup lx_dataset_probe Find damaged records
 * @{ */

/**
 * Tells which records have a damaged value, whatever the dataset was opened with: checks entries
 * and checksums of all values that are asked about, and decompresses them.
 *
 * @param[in]  dataset      A dataset.
 * @param[in]  fields       Positions of @p field_count fields in the schema; NULL: all fields.
 * @param[in]  field_count  How many; of no meaning where @p fields is NULL.
 * @param[in]  indices      @p count indices of records, in any order, repeats allowed.
 * @param[in]  count        How many.
 * @param[out] damaged      @p count bytes: 1 where one of the values is damaged, else 0.
 * @param[out] error        Where a failure is told; may be NULL. Damage is none.
 *
 * @retval LX_OK            All were looked at.
 * @retval LX_ERR_RANGE     An index is not below the length; the error has it.
 * @retval LX_ERR_ARGUMENT  No such field.
 * @return Else as lx_dataset_refresh() where @p dataset is live.
 */
LX_API lx_status lx_dataset_probe(lx_dataset *dataset, const size_t *fields, size_t field_count,
                                  const uint64_t *indices, size_t count, uint8_t *damaged,
                                  lx_error *error);

/** What a handle has met. */
typedef struct lx_dataset_stats {
    uint64_t damaged;     /**< Damaged values: those that made a call fail, and those that were read
                               as missing. One that is measured and then gathered counts once. */
    uint64_t reserved[7]; /**< Zero. */
} lx_dataset_stats;

/** Copies what was counted since the dataset was opened, through the handle and its pins. */
LX_API void lx_dataset_read_stats(lx_dataset *dataset, lx_dataset_stats *stats);

/** @} */

/** @defgroup lx_view Read records without a copy
 * @{ */

/** A record in the dataset's own memory; read-only. */
typedef struct lx_slice {
    const void *data; /**< Its bytes; NULL if it is missing, or damaged with #LX_DAMAGE_ZEROS. */
    uint64_t size;    /**< How many. */
} lx_slice;

/** Keeps slices readable, also after the dataset is refreshed or closed. */
typedef struct lx_view lx_view;

/**
 * Shows records of one field where they lie, without a copy; under #LX_PLACEMENT_PREAD in memory of
 * the view's own.
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

/** @} */

LX_END_DECLS

#endif
