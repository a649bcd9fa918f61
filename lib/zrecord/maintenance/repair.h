/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Repair in place, which also is the last step of a recovery into a new directory.
 */
#ifndef LX_ZRECORD_REPAIR_H
#define LX_ZRECORD_REPAIR_H

#include <loaderx/repair.h>

#include "zrecord/wal/replay.h"

struct lx_repair_options {
    lx_repair_policy policy;
    bool apply;
    lx_finding_function found;
    void *found_user;
    lx_progress_function progress;
    void *progress_user;
};

/** A repair, and its results so far. */
typedef struct lx__repair {
    const lx_repair_options *options;
    bool apply;
    lx_repair_result result;
    lx_error first;    /**< The first damage that stays. */
    const char *path;  /**< The directory that is repaired, */
    const char *shown; /**< and the path that findings show in its place. */
} lx__repair;

/** Returns a repair that has found nothing yet. @p options may be NULL. */
lx__repair lx__repair_of(const char *path, const lx_repair_options *options, bool apply);

/** Reports a finding to the caller's function. */
lx_status lx__repair_report(lx__repair *self, lx_repair_action action, const lx_error *damage,
                            lx_error *error);

/** Finds the damage at the path of @p self, and repairs it if @p self applies changes.
 * @retval LX_ERR_CORRUPT  The dataset cannot be repaired in place. Damage that is only reported is
 *                         not a failure here. */
lx_status lx__repair_run(lx__repair *self, lx_error *error);

/** Fails if a file of the dataset in @p directory, other than LOCK, is a symbolic link: readers do
 * not follow it, but its target is not lost. */
lx_status lx__repair_refuse_links(lx__file *directory, lx_error *error);

/** Opens a file for reading, and measures it. If it is absent or not a regular file, it is closed
 * and has 0 bytes. */
lx_status lx__repair_open(lx__file *file, const lx__file *directory, const char *name,
                          uint64_t *bytes, lx_error *error);

/**
 * Takes from the chunk items of @p state the bytes that the files in @p chunks lack, and the items
 * without any bytes. A shortened chunk gets as many records as make it full, so that no payload is
 * appended to it that a reader could take for a lost one.
 *
 * @param[in] chunk_records  The number of records that makes a chunk full.
 * @param[in] all            Whether all chunks become full.
 */
lx_status lx__repair_fit_chunks(lx__state *state, const lx__file *chunks, uint64_t chunk_records,
                                bool all, lx_error *error);

#endif
