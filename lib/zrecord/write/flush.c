/* SPDX-License-Identifier: MIT */
#include "zrecord/write/flush.h"

#include <stddef.h>

#include "base/error.h"
#include "executor/executor.h"

/* ---- with the mutex held */

static void signal_change(lx__flush *flush)
{
    flush->changes++;
    pthread_cond_broadcast(&flush->changed);
}

static bool is_running(const lx__flush *flush)
{
    for (size_t i = 0; i < flush->worker_count; i++)
        if (flush->workers[i].running)
            return true;
    return false;
}

/** Drops the buffers that no worker has taken yet; they will not be written. */
static void drop_queue(lx__flush *flush)
{
    flush->head = flush->tail = NULL;
}

static void fail(lx__flush *flush, const lx_error *failure)
{
    if (!flush->failed)
        flush->failure = *failure;
    flush->failed = true;
    drop_queue(flush);
}

static void put_buffer(lx__flush *flush, lx__write_buffer *buffer)
{
    buffer->next = NULL;
    if (flush->tail != NULL)
        flush->tail->next = buffer;
    else
        flush->head = buffer;
    flush->tail = buffer;
}

/** Submits the first idle worker if a buffer is queued; taking the first one keeps small workloads
 * in one chunk. The caller holds the mutex until the executor has the task, so that a thread that
 * waits for a running worker can run its task. */
static lx_status wake_worker(lx__flush *flush, lx_error *error)
{
    size_t i = 0;
    lx_error why = LX_ERROR_INIT;
    while (i < flush->worker_count && flush->workers[i].running)
        i++;
    if (flush->head == NULL || i == flush->worker_count)
        return LX_OK;
    flush->workers[i].running = true;
    if (lx__executor_submit(flush->executor, LX_QUEUE_WRITE, &flush->workers[i].task, &why) ==
        LX_OK)
        return LX_OK;
    flush->workers[i].running = false;
    if (is_running(flush))
        return LX_OK; /* a running worker will take the buffer */
    fail(flush, &why);
    signal_change(flush);
    lx__error_propagate(error, &why);
    return why.status;
}

/* ---- workers */

static lx__flush_worker *worker_of(lx__task *task)
{
    return (lx__flush_worker *)((char *)task - offsetof(lx__flush_worker, task));
}

static lx__write_buffer *take_buffer(lx__flush *flush)
{
    pthread_mutex_lock(&flush->mutex);
    lx__write_buffer *buffer = flush->head;
    if (buffer != NULL) {
        flush->head = buffer->next;
        buffer->flush_state = LX__FLUSH_RUNNING;
    }
    if (flush->head == NULL)
        flush->tail = NULL;
    pthread_mutex_unlock(&flush->mutex);
    return buffer;
}

/** Writes a buffer and sets its state. Of several failures, the first is kept. */
static lx_status flush_one(lx__flush *flush, lx__flush_task *task, lx__write_buffer *buffer,
                           lx_error *failure)
{
    lx_status status = lx__flush_task_write(task, buffer, failure);
    pthread_mutex_lock(&flush->mutex);
    buffer->flush_state = status == LX_OK ? LX__FLUSH_DONE : LX__FLUSH_FAILED;
    if (status != LX_OK)
        fail(flush, failure);
    signal_change(flush);
    pthread_mutex_unlock(&flush->mutex);
    return status;
}

static void run(lx__task *task, size_t part)
{
    (void)part;
    lx__flush_worker *worker = worker_of(task);
    lx__write_buffer *buffer;
    while ((buffer = take_buffer(worker->flush)) != NULL) {
        lx_error failure = LX_ERROR_INIT;
        (void)flush_one(worker->flush, &worker->flush_task, buffer, &failure);
    }
}

/** Marks the worker as idle. Then wakes a worker, because a buffer may have been queued after run()
 * found none. */
static void finish(lx__task *task, bool canceled)
{
    lx__flush_worker *worker = worker_of(task);
    lx__flush *flush = worker->flush;
    lx_error why = LX_ERROR_INIT;
    pthread_mutex_lock(&flush->mutex);
    worker->running = false;
    if (canceled) {
        lx_fail(&why, LX_ERR_STATE, "the executor was closed before everything was written");
        fail(flush, &why);
    }
    (void)wake_worker(flush, NULL);
    signal_change(flush);
    pthread_mutex_unlock(&flush->mutex);
}

/* ---- write buffers */

lx_status lx__flush_submit(lx__flush *flush, lx__write_buffer *buffer, lx_error *error)
{
    lx_status status = LX_OK;
    pthread_mutex_lock(&flush->mutex);
    /* After a failure, the buffer is not queued; lx__flush_wait() will report the failure. */
    if (!flush->failed) {
        put_buffer(flush, buffer);
        status = wake_worker(flush, error);
    }
    pthread_mutex_unlock(&flush->mutex);
    return status;
}

lx_status lx__flush_now(lx__flush *flush, lx__write_buffer *buffer, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx_status status = flush_one(flush, &flush->workers[0].flush_task, buffer, &failure);
    if (status != LX_OK)
        lx__error_propagate(error, &failure);
    return status;
}

/** Waits for a change; the mutex is held before and after. Runs tasks that have not started yet,
 * because all threads of the queue may be running tasks that wait for these tasks or for the
 * caller. */
static void wait_for_change(lx__flush *flush)
{
    uint64_t changes = flush->changes;
    for (size_t i = 0; i < flush->worker_count; i++) {
        if (!flush->workers[i].running)
            continue;
        pthread_mutex_unlock(&flush->mutex);
        lx__executor_help(flush->executor, &flush->workers[i].task);
        pthread_mutex_lock(&flush->mutex);
    }
    if (flush->changes == changes)
        pthread_cond_wait(&flush->changed, &flush->mutex);
}

/** Whether a buffer is being written or will be. */
static bool is_coming(const lx__flush *flush, const lx__write_buffer *buffer)
{
    return buffer->flush_state == LX__FLUSH_RUNNING ||
           (buffer->flush_state == LX__FLUSH_WAITING && !flush->failed);
}

lx_status lx__flush_wait(lx__flush *flush, const lx__write_buffer *buffer, lx_error *error)
{
    lx_status status = LX_OK;
    pthread_mutex_lock(&flush->mutex);
    while (is_coming(flush, buffer))
        wait_for_change(flush);
    if (buffer->flush_state != LX__FLUSH_DONE) {
        status = flush->failure.status;
        lx__error_propagate(error, &flush->failure);
    }
    pthread_mutex_unlock(&flush->mutex);
    return status;
}

void lx__flush_drain(lx__flush *flush)
{
    pthread_mutex_lock(&flush->mutex);
    while (is_running(flush))
        wait_for_change(flush);
    pthread_mutex_unlock(&flush->mutex);
}

bool lx__flush_is_idle(lx__flush *flush)
{
    pthread_mutex_lock(&flush->mutex);
    bool idle = !is_running(flush) && flush->head == NULL;
    pthread_mutex_unlock(&flush->mutex);
    return idle;
}

lx_status lx__flush_reset(lx__flush *flush, lx_error *error)
{
    lx_status status = LX_OK;
    flush->failed = false;
    flush->failure = (lx_error)LX_ERROR_INIT;
    for (size_t i = 0; i < flush->worker_count; i++) {
        lx_status undone = lx__chunk_files_rollback(&flush->workers[i].flush_task.chunks, error);
        status = status != LX_OK ? status : undone;
    }
    return status;
}

/* ---- initialization and cleanup */

void lx__flush_init(lx__flush *flush)
{
    flush->failure = (lx_error)LX_ERROR_INIT;
    lx__chunk_pool_init(&flush->pool);
    pthread_mutex_init(&flush->mutex, NULL);
    pthread_cond_init(&flush->changed, NULL);
    for (size_t i = 0; i < LX_MAX_WRITERS; i++) {
        flush->workers[i].flush = flush;
        flush->workers[i].flush_task.chunks.pool = &flush->pool;
        lx__task_init(&flush->workers[i].task, run, finish, 1);
    }
}

void lx__flush_start(lx__flush *flush, lx_executor *executor, const lx__entry_rules *rules,
                     const lx__codec_settings *settings, size_t fields)
{
    bool compresses = false;
    for (size_t i = 0; i < fields; i++)
        compresses = compresses || (rules[i].codec != NULL && rules[i].codec->deflate != NULL);
    flush->executor = executor;
    flush->worker_count = lx_executor_get_writer_count(executor);
    for (size_t i = 0; i < flush->worker_count; i++) {
        flush->workers[i].flush_task.rules = rules;
        flush->workers[i].flush_task.codec_settings = settings;
        flush->workers[i].flush_task.executor = executor;
        flush->workers[i].flush_task.compresses = compresses;
    }
}

void lx__flush_close(lx__flush *flush)
{
    for (size_t i = 0; i < LX_MAX_WRITERS; i++)
        lx__flush_task_close(&flush->workers[i].flush_task);
    lx__chunk_pool_free(&flush->pool);
    pthread_cond_destroy(&flush->changed);
    pthread_mutex_destroy(&flush->mutex);
}
