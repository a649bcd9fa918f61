/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Writes the payloads of a write buffer: compresses them and appends them to chunks.
 *
 * Each flush task appends to a chunk of its own. Only one thread may use a flush task at a time;
 * other threads help it to compress values, which does not change what is stored.
 */
#ifndef LX_ZRECORD_FLUSH_TASK_H
#define LX_ZRECORD_FLUSH_TASK_H

#include "zrecord/format/codec.h"
#include "zrecord/chunk/chunk.h"
#include "zrecord/write/write-buffer.h"

/** A growing block of memory. */
typedef struct lx__buffer {
    uint8_t *data;
    size_t used;
    size_t capacity;
} lx__buffer;

/** How new values of a compressed field are compressed. */
typedef struct lx__codec_settings {
    int level;
    const lx__dictionary *dictionary; /**< NULL: without one. */
} lx__codec_settings;

/** Maximum number of threads that compress the values of one write buffer. */
#define LX__COMPRESSORS 8

/** Compresses values, on one thread at a time. */
typedef struct lx__compressor {
    lx__deflater **deflaters; /**< One per codec and level in use. */
    size_t deflater_count, deflater_capacity;
    lx__buffer compressed; /**< The compressed form of the current value. */
} lx__compressor;

typedef struct lx__flush_task {
    const lx__entry_rules *rules;             /**< One per field. */
    const lx__codec_settings *codec_settings; /**< One per field. */
    bool compresses;                          /**< At least one field is compressed. */
    lx_executor *executor;                    /**< Its readers help to compress; NULL: none do. */
    lx__chunk_files chunks;
    lx__compressor compressors[LX__COMPRESSORS];
    lx__buffer output; /**< Payloads that have not been written yet and belong at the end of the
                            current chunk. */
} lx__flush_task;

/** Writes all values of a write buffer and completes their entries. On failure, the caller must
 * roll back the flush task's chunks. */
lx_status lx__flush_task_write(lx__flush_task *task, lx__write_buffer *buffer, lx_error *error);

/** Frees a flush task and closes its chunks without syncing them. */
void lx__flush_task_close(lx__flush_task *task);

#endif
