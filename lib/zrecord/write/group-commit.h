/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Group commit, in which several callers share a commit, and the syncs of the sync timer.
 */
#ifndef LX_ZRECORD_GROUP_COMMIT_H
#define LX_ZRECORD_GROUP_COMMIT_H

#include "zrecord/write/writer.h"

/** Commits all calls up to @p target, either on this thread or by waiting for another thread's
 * commit. May release the mutex in the meantime. */
lx_status lx__group_commit(lx_writer *writer, uint64_t target, unsigned how, lx_error *error);

/** Syncs what has been committed. Called by the timer of periodic durability; returns false if the
 * writer is busy. */
bool lx__writer_sync_by_timer(lx__sync_timer *timer);

/** Starts the timer of periodic durability if there are unsynced frames. */
void lx__writer_start_timer(lx_writer *writer);

/** Does a sync that is overdue because the writer was busy when the timer tried to do it. May
 * release the mutex in the meantime. */
lx_status lx__writer_sync_due(lx_writer *writer, lx_error *error);

/** Commits only the submitted calls, before other calls are undone or added. */
lx_status lx__writer_commit_submitted(lx_writer *writer, lx_error *error);

#endif
