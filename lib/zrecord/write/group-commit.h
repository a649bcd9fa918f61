/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Commits that several callers share, and those of the sync timer.
 */
#ifndef LX_ZRECORD_GROUP_COMMIT_H
#define LX_ZRECORD_GROUP_COMMIT_H

#include "zrecord/write/writer.h"

/** Commits everything up to call @p target, by this thread or by another that commits at this
 * time. The mutex may be released meanwhile. */
lx_status lx__writer_commit(lx_writer *writer, uint64_t target, unsigned how, lx_error *error);

/** Syncs, called by the timer of periodic durability. */
bool lx__writer_sync_by_timer(lx__sync_timer *timer);

/** Starts the timer of periodic durability if frames are not synced. */
void lx__writer_start_timer(lx_writer *writer);

/** Syncs if the timer found the writer busy when the time had come. The mutex may be released
 * meanwhile. */
lx_status lx__writer_sync_due(lx_writer *writer, lx_error *error);

/** Commits what was submitted, alone, before something else is undone or added. */
lx_status lx__writer_commit_submitted(lx_writer *writer, lx_error *error);

#endif
