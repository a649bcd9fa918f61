/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Verification of a snapshot: the one scanner for damage, of lx_dataset_verify() and of
 * lx_dataset_repair().
 */
#ifndef LX_ZRECORD_VERIFY_H
#define LX_ZRECORD_VERIFY_H

#include "zrecord/maintenance/verify-job.h"

/** The functions that receive what a verification finds, on the thread that called it. */
typedef struct lx__verify_watch {
    /** Receives each damage; may be NULL. Any status but LX_OK ends the verification. */
    lx_status (*found)(void *user, const lx__found *found);
    void *user;
    lx_progress_function progress; /**< May be NULL. */
    void *progress_user;
} lx__verify_watch;

/**
 * Verifies @p snapshot; the caller keeps its reference.
 *
 * @param[in]  sealed    Whether the files are compared with the seal in meta.json.
 * @param[in]  executor  Whose readers do it; NULL, or one of another process: those of an executor
 *                       that is opened for the call.
 * @param[out] result    Receives what was done, also after a failure.
 * @retval LX_ERR_CORRUPT  Something is damaged; the error has the first damage.
 */
lx_status lx__verify_snapshot(lx__snapshot *snapshot, bool sealed, lx_executor *executor,
                              const lx__verify_watch *watch, lx_verify_result *result,
                              lx_error *error);

#endif
