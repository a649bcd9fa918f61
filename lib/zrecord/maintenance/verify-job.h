/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A verification job: checks a range of records or a file, on any thread.
 *
 * Files are numbered in this order: the dictionary of each field; in a sealed dataset, both tables
 * of each field; and the chunks.
 */
#ifndef LX_ZRECORD_VERIFY_JOB_H
#define LX_ZRECORD_VERIFY_JOB_H

#include <loaderx/maintenance.h>

#include "zrecord/read/checker.h"

/** Maximum number of findings that a job keeps. A job with this many findings returns, and
 * continues once the findings have been reported. */
#define LX__FOUND_MAX 64
/** The file number of a job that checks a range of records. */
#define LX__NO_FILE SIZE_MAX

/** A finding, and the results of its job up to that point. */
typedef struct lx__found {
    lx_error error;
    bool unreadable; /**< The disk failed to return the value, twice. */
    size_t file;     /**< Number of the damaged file; LX__NO_FILE if a value is damaged. */
    size_t field;    /**< For a value, its field. */
    uint64_t index;  /**< For a value, its record. */
    lx_verify_result sums;
} lx__found;

/** A job. Set the members before @ref field and zero all others. */
typedef struct lx__verify_job {
    lx__checker checker;        /**< A checker for the snapshot. */
    const lx__state *committed; /**< The state with which to compare files. */
    bool sealed;                /**< Also compare files with the seal. */
    size_t file;                /**< Number of the file to check, or LX__NO_FILE. */
    uint64_t index, end;        /**< The records that are still to be checked. */
    lx__found *found;           /**< NULL, or an array with room for LX__FOUND_MAX findings; the
                                     caller frees it. */

    size_t field; /**< The field of record @ref index at which to continue. */
    size_t found_count;
    lx_verify_result sums; /**< Totals of all runs so far, not counting damage. */
    lx_error failure;      /**< Why the job could not continue. */
} lx__verify_job;

/** Returns the number of files to check. */
size_t lx__verify_files(const lx__snapshot *snapshot, bool sealed);

/** Returns the file number of the first chunk; the other chunks follow in the order of the
 * snapshot. */
size_t lx__verify_first_chunk(const lx__snapshot *snapshot, bool sealed);

/**
 * Continues a job to its end, or until there are #LX__FOUND_MAX findings; drops the findings of the
 * previous run. The job has ended once its index equals its end.
 * An intact value that is in a field of images, but is none, is a finding whose status is
 * LX_ERR_MISMATCH.
 * @return LX_OK, even if there is damage, or the status of another failure, which
 *         @ref lx__verify_job.failure describes. A value that the disk fails to return (EIO), also
 *         when it is read again, counts as damage.
 */
lx_status lx__verify_run(lx__verify_job *job);

#endif
