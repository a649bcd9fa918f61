/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief One commit: a frame of the log, and the syncs before and after it.
 */
#ifndef LX_ZRECORD_COMMIT_H
#define LX_ZRECORD_COMMIT_H

#include "zrecord/write/writer.h"

/** Flags of a commit. */
enum {
    LX__COMMIT_SYNCED = 1, /**< Durable, regardless of the writer's durability. */
    LX__COMMIT_ROWS = 2,   /**< All rows are in the tables afterwards. */
    LX__COMMIT_ALONE = 4,  /**< Keeps the mutex locked throughout. */
    LX__COMMIT_REPEAT = 8, /**< No changes: a synced frame that repeats the last one. */
    /** Commits only submitted calls, so that a rollback can undo the later ones. Without this flag,
     * all calls so far are committed. */
    LX__COMMIT_SUBMITTED = 16
};

/** Commits calls up to @p target with one frame, if they change anything. The writer records a
 * failure. Releases the mutex during syncs, unless LX__COMMIT_ALONE is set: the caller has begun a
 * commit on it. */
lx_status lx__writer_commit_frame(lx_writer *writer, uint64_t target, unsigned how,
                                  lx_error *error);

/** Writes a frame that repeats the last one, at the end of a writer that has synced everything.
 * Damage of the frame before it is then reported, and not taken for a torn end (8.9). It names
 * nothing that is not durable, so it is not synced, and losing it is harmless. The writer must
 * write nothing after it, because the order of the two would be undefined. */
void lx__writer_close_log(lx_writer *writer);

#endif
