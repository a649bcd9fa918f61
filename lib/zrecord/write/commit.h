/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A commit: one frame of the log, and the syncs before and after it.
 */
#ifndef LX_ZRECORD_COMMIT_H
#define LX_ZRECORD_COMMIT_H

#include "zrecord/write/writer.h"

/** Flags of a commit. */
enum {
    LX__COMMIT_SYNCED = 1, /**< Make the commit durable, regardless of the writer's durability. */
    LX__COMMIT_ROWS = 2,   /**< Write all rows to the tables. */
    LX__COMMIT_ALONE = 4,  /**< Keep the mutex locked throughout. */
    LX__COMMIT_REPEAT = 8, /**< Commit no changes: write a synced frame that repeats the last
                                frame. */
    /** Commit only submitted calls, so that a rollback can undo the later calls. Without this flag,
     * all calls so far are committed. */
    LX__COMMIT_SUBMITTED = 16
};

/** Commits the calls up to @p target with one frame, if they change anything. A failure is recorded
 * in the writer. Unless LX__COMMIT_ALONE is set, the caller must have called
 * lx__write_mutex_begin_commit(), and the mutex is released during syncs. */
lx_status lx__writer_commit_frame(lx_writer *writer, uint64_t target, unsigned how,
                                  lx_error *error);

/** When a writer that has synced everything is closed, writes a frame that repeats the last frame.
 * If the last frame is damaged later, the damage will then be reported instead of being mistaken
 * for a torn end (section 8.9 of the format). The new frame refers only to durable data, so it is
 * not synced, and losing it is harmless. The writer must write nothing else after that, because it
 * would be undefined whether the new frame or a later write reaches the disk first. */
void lx__writer_close_log(lx_writer *writer);

#endif
