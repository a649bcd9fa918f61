/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Repairing damaged datasets, and recovering their data.
 */
#ifndef LOADERX_REPAIR_H
#define LOADERX_REPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/progress.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_dataset_repair Repair or recover a damaged dataset
 *
 * @code
 * lx_repair_options *options = lx_repair_options_new();
 * lx_repair_options_set_found(options, print_finding, NULL, NULL);
 * if (lx_dataset_repair("fashion", options, NULL, &error) == LX_ERR_CORRUPT)
 *     lx_dataset_recover("fashion", "recovered", options, NULL, &error);
 * lx_repair_options_free(options);
 * @endcode
 * @see loaderx-repair(1), lx_dataset_backup(), lx_dataset_verify(), lx_error, lx_writer, zrecord(5)
 * @{
 */

/** How to treat damaged values. */
typedef enum lx_repair_policy {
    LX_REPAIR_MISSING = 0, /**< A damaged value becomes missing. The default. */
    LX_REPAIR_DELETE = 1   /**< A record with a damaged value is deleted. The last record takes its
                                place, as with lx_writer_delete(). */
} lx_repair_policy;

/** What a repair does about a finding. */
typedef enum lx_repair_action {
    LX_REPAIR_ACTION_NONE = 0,    /**< Nothing: the damage cannot be repaired, or it is a value that
                                       the disk failed to return. */
    LX_REPAIR_ACTION_MISSING = 1, /**< The value is marked as missing. */
    LX_REPAIR_ACTION_DELETE = 2,  /**< The record of the value is deleted. */
    LX_REPAIR_ACTION_DROP = 3,    /**< References to bytes that do not exist are dropped. The bytes
                                       are those of a chunk, a table or the WAL, or bytes that a
                                       seal requires. */
    LX_REPAIR_ACTION_CUT = 4,     /**< The WAL is cut off at its first invalid frame, and the rest
                                       is kept in a file next to the dataset. */
    LX_REPAIR_ACTION_RESTAMP = 5  /**< The checksum of meta.json is corrected, because nothing else
                                       in the file is wrong. */
} lx_repair_action;

/** A damaged item that lx_dataset_repair() or lx_dataset_recover() found. */
typedef struct lx_finding {
    lx_repair_action action; /**< What is done, or would be done, about the damage. */
    lx_error damage;         /**< What is damaged, and where. The status is #LX_ERR_CORRUPT. */
    uint64_t reserved[4];    /**< Reserved; zero. */
} lx_finding;

/**
 * Receives each finding, on the thread that made the call.
 *
 * @param finding  The finding; valid only during the call.
 * @param user     The pointer that was passed to lx_repair_options_set_found().
 * @param error    The error of the call; a function that ends the call may use it to describe the
 *                 reason. May be NULL.
 * @return #LX_OK to continue. Any other status ends the call, which returns that status. If an
 *         earlier finding reported that the WAL is cut off or that meta.json is restamped, that
 *         step has already been carried out.
 */
typedef lx_status (*lx_finding_function)(const lx_finding *finding, void *user, lx_error *error);

/**
 * The options of a repair.
 *
 * @par Thread safety
 * Only one thread at a time may use the options.
 */
typedef struct lx_repair_options lx_repair_options;

/**
 * Returns new options with the defaults: damaged values become missing, nothing is changed in
 * place, unreadable values are kept, and no callbacks are set. Returns NULL if out of memory.
 */
LX_API lx_repair_options *lx_repair_options_new(void);

/** Frees the options. NULL is allowed. */
LX_API void lx_repair_options_free(lx_repair_options *options);

/**
 * Sets how to treat damaged values.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p policy is invalid, or @p options is NULL.
 */
LX_API lx_status lx_repair_options_set_policy(lx_repair_options *options, lx_repair_policy policy,
                                              lx_error *error);

/**
 * Sets whether lx_dataset_repair() changes the dataset. With false, the default, the function only
 * reports what it would do. lx_dataset_recover() ignores this option: it never changes the damaged
 * dataset.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_repair_options_set_apply(lx_repair_options *options, bool apply,
                                             lx_error *error);

/**
 * Sets whether lx_dataset_repair() gives up values that the disk fails to return (EIO), also when
 * they are read again. With false, the default, it reports them with #LX_REPAIR_ACTION_NONE and, if
 * it is to change the dataset, fails with #LX_ERR_IO before it changes any value, because the disk
 * may return them later. lx_dataset_recover() ignores this option: the damaged dataset keeps them.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_repair_options_set_lose_unreadable(lx_repair_options *options, bool lose,
                                                       lx_error *error);

/**
 * Sets the function that receives each finding.
 *
 * @param[in]  options  The options.
 * @param[in]  found    The function; NULL means none.
 * @param[in]  user     The pointer to pass to the function.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_repair_options_set_found(lx_repair_options *options, lx_finding_function found,
                                             void *user, lx_error *error);

/**
 * Sets the progress callback, which receives the number of records checked so far and the total.
 *
 * @param[in]  options   The options.
 * @param[in]  progress  The function; NULL means none.
 * @param[in]  user      The pointer to pass to the function.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_repair_options_set_progress(lx_repair_options *options,
                                                lx_progress_function progress, void *user,
                                                lx_error *error);

/** What lx_dataset_repair() or lx_dataset_recover() did, or would do. */
typedef struct lx_repair_result {
    uint64_t records;   /**< The number of records that were checked. */
    uint64_t values;    /**< The number of values that were checked. */
    uint64_t damages;   /**< The number of damaged items that were found. */
    uint64_t missing;   /**< The number of values that become missing. All values of lost rows
                             count, including those that were already missing and those that the WAL
                             contains. */
    uint64_t deleted;   /**< The number of records that are deleted, or that are beyond the end of
                             all tables. */
    uint64_t cut_bytes; /**< The number of bytes cut from the WAL, counted from the end of its last
                             valid frame to its last nonzero byte. */
    uint64_t copied_bytes; /**< The number of chunk bytes that lx_dataset_recover() copied because
                                the file system could not create hard links. */
    bool changed;          /**< Whether the dataset was changed, or the new dataset was created. */
    uint64_t reserved[8];  /**< Reserved; zero. */
} lx_repair_result;

/**
 * Repairs a damaged dataset in place, or reports what it would do. The call finds the same damage
 * as lx_dataset_verify(), and
 *
 * - makes damaged values missing, or deletes their records;
 * - removes references to bytes that a chunk file lacks, and ensures that the chunk gets no more
 *   payloads;
 * - removes a seal that does not match the files, and removes any seal before making other changes;
 * - cuts off the WAL at its first invalid frame. All commits before that point are kept. The rest
 *   is moved to the file DIR.log-tail-N next to the dataset, where N is the first unused number;
 *   the finding names the file. The next writer removes chunk files that only the lost commits
 *   refer to;
 * - corrects the checksum of meta.json if nothing else in the file is wrong. The call then looks
 *   for other damage.
 *
 * Any other damage, such as a table that is too short or a damaged WAL in a sealed dataset, causes
 * an error, and the message suggests lx_dataset_recover(). A symbolic link in place of a file also
 * causes an error.
 *
 * All changes to values form one commit. If the call is interrupted, for example because the
 * process is killed or the disk is full, some of these steps may already have been carried out:
 * call the function again to complete the repair. Readers keep their snapshots.
 *
 * @param[in]  path     The dataset's directory.
 * @param[in]  options  The options; NULL for the defaults.
 * @param[out] result   Receives what was done, or would be done; may be NULL.
 * @param[out] error    Receives the first failure, or the first damaged item; may be NULL.
 *
 * @retval LX_OK               Nothing is damaged, or all damage was repaired.
 * @retval LX_ERR_CORRUPT      Something is damaged and was not repaired, because the options do not
 *                             allow it or because it cannot be repaired in place.
 * @retval LX_ERR_NOT_FOUND    There is no dataset at @p path.
 * @retval LX_ERR_BUSY         The options allow changes, and a writer has the dataset open or
 *                             changed it during the call.
 * @retval LX_ERR_UNSUPPORTED  The format, or a feature that the dataset uses, is newer than this
 *                             library; or the options allow changes, and the dataset is on a
 *                             network file system, or a value is damaged in a dataset that was
 *                             joined from parts: lx_dataset_recover() makes one that can change.
 * @retval LX_ERR_LIMIT        The dataset has more than #LX_MAX_FIELDS fields, or no generation
 *                             number is left.
 * @retval LX_ERR_ARGUMENT     @p path is NULL.
 * @retval LX_ERR_NOMEM        Out of memory.
 * @retval LX_ERR_IO           A system call failed; the error reports its errno. If the options
 *                             allow changes, also if the disk failed to return a value (EIO),
 *                             unless lx_repair_options_set_lose_unreadable() gives it up.
 */
LX_API lx_status lx_dataset_repair(const char *path, const lx_repair_options *options,
                                   lx_repair_result *result, lx_error *error);

/**
 * Recovers all readable data of a damaged dataset into a new directory. The damaged dataset is not
 * changed, and must not be open in a writer.
 *
 * The new dataset has the same UUID, new tables and a new WAL. Chunk files are hard-linked, or
 * copied if the file system cannot link them, and no more payloads are added to them. Because both
 * datasets share the linked files, remove the damaged dataset, or never write to it again. Damaged
 * values become missing, or their records are deleted, as the options specify.
 *
 * In addition to the damage that lx_dataset_repair() can repair, the call accepts
 *
 * - tables that are too short or missing: values of lost rows become missing, unless the WAL
 *   contains them. If all tables lack rows, the new dataset ends where the longest table ends;
 * - a sealed dataset whose WAL is damaged or missing: meta.json and the tables contain its whole
 *   state, so no commit is lost;
 * - a seal that does not match the files.
 *
 * Nothing can be recovered if meta.json is invalid, or if the dataset is not sealed and the first
 * frame of its WAL is invalid: use a backup.
 *
 * The new dataset is created as INTO.recovering, and renamed when it is complete. If the process is
 * killed, that directory remains, and later calls refuse to overwrite it. After any other failure,
 * the call that created it removes it. If only the sync after the rename fails, the call returns
 * #LX_ERR_IO; INTO is then complete, but may be lost in a power loss.
 *
 * @param[in]  path     The dataset's directory.
 * @param[in]  into     The directory to create.
 * @param[in]  options  The options; NULL for the defaults.
 * @param[out] result   Receives what was done; may be NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The new dataset is complete and durable.
 * @retval LX_ERR_EXISTS    @p into or INTO.recovering already exists.
 * @retval LX_ERR_CORRUPT   Nothing can be recovered; the error says why, and what may help.
 * @retval LX_ERR_BUSY      A writer has the dataset open.
 * @retval LX_ERR_ARGUMENT  A path is NULL, or @p into is inside the directory of a dataset.
 * @return Otherwise, any status that lx_dataset_repair() returns.
 */
LX_API lx_status lx_dataset_recover(const char *path, const char *into,
                                    const lx_repair_options *options, lx_repair_result *result,
                                    lx_error *error);

/** @} */

LX_END_DECLS

#endif
