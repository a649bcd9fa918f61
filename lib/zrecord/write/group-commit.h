/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Commits that several callers share, and those of the sync timer.
 */
#ifndef LX_ZRECORD_GROUP_COMMIT_H
#define LX_ZRECORD_GROUP_COMMIT_H

#include "zrecord/write/writer.h"

/** Commits all calls up to @p target, in this thread or by waiting for another thread's commit. May
 * release the mutex meanwhile. */
lx_status lx__writer_commit(lx_writer *writer, uint64_t target, unsigned how, lx_error *error);

/** Syncs what is committed. Called by the timer of periodic durability; false: the writer is
 * busy. */
bool lx__writer_sync_by_timer(lx__sync_timer *timer);

/** Starts the timer of periodic durability if frames are not synced yet. */
void lx__writer_start_timer(lx_writer *writer);

/** Does the sync that the timer could not do because the writer was busy. May release the mutex
 * meanwhile. */
lx_status lx__writer_sync_due(lx_writer *writer, lx_error *error);

/** Commits the submitted calls alone, before others are undone or added. */
lx_status lx__writer_commit_submitted(lx_writer *writer, lx_error *error);

#endif
