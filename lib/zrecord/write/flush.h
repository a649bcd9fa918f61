/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Writes the write buffers of a writer to chunks, several at a time.
 *
 * Each worker is a task of the executor's write queue; there are as many as the executor may run
 * writers. Workers take buffers in the order of submission. A thread that would have to wait
 * flushes a buffer itself. After the first failure, buffers that no worker has taken stay unwritten
 * until lx__flush_reset().
 */
#ifndef LX_ZRECORD_FLUSH_H
#define LX_ZRECORD_FLUSH_H

#include <pthread.h>

#include "executor/task.h"
#include "zrecord/write/flush-task.h"

/** A flush task and the executor's task that runs it. */
typedef struct lx__flush_worker {
    /** Used by the running worker; by the caller's thread while no worker runs. */
    lx__flush_task flush_task;
    lx__task task;
    struct lx__flush *flush;
    bool running; /**< The task is with the executor. Under the flush's mutex. */
} lx__flush_worker;

typedef struct lx__flush {
    lx_executor *executor;
    lx__chunk_pool pool;
    lx__flush_worker workers[LX_MAX_WRITERS];
    size_t worker_count; /**< 0 until lx__flush_start(). */

    /** Protects all members below, and flush_state of write buffers. */
    pthread_mutex_t mutex;
    pthread_cond_t changed;        /**< Signaled after each change of them. */
    uint64_t changes;              /**< Number of changes so far. */
    lx__write_buffer *head, *tail; /**< Buffers that no worker has taken. */
    bool failed;
    lx_error failure;
} lx__flush;

/** Initializes a zeroed flush, so that it can be closed. */
void lx__flush_init(lx__flush *flush);

/**
 * Prepares to write.
 * @param rules   One per field; kept. Call this function again to change them while no worker runs.
 * @param fields  Number of fields.
 * @param level   Compression level.
 */
void lx__flush_start(lx__flush *flush, lx_executor *executor, const lx__entry_rules *rules,
                     size_t fields, int level);

void lx__flush_close(lx__flush *flush);

/** Queues a buffer for writing. After a failure it stays unwritten, and waiting for it returns the
 * failure. */
lx_status lx__flush_submit(lx__flush *flush, lx__write_buffer *buffer, lx_error *error);

/** Writes a buffer on this thread. No worker may be running and no buffer waiting. */
lx_status lx__flush_now(lx__flush *flush, lx__write_buffer *buffer, lx_error *error);

/** Waits until @p buffer is written, or returns the first failure. */
lx_status lx__flush_wait(lx__flush *flush, const lx__write_buffer *buffer, lx_error *error);

/** Waits until no worker runs, regardless of failures. */
void lx__flush_drain(lx__flush *flush);

/** Whether no worker runs and no buffer waits. */
bool lx__flush_is_idle(lx__flush *flush);

/** Clears a failure and rolls the chunks of all workers back to what is committed. Call
 * lx__flush_drain() first. */
lx_status lx__flush_reset(lx__flush *flush, lx_error *error);

#endif
