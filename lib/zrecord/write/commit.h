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
    LX__COMMIT_SYNCED = 1,    /**< Durable, whatever the writer's durability. */
    LX__COMMIT_ROWS = 2,      /**< With all rows in the tables. */
    LX__COMMIT_ALONE = 4,     /**< Holding the mutex throughout. */
    LX__COMMIT_REPEAT = 8,    /**< Nothing new: a synced frame that repeats the last one. */
    LX__COMMIT_SUBMITTED = 16 /**< No calls after those that were submitted, so that a rollback can
                                   undo them. Without it, all calls so far are committed. */
};

/**
 * Commits calls up to @p target by one frame, if they change anything. The writer keeps a failure.
 * Unless alone, the mutex is released during syncs: the caller has set writer.committing.
 */
lx_status lx__writer_commit_frame(lx_writer *writer, uint64_t target, unsigned how,
                                  lx_error *error);

/**
 * Writes a frame that repeats the last one, at the end of a writer that has synced everything: rot
 * of the frame before it is then reported, and not taken for a torn end (8.9). It names nothing
 * that is not durable, so it is not synced, and a loss of it is no failure. The writer must write
 * nothing after it, which would not be ordered after this frame.
 */
void lx__writer_close_log(lx_writer *writer);

#endif
