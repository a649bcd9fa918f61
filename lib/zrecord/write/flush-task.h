/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Gives the payloads of a write buffer their place: compresses them and appends them to
 * chunks.
 *
 * A flush task has a chunk of its own to append to, and is used by one thread at a time.
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

typedef struct lx__flush_task {
    const lx__entry_rules *rules; /**< One a field. */
    int level;
    bool compresses; /**< Some field is compressed. */
    lx__chunk_files chunks;
    lx__deflater *deflater;
    lx__buffer output; /**< Payloads not yet written, the end of the last chunk. */
    lx__buffer packed; /**< A value compressed. */
} lx__flush_task;

/** Places all values of a write buffer, and completes their entries. After a failure the flush
 * task's chunks are to be rolled back. */
lx_status lx__flush_task_write(lx__flush_task *task, lx__write_buffer *buffer, lx_error *error);

/** Ends a flush task, whose chunks are closed without a sync. */
void lx__flush_task_close(lx__flush_task *task);

#endif
