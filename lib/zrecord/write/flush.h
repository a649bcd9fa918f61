/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Writes the write buffers of a writer to chunks, several at a time.
 *
 * Each worker is a task in the executor's write queue; there is one worker per write thread of the
 * executor. Workers take buffers in the order in which they were submitted. A thread that would
 * otherwise have to wait flushes buffers itself. After the first failure, buffers that no worker
 * has taken yet stay unwritten until lx__flush_reset().
 */
#ifndef LX_ZRECORD_FLUSH_H
#define LX_ZRECORD_FLUSH_H

#include <pthread.h>

#include "executor/task.h"
#include "zrecord/write/flush-task.h"

/** A flush task, along with the executor task that runs it. */
typedef struct lx__flush_worker {
    /** Used by the worker while it runs, and by the caller's thread while no worker is running. */
    lx__flush_task flush_task;
    lx__task task;
    struct lx__flush *flush;
    bool running; /**< The executor has the task. Guarded by the flush's mutex. */
} lx__flush_worker;

typedef struct lx__flush {
    lx_executor *executor;
    lx__chunk_pool pool;
    lx__flush_worker workers[LX_MAX_WRITERS];
    size_t worker_count; /**< 0 until lx__flush_start(). */

    /** Guards all members below, and the flush_state of write buffers. */
    pthread_mutex_t mutex;
    pthread_cond_t changed;        /**< Signaled whenever any of the members below changes. */
    uint64_t changes;              /**< Number of changes so far. */
    lx__write_buffer *head, *tail; /**< Buffers that no worker has taken yet. */
    bool failed;
    lx_error failure;
} lx__flush;

/** Initializes a zeroed flush; after that, it can be closed. */
void lx__flush_init(lx__flush *flush);

/**
 * Prepares for writing.
 * @param rules     One per field; not copied. To change them, call this function again while no
 *                  worker is running.
 * @param settings  The same, for compressed fields.
 * @param fields    Number of fields.
 */
void lx__flush_start(lx__flush *flush, lx_executor *executor, const lx__entry_rules *rules,
                     const lx__codec_settings *settings, size_t fields);

void lx__flush_close(lx__flush *flush);

/** Queues a buffer for writing. After a failure, the buffer stays unwritten, and waiting for the
 * buffer returns that failure. */
lx_status lx__flush_submit(lx__flush *flush, lx__write_buffer *buffer, lx_error *error);

/** Writes a buffer on this thread. No worker may be running, and no buffer may be queued. */
lx_status lx__flush_now(lx__flush *flush, lx__write_buffer *buffer, lx_error *error);

/** Waits until @p buffer is written; if it cannot be written, returns the first failure. */
lx_status lx__flush_wait(lx__flush *flush, const lx__write_buffer *buffer, lx_error *error);

/** Waits until no worker is running, regardless of failures. */
void lx__flush_drain(lx__flush *flush);

/** Whether no worker is running and no buffer is queued. */
bool lx__flush_is_idle(lx__flush *flush);

/** Clears a failure, and rolls the chunks of all workers back to their committed contents. Call
 * lx__flush_drain() first. */
lx_status lx__flush_reset(lx__flush *flush, lx_error *error);

#endif
