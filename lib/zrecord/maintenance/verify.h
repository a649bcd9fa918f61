/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Verification of a snapshot: the damage scanner that both lx_dataset_verify() and
 * lx_dataset_repair() use.
 */
#ifndef LX_ZRECORD_VERIFY_H
#define LX_ZRECORD_VERIFY_H

#include "zrecord/maintenance/verify-job.h"

/** Functions that receive the results of a verification. They are called on the caller's thread. */
typedef struct lx__verify_watch {
    /** Called for each finding; may be NULL. Any status other than LX_OK ends the verification. */
    lx_status (*found)(void *user, const lx__found *found);
    void *user;
    lx_progress_function progress; /**< May be NULL. */
    void *progress_user;
} lx__verify_watch;

/**
 * Verifies @p snapshot; the caller keeps its reference.
 *
 * @param[in]  sealed    Whether to compare the files with the seal in meta.json.
 * @param[in]  executor  The executor whose readers to use. If it is NULL or belongs to another
 *                       process, an executor is opened for this call.
 * @param[out] result    Receives the results so far, even on failure.
 * @retval LX_ERR_CORRUPT  Something is damaged; @p error describes the first finding.
 */
lx_status lx__verify_snapshot(lx__snapshot *snapshot, bool sealed, lx_executor *executor,
                              const lx__verify_watch *watch, lx_verify_result *result,
                              lx_error *error);

#endif
