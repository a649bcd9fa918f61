/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The write-ahead log open for appending: frames are written whole or not at all.
 *
 * Used under the writer's mutex, but for lx__wal_writer_sync(), which one commit at a time calls.
 */
#ifndef LX_ZRECORD_WAL_WRITER_H
#define LX_ZRECORD_WAL_WRITER_H

#include "base/file.h"
#include "zrecord/wal/frame.h"

typedef struct lx__wal_writer {
    lx__file file;
    lx__log_identity identity;
    uint64_t boot;           /**< The present one; 0: unknown. */
    lx__frame_builder frame; /**< The one that is written next. */
    uint64_t zeros_end;      /**< Where zeros after the last frame end; 0: there are none. */
    bool unsynced;           /**< Frames were written since the last synced one. */
    bool changes;            /**< The last frame that this writer wrote changes something. */
    uint64_t retry_at;       /**< Bytes of the log at which a failed rotation is tried again. */
} lx__wal_writer;

/**
 * Writes the frame that was built at @p offset, the end of the log. With @p preallocates, zeros
 * follow it, for later frames to overwrite.
 *
 * @retval LX_ERR_POISONED  It was written in part and cannot be cut off. After any other failure the
 *                          log is as before.
 */
lx_status lx__wal_writer_append(lx__wal_writer *wal, const lx__frame *frame, uint64_t offset,
                                bool preallocates, lx_error *error);

/** Makes all frames durable. */
lx_status lx__wal_writer_sync(const lx__wal_writer *wal, lx_error *error);

/** Cuts off the zeros after the last frame, which ends at @p end. */
void lx__wal_writer_trim(lx__wal_writer *wal, uint64_t end);

/** Continues with the log of the next generation, which this takes over. */
void lx__wal_writer_replace(lx__wal_writer *wal, lx__file *file);

void lx__wal_writer_close(lx__wal_writer *wal);

#endif
