/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The WAL, open for appending. A frame is written either completely or not at all.
 *
 * The writer's mutex guards the WAL, except in lx__wal_writer_sync(), which only one commit at a
 * time calls.
 */
#ifndef LX_ZRECORD_WAL_WRITER_H
#define LX_ZRECORD_WAL_WRITER_H

#include "base/file.h"
#include "zrecord/wal/replay.h"

typedef struct lx__wal_writer {
    lx__file file;
    lx__wal_identity identity;
    uint64_t boot;           /**< The current boot; 0 if unknown. */
    lx__frame_builder frame; /**< The next frame. */
    uint64_t zeros_end;      /**< End of the zeros after the last frame; 0 if there are none. */
    bool unsynced;           /**< Frames were written since the last synced frame. */
    bool changes;            /**< The last frame that this writer wrote changes the dataset. */
    uint64_t retry_at;       /**< WAL size at which to retry a failed rotation. */
} lx__wal_writer;

/**
 * Writes the completed frame at @p offset, which is the end of the WAL. If @p preallocates is set,
 * preallocates zeros after the frame.
 *
 * @retval LX_ERR_POISONED  Part of the frame was written and cannot be removed. On any other
 * failure, the WAL is unchanged.
 */
lx_status lx__wal_writer_append(lx__wal_writer *wal, const lx__frame *frame, uint64_t offset,
                                bool preallocates, lx_error *error);

/** Makes all frames durable. */
lx_status lx__wal_writer_sync(const lx__wal_writer *wal, lx_error *error);

/** Removes the zeros after the last frame, which ends at @p end. */
void lx__wal_writer_trim(lx__wal_writer *wal, uint64_t end);

/** Takes ownership of @p file, the WAL of the next generation, and closes the current WAL. */
void lx__wal_writer_replace(lx__wal_writer *wal, lx__file *file);

void lx__wal_writer_close(lx__wal_writer *wal);

/**
 * Writes a synced frame without updates after the last frame of @p state, and syncs the log. At the
 * start of a log, this is a snapshot frame. Anywhere else, it is a frame that changes nothing but
 * makes all earlier frames valid in any boot. Everything that these frames refer to must be
 * durable.
 */
lx_status lx__wal_write_synced(const lx__file *log, const lx__wal_identity *identity,
                               const lx__state *state, lx_error *error);

#endif
