/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A part of a verification: a stretch of records, or a file, checked on any thread.
 */
#ifndef LX_ZRECORD_VERIFY_JOB_H
#define LX_ZRECORD_VERIFY_JOB_H

#include <loaderx/upkeep.h>

#include "zrecord/read/checker.h"

/** Damages that a job keeps; then it comes back to have them told, and goes on. */
#define LX__FOUND_MAX 64
/** No file: the job is a stretch of records. */
#define LX__NO_FILE SIZE_MAX

/** A damage, and what its job had done when it was found. */
typedef struct lx__found {
    lx_error error;
    lx_verification sums;
} lx__found;

/** A job. Zeroed but for what is named first. */
typedef struct lx__verify_job {
    lx__checker checker; /**< Of the snapshot. */
    size_t file;         /**< Number of a file, or LX__NO_FILE. */
    uint64_t index, end; /**< The records that are left. */
    lx__found *found;    /**< NULL, or room for LX__FOUND_MAX; the caller frees it. */

    size_t field; /**< Of record @ref index, where it goes on. */
    size_t found_count;
    lx_verification sums; /**< Of all runs so far; without damages. */
    lx_error failure;     /**< Why it could not go on. */
} lx__verify_job;

/** How many files there are to check: dictionaries, of a sealed dataset tables, and then chunks. */
size_t lx__verify_files(const lx__snapshot *snapshot);

/**
 * Checks what is left, to the end or until #LX__FOUND_MAX damages are found; those of the last run
 * are forgotten. It is at its end where index is.
 * @return Of anything that is no damage, its status; the failure tells of it.
 */
lx_status lx__verify_run(lx__verify_job *job);

#endif
