/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A scan of all records of a snapshot: the readers of an executor work on ranges of records
 * in parallel, and the caller takes the results in the order of the records.
 */
#ifndef LX_ZRECORD_SCAN_H
#define LX_ZRECORD_SCAN_H

#include <loaderx/progress.h>

#include "zrecord/read/dataset.h"

/** What a scan does. The caller sets all members. */
typedef struct lx__scan {
    lx__snapshot *snapshot; /**< Determines the ranges, whose values are prefetched. */
    uint64_t length;        /**< Number of records to scan, at most that of the snapshot. */
    lx_executor *executor;  /**< Its number of readers is used; NULL: the default. */

    /** Works on the records [@p first, @p end) on any thread. No other thread uses slot @p slot at
     * the same time; there are #LX__SCAN_SLOTS slots. */
    lx_status (*work)(void *user, size_t slot, uint64_t first, uint64_t end, lx_error *error);
    /** Takes the result of a slot on the caller's thread, in the order of the records. */
    void (*take)(void *user, size_t slot, uint64_t first, uint64_t end);
    void *user;

    lx_progress_function progress; /**< May be NULL. */
    void *progress_user;
} lx__scan;

/** Maximum number of ranges in work at a time. */
#define LX__SCAN_SLOTS 64

/**
 * Runs a scan.
 * @return LX_OK, the status of the first failed range, or what the progress callback returned.
 */
lx_status lx__scan_run(const lx__scan *scan, lx_error *error);

#endif
