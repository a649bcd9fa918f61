/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Repair in place, which is also the last step of a recovery into a new directory.
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
    bool lose_unreadable;
};

/** A repair and its results so far. */
typedef struct lx__repair {
    const lx_repair_options *options;
    bool apply;
    bool loses_unreadable; /**< A value that the disk fails to return is given up. */
    lx_repair_result result;
    lx_error first;    /**< The first finding that is not repaired. */
    const char *path;  /**< The directory to repair. */
    const char *shown; /**< The path that findings show instead of @ref path. */
} lx__repair;

/** Returns a repair that has not found anything yet. @p options may be NULL. */
lx__repair lx__repair_of(const char *path, const lx_repair_options *options, bool apply);

/** Reports a finding to the caller's function. */
lx_status lx__repair_report(lx__repair *self, lx_repair_action action, const lx_error *damage,
                            lx_error *error);

/** Finds the damage at the path of @p self and, if @p self is to apply changes, repairs it.
 * @retval LX_ERR_CORRUPT  The dataset cannot be repaired in place. Damage that is merely reported
 *                         does not count as a failure here. */
lx_status lx__repair_run(lx__repair *self, lx_error *error);

/** Fails if the file @p name in @p directory is a symbolic link, unless it is LOCK: readers do not
 * follow the link, but the data in its target is not lost. */
lx_status lx__repair_refuse_link(const lx__file *directory, const char *name, lx_error *error);

/** The same, for all files of the dataset in @p directory but those in parts. */
lx_status lx__repair_refuse_links(lx__file *directory, lx_error *error);

/** Opens a file for reading and determines its size. If the file is missing or not a regular file,
 * sets @p file to a closed file and @p bytes to 0. */
lx_status lx__repair_open(lx__file *file, const lx__file *directory, const char *name,
                          uint64_t *bytes, lx_error *error);

/**
 * Trims the chunk items of @p state to the bytes that the files in @p chunks actually contain, and
 * removes items with no bytes left. The record count of a trimmed chunk is raised until the chunk
 * is full, so that no payload is appended that a reader could mistake for a lost payload.
 *
 * @param[in] chunk_records  The number of records at which a chunk is full.
 * @param[in] all            Whether to mark all chunks as full.
 */
lx_status lx__repair_fit_chunks(lx__state *state, const lx__file *chunks, uint64_t chunk_records,
                                bool all, lx_error *error);

#endif
