/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Has write buffers placed by the flush tasks of a writer, several at a time.
 *
 * A flush task is a task of the executor's write queue; there are as many as the executor may have
 * writers. Lanes take write buffers in the order in which they were given. A write buffer is placed
 * by one flush task, or by the caller where he would wait anyway. The first failure ends it: write
 * buffers that no flush task has taken are left unplaced until lx__flush_reset().
 */
#ifndef LX_ZRECORD_FLUSH_H
#define LX_ZRECORD_FLUSH_H

#include <pthread.h>

#include "executor/task.h"
#include "zrecord/write/flush-task.h"

/** A flush task and its thread. */
typedef struct lx__flush_worker {
    lx__flush_task
        flush_task; /**< Of the thread that places; of the caller's while nothing is running. */
    lx__task task;
    struct lx__flush *flush;
    bool running; /**< The task is with the executor. Under the flush's mutex. */
} lx__flush_worker;

typedef struct lx__flush {
    lx_executor *executor;
    lx__chunk_pool pool;
    lx__flush_worker workers[LX_MAX_WRITERS];
    size_t worker_count; /**< 0 until it is started. */

    pthread_mutex_t mutex;         /**< For all below, and for the fate of write buffers. */
    pthread_cond_t changed;        /**< Something of it has. */
    uint64_t changes;              /**< How often. */
    lx__write_buffer *head, *tail; /**< Stages that no flush task has taken. */
    bool failed;
    lx_error failure;
} lx__flush;

/** Prepares a zeroed flush, so that it can be closed. */
void lx__flush_init(lx__flush *flush);

/**
 * Makes it ready to place.
 * @param rules   One a field, kept; may be changed by calling again while nothing is running.
 * @param fields  How many.
 * @param level   Of flate.
 */
void lx__flush_start(lx__flush *flush, lx_executor *executor, const lx__entry_rules *rules,
                     size_t fields, int level);

void lx__flush_close(lx__flush *flush);

/** Gives a write buffer to the write queue. After a failure it stays unplaced: waiting for it says
 * why. */
lx_status lx__flush_submit(lx__flush *flush, lx__write_buffer *buffer, lx_error *error);

/** Places a write buffer on this thread; nothing may be running or waiting. */
lx_status lx__flush_now(lx__flush *flush, lx__write_buffer *buffer, lx_error *error);

/** Waits until @p write buffer is placed, or cannot be: then the first failure is returned. */
lx_status lx__flush_wait(lx__flush *flush, const lx__write_buffer *buffer, lx_error *error);

/** Waits until nothing is running, whatever failed. */
void lx__flush_drain(lx__flush *flush);

/** Whether nothing is running or waiting. */
bool lx__flush_is_idle(lx__flush *flush);

/** Forgets a failure, and brings the chunks of all flush tasks back to what is committed; drained
 * before. */
lx_status lx__flush_reset(lx__flush *flush, lx_error *error);

#endif
