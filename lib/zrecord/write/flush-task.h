/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Gives the payloads of a stage their place: compresses them and appends them to chunks.
 *
 * A lane has a chunk of its own to append to, and is used by one thread at a time.
 */
#ifndef LX_ZRECORD_FLUSH_TASK_H
#define LX_ZRECORD_FLUSH_TASK_H

#include "zrecord/format/codec.h"
#include "zrecord/chunk/chunk.h"
#include "zrecord/write/write-buffer.h"

/** Memory that grows. */
typedef struct lx__buffer {
    uint8_t *data;
    size_t used;
    size_t capacity;
} lx__buffer;

typedef struct lx__lane {
    const lx__entry_rules *rules; /**< One a field. */
    int level;
    bool compresses; /**< Some field is compressed. */
    lx__chunk_files chunks;
    lx__deflater *deflater;
    lx__buffer output; /**< Payloads not yet written, the end of the last chunk. */
    lx__buffer packed; /**< A value compressed. */
} lx__lane;

/** Places all values of a stage, and completes their entries. After a failure the lane's chunks are
 * to be rolled back. */
lx_status lx__lane_place(lx__lane *lane, lx__stage *stage, lx_error *error);

/** Ends a lane, whose chunks are closed without a sync. */
void lx__lane_close(lx__lane *lane);

#endif
