/* SPDX-License-Identifier: MIT */
#include "executor/scheduler.h"

#include <assert.h>

#include "base/error.h"
#include "base/log.h"
#include "executor/call.h"
#include "executor/worker.h"

/**
 * Starts threads for @p parts parts if too few are idle, plus one that waits for timed tasks. Fails
 * only if the first thread cannot be started; failures to start later ones are logged.
 */
static lx_status start_threads(lx__queue *queue, size_t parts, bool timed, lx_error *error)
{
    size_t wanted = parts + (timed || !lx__list_is_empty(&queue->timers));
    uint32_t idle = queue->spinning.idle + queue->asleep.idle;
    for (; wanted > idle && queue->started < queue->limit; wanted--) {
        int errnum = lx__worker_start(queue);
        if (errnum == 0)
            continue;
        if (queue->started == 0)
            return lx_fail_errno(
                error, errnum, NULL,
                "cannot start a thread; the limit on threads or memory has been reached");
        queue->limit = queue->started; /* avoids a retry for each task */
    }
    return LX_OK;
}

static lx_status add_task(lx__queue *queue, lx__task *task, uint64_t due, lx_error *error)
{
    assert(task->state == LX__TASK_FREE && task->parts != 0 && task->parts <= SIZE_MAX / 2);
    if (queue->stopped)
        return lx_fail(error, LX_ERR_STATE, "cannot submit a task: the executor is closed");
    if (due != 0 && queue->limit == 0)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "cannot submit a timed task: its queue has no threads");
    lx_status status = start_threads(queue, due == 0 ? task->parts : 0, due != 0, error);
    if (status == LX_OK)
        lx__queue_add(queue, task, due);
    return status;
}

lx_status lx__scheduler_submit(lx__queue *queue, lx__task *task, uint64_t due, lx_error *error)
{
    pthread_mutex_lock(&queue->lock);
    uint32_t limit = queue->limit;
    lx_status status = add_task(queue, task, due, error);
    uint32_t reached = queue->limit, sleepers = 0;
    if (status == LX_OK && due == 0)
        sleepers = lx__worker_call(queue, task->parts);
    /* Every sleeping thread must learn of an earlier due time, because any of them may be given
     * other work. */
    bool sooner = status == LX_OK && due != 0 && queue->timers.next == &task->link;
    if (sooner)
        pthread_cond_broadcast(&queue->wake);
    pthread_mutex_unlock(&queue->lock);

    lx__queue_post(queue);
    lx__worker_wake(queue, sleepers);
    if (reached < limit)
        lx__log(LX_LOG_WARNING, "%s: the system could start only %u of %u threads", queue->name,
                reached, limit);
    return status;
}

static void cancel_all(lx__queue *queue, lx__link *list)
{
    /* The lock is released between tasks, but nothing is added once the queue is stopped. */
    while (!lx__list_is_empty(list)) {
        lx__task *task = LX__CONTAINER_OF(list->next, lx__task, link);
        if (lx__queue_withdraw(task) && task->holders == 0)
            lx__call_finish(queue, task);
    }
}

void lx__scheduler_stop(lx__queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->stopped = true;
    lx__queue_post(queue);
    pthread_cond_broadcast(&queue->wake);
    cancel_all(queue, &queue->tasks);
    cancel_all(queue, &queue->timers);
    pthread_mutex_unlock(&queue->lock);
}

void lx__scheduler_join(lx__queue *queue, bool inside)
{
    pthread_mutex_lock(&queue->lock);
    uint32_t first = queue->reaped, end = queue->started; /* no thread starts after stop */
    queue->reaped = end;
    pthread_mutex_unlock(&queue->lock);

    for (uint32_t i = first; i < end; i++) {
        if (inside)
            pthread_detach(queue->workers[i].thread);
        else
            pthread_join(queue->workers[i].thread, NULL);
    }
    if (inside)
        return;

    pthread_mutex_lock(&queue->lock);
    while (queue->alive != 0 || queue->guests != 0)
        pthread_cond_wait(&queue->ended, &queue->lock);
    pthread_mutex_unlock(&queue->lock);
}
