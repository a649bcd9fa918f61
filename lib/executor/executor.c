/* SPDX-License-Identifier: MIT */
/*
 * Lock order. There are two kinds of locks: those of queues and those of tickets. A thread holds at
 * most one of them at a time, so they need no order among themselves. It holds no lock while a
 * callback runs (run, finish, a task's function, the log hook, the allocator) or while memory is
 * mapped or unmapped; the longest operation under a lock is starting a thread. These locks come
 * after all locks of the layers above, which may be held during calls into this layer, except those
 * that run or finish tasks on the calling thread: help, cancel, wait, close, unref.
 */
#include "executor/executor.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/error.h"
#include "executor/call.h"
#include "executor/clock.h"
#include "executor/cpus.h"
#include "executor/executor-private.h"
#include "executor/lifetime.h"
#include "executor/scheduler.h"

const lx_executor_options lx__executor_defaults = {LX__READERS_AUTOMATIC, 1};

static uint32_t readers_for(uint32_t cpus)
{
    return cpus < LX_MAX_READERS ? cpus : LX_MAX_READERS;
}

lx_status lx_executor_open(const lx_executor_options *options, lx_executor **executor,
                           lx_error *error)
{
    LX__CLEAR(executor);
    static const char *const names[LX__QUEUES] = {"lx-read", "lx-write"};
    if (executor == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "executor is NULL");
    if (options == NULL)
        options = &lx__executor_defaults;
    lx_executor *made = lx__alloc_array(1, sizeof *made);
    if (made == NULL)
        return lx__fail_memory(error, "an executor");

    uint32_t cpus = lx__cpus_available();
    lx__process_record(&made->process);
    made->limits[LX_QUEUE_READ] = options->readers == LX__READERS_AUTOMATIC ? readers_for(cpus)
                                                                            : options->readers;
    made->limits[LX_QUEUE_WRITE] = options->writers;
    atomic_init(&made->users, 1);
    atomic_init(&made->holds, 1);
    for (int i = 0; i < LX__QUEUES; i++) {
        bool spins = made->limits[i] <= cpus; /* more spinning threads would slow each other down */
        lx__queue_init(&made->queues[i], made, names[i], made->limits[i], spins);
    }
    *executor = made;
    return LX_OK;
}

lx_status lx__executor_check(const lx_executor *executor, lx_error *error)
{
    return lx__process_is_this(&executor->process)
               ? LX_OK
               : lx_fail(error, LX_ERR_FORKED,
                         "the executor belongs to the parent process: open a new one after fork()");
}

static void stop(lx_executor *executor)
{
    bool inside = lx__call_is_inside(executor);
    for (int i = 0; i < LX__QUEUES; i++)
        lx__scheduler_stop(&executor->queues[i]);
    for (int i = 0; i < LX__QUEUES; i++)
        lx__scheduler_join(&executor->queues[i], inside);
}

void lx_executor_close(lx_executor *executor)
{
    if (executor == NULL || lx__executor_check(executor, NULL) != LX_OK)
        return;
    stop(executor);
    lx_executor_unref(executor);
}

lx_executor *lx_executor_ref(lx_executor *executor)
{
    atomic_fetch_add_explicit(&executor->users, 1, memory_order_relaxed);
    return executor;
}

void lx_executor_unref(lx_executor *executor)
{
    /* In a child, threads that do not exist there may hold the locks: the memory is leaked. */
    if (executor == NULL || lx__executor_check(executor, NULL) != LX_OK ||
        atomic_fetch_sub_explicit(&executor->users, 1, memory_order_acq_rel) != 1)
        return;
    stop(executor);
    lx__executor_release(executor);
}

uint32_t lx_executor_get_reader_count(const lx_executor *executor)
{
    return executor->limits[LX_QUEUE_READ];
}

uint32_t lx_executor_get_writer_count(const lx_executor *executor)
{
    return executor->limits[LX_QUEUE_WRITE];
}

lx_status lx_executor_get_stats(lx_executor *executor, lx_queue queue, lx_queue_stats *stats,
                                lx_error *error)
{
    if (executor == NULL || stats == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "executor or stats is NULL");
    if ((unsigned)queue >= LX__QUEUES)
        return lx_fail(error, LX_ERR_ARGUMENT, "invalid queue %d", (int)queue);
    lx_status status = lx__executor_check(executor, error);
    if (status == LX_OK)
        lx__queue_read_stats(&executor->queues[queue], stats);
    return status;
}

lx_status lx__executor_submit(lx_executor *executor, lx_queue queue, lx__task *task,
                              lx_error *error)
{
    lx_status status = lx__executor_check(executor, error);
    return status == LX_OK ? lx__scheduler_submit(&executor->queues[queue], task, 0, error)
                           : status;
}

lx_status lx__executor_submit_after(lx_executor *executor, lx_queue queue, lx__task *task,
                                    uint64_t nanoseconds, lx_error *error)
{
    lx_status status = lx__executor_check(executor, error);
    return status == LX_OK ? lx__scheduler_submit(&executor->queues[queue], task,
                                                  lx__clock_after(nanoseconds), error)
                           : status;
}

bool lx__executor_cancel(lx_executor *executor, lx__task *task)
{
    lx__queue *queue = atomic_load_explicit(&task->queue, memory_order_relaxed);
    if (queue == NULL || lx__executor_check(executor, NULL) != LX_OK)
        return false;
    assert(queue->executor == executor);
    pthread_mutex_lock(&queue->lock);
    bool canceled = lx__queue_withdraw(task);
    if (canceled && task->holders == 0)
        lx__call_finish(queue, task);
    pthread_mutex_unlock(&queue->lock);
    return canceled;
}

void lx__executor_help(lx_executor *executor, lx__task *task)
{
    lx__executor_help_until(executor, task, LX__NEVER);
}

void lx__executor_help_until(lx_executor *executor, lx__task *task, uint64_t deadline)
{
    lx__queue *queue = atomic_load_explicit(&task->queue, memory_order_relaxed);
    if (queue == NULL || lx__executor_check(executor, NULL) != LX_OK)
        return;
    assert(queue->executor == executor);
    pthread_mutex_lock(&queue->lock);
    if (task->state == LX__TASK_QUEUED &&
        atomic_load_explicit(&task->next, memory_order_relaxed) < task->parts) {
        task->holders++;
        lx__call_run_parts(queue, task, true, deadline);
    }
    pthread_mutex_unlock(&queue->lock);
}

bool lx__executor_must_help(const lx_executor *executor, lx_queue queue)
{
    return executor->limits[queue] == 0 || lx__call_is_inside(executor);
}
