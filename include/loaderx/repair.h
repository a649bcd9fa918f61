/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Repair and recovery of damaged datasets.
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
    LX_REPAIR_DELETE = 1   /**< A record with a damaged value is deleted: the last record takes its
                                place, as with lx_writer_delete(). */
} lx_repair_policy;

/** What a repair does about a finding. */
typedef enum lx_repair_action {
    LX_REPAIR_ACTION_NONE = 0,    /**< Nothing: it cannot be repaired. */
    LX_REPAIR_ACTION_MISSING = 1, /**< The value becomes missing. */
    LX_REPAIR_ACTION_DELETE = 2,  /**< Its record is deleted. */
    LX_REPAIR_ACTION_DROP = 3,    /**< The dataset no longer refers to bytes that are not there: of
                                       a chunk, of a table, of the WAL, or those that a seal
                                       demands. */
    LX_REPAIR_ACTION_CUT = 4,     /**< The WAL is cut at its first invalid frame, and what follows
                                       is kept in a file next to the dataset. */
    LX_REPAIR_ACTION_RESTAMP = 5  /**< The checksum of meta.json is corrected: nothing else is wrong
                                       in it. */
} lx_repair_action;

/** A damage that lx_dataset_repair() or lx_dataset_recover() has found. */
typedef struct lx_finding {
    lx_repair_action action; /**< What is done about it, or would be. */
    lx_error damage;         /**< What is damaged, and where. Its status is #LX_ERR_CORRUPT. */
    uint64_t reserved[4];    /**< Zero. */
} lx_finding;

/**
 * Receives each finding, on the thread that made the call.
 *
 * @param finding  The finding; valid during the call.
 * @param user     As given to lx_repair_options_set_found().
 * @param error    That of the call: the function may describe there why it ends the call. May be
 *                 NULL.
 * @return #LX_OK to continue. Any other status ends the call with that status. A truncation of the
 *         WAL and a restamp that were reported before are done.
 */
typedef lx_status (*lx_finding_function)(const lx_finding *finding, void *user, lx_error *error);

/**
 * The options of a repair.
 *
 * @par Thread safety
 * One thread at a time.
 */
typedef struct lx_repair_options lx_repair_options;

/**
 * Returns options with the defaults: damaged values become missing, nothing is changed in place,
 * and nothing is called. Returns NULL when out of memory.
 */
LX_API lx_repair_options *lx_repair_options_new(void);

/** Frees options. NULL is allowed. */
LX_API void lx_repair_options_free(lx_repair_options *options);

/**
 * Sets how damaged values are treated.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p policy is invalid, or @p options is NULL.
 */
LX_API lx_status lx_repair_options_set_policy(lx_repair_options *options, lx_repair_policy policy,
                                              lx_error *error);

/**
 * Sets whether lx_dataset_repair() changes the dataset. Without it, the default, it only reports
 * what it would do. lx_dataset_recover() ignores it: it never changes the damaged dataset.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_repair_options_set_apply(lx_repair_options *options, bool apply,
                                             lx_error *error);

/**
 * Sets the function that receives each finding.
 *
 * @param[in]  options  The options.
 * @param[in]  found    The function; NULL for none.
 * @param[in]  user     Passed to it.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_repair_options_set_found(lx_repair_options *options, lx_finding_function found,
                                             void *user, lx_error *error);

/**
 * Sets the function that receives the number of records that are checked, and of all.
 *
 * @param[in]  options   The options.
 * @param[in]  progress  The function; NULL for none.
 * @param[in]  user      Passed to it.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_repair_options_set_progress(lx_repair_options *options,
                                                lx_progress_function progress, void *user,
                                                lx_error *error);

/** What lx_dataset_repair() or lx_dataset_recover() did, or would do. */
typedef struct lx_repair_result {
    uint64_t records;   /**< Records that were checked. */
    uint64_t values;    /**< Values that were checked. */
    uint64_t damages;   /**< Damages that were found. */
    uint64_t missing;   /**< Values that become missing. All values of lost rows count, also
                                those that were missing before or that the WAL has. */
    uint64_t deleted;   /**< Records that are deleted, or that are after the end of all tables. */
    uint64_t cut_bytes; /**< Bytes of the WAL after its first invalid frame. */
    uint64_t copied_bytes; /**< Bytes of chunks that lx_dataset_recover() copied, since the file
                                system could not link them. */
    bool changed;          /**< Whether the dataset was changed, or the new one was made. */
    uint64_t reserved[8];  /**< Zero. */
} lx_repair_result;

/**
 * Repairs a damaged dataset in place, or reports what it would do. It finds what
 * lx_dataset_verify() finds, and
 *
 * - makes damaged values missing, or deletes their records;
 * - no longer refers to bytes that a chunk file lacks, and writes no more payloads to that chunk;
 * - removes a seal that the files contradict, and any seal before it changes anything else;
 * - cuts a WAL at its first invalid frame. All commits before that are kept. The rest goes to the
 *   file DIR.log-tail-N next to the dataset, with the first unused number. The finding names
 *   it. Chunk files that only lost commits name are removed by the next writer;
 * - restamps meta.json if nothing but its checksum is wrong. Other damages are found after that.
 *
 * Anything else, such as a short table or a damaged log of a sealed dataset, is an error, which
 * names lx_dataset_recover(). So is a symbolic link in the place of a file.
 *
 * The changes of values are one commit. If the call is interrupted, by a kill or by a full disk, it
 * has done some of these steps; call it again. Readers continue with the snapshot that they have.
 *
 * @param[in]  path     The dataset's directory.
 * @param[in]  options  The options; NULL for the defaults.
 * @param[out] result   Receives what was done, or would be; may be NULL.
 * @param[out] error    Receives the first failure, or the first damage; may be NULL.
 *
 * @retval LX_OK               Nothing is damaged, or all of it is repaired.
 * @retval LX_ERR_CORRUPT      Something is damaged and was not repaired: the options do not say so,
 *                             or it cannot be repaired in place.
 * @retval LX_ERR_NOT_FOUND    There is no dataset at @p path.
 * @retval LX_ERR_BUSY         It is to be repaired, and a writer has it open, or changed it
 *                             meanwhile.
 * @retval LX_ERR_UNSUPPORTED  Its format, or a feature that it uses, is newer than this library; or
 *                             it is to be repaired, and is on a network file system.
 * @retval LX_ERR_LIMIT        It has more than #LX_MAX_FIELDS fields, or no more numbers for
 *                             generations.
 * @retval LX_ERR_ARGUMENT     @p path is NULL.
 * @retval LX_ERR_NOMEM        Out of memory.
 * @retval LX_ERR_IO           A system call failed; the error has its errno. A value that the disk
 *                             cannot read (EIO) is damaged.
 */
LX_API lx_status lx_dataset_repair(const char *path, const lx_repair_options *options,
                                   lx_repair_result *result, lx_error *error);

/**
 * Recovers what can be read of a damaged dataset into a new directory. The damaged one is not
 * changed, and no writer may have it open.
 *
 * The new dataset has the same uuid, new tables, and a new WAL. Chunk files are hard-linked, or
 * copied if the file system cannot link them, and take no more payloads. Remove the damaged
 * dataset, or never write to it again: both share those files. Damaged values become missing, or their
 * records are deleted, as the options say.
 *
 * Beyond what lx_dataset_repair() repairs, it accepts
 *
 * - tables that are short or absent: values of lost rows become missing, unless the WAL has them.
 *   If all tables lack rows, the new dataset ends where the longest one ends;
 * - a sealed dataset whose WAL is damaged or absent: meta.json and the tables have its state, and
 *   no commit is lost;
 * - a seal that the files contradict.
 *
 * Without a valid meta.json, or without a first valid frame of the WAL of a dataset that is not
 * sealed, nothing can be recovered: use a backup.
 *
 * It is made as INTO.recovering and renamed when it is complete. A call that is killed leaves that
 * directory, which the next call refuses to overwrite; after any other failure it is removed. If
 * only the sync after the rename fails, with #LX_ERR_IO, INTO is complete but a power loss may
 * take it.
 *
 * @param[in]  path     The dataset's directory.
 * @param[in]  into     The directory to create.
 * @param[in]  options  The options; NULL for the defaults.
 * @param[out] result   Receives what was done; may be NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The new dataset is complete and durable.
 * @retval LX_ERR_EXISTS    Something is at @p into, or at INTO.recovering.
 * @retval LX_ERR_CORRUPT   Nothing can be recovered; the error says why and what may help.
 * @retval LX_ERR_BUSY      A writer has the dataset open.
 * @retval LX_ERR_ARGUMENT  A path is NULL, or @p into lies among the files of a dataset.
 * @return Otherwise as lx_dataset_repair().
 */
LX_API lx_status lx_dataset_recover(const char *path, const char *into,
                                    const lx_repair_options *options, lx_repair_result *result,
                                    lx_error *error);

/** @} */

LX_END_DECLS

#endif
