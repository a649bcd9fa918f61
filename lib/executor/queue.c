/* SPDX-License-Identifier: MIT */
#include "executor/queue.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "executor/call.h"
#include "executor/clock.h"
#include "executor/worker.h"

void lx__queue_init(lx__queue *queue, lx_executor *executor, const char *name, uint32_t limit,
                    bool spins)
{
    *queue = (lx__queue){.executor = executor, .name = name, .limit = limit, .spins = spins};
    pthread_mutex_init(&queue->lock, NULL);
    lx__clock_condition(&queue->wake);
    lx__clock_condition(&queue->ended);
    lx__list_init(&queue->tasks);
    lx__list_init(&queue->timers);
}

void lx__queue_destroy(lx__queue *queue)
{
    assert(lx__list_is_empty(&queue->tasks) && lx__list_is_empty(&queue->timers));
    pthread_cond_destroy(&queue->ended);
    pthread_cond_destroy(&queue->wake);
    pthread_mutex_destroy(&queue->lock);
}

static lx__task *task_of(lx__link *link)
{
    return LX__OF_LINK(link, lx__task, link);
}

/** Tells threads that spin that there is something to look at; best without the lock, which they
 * take at once. */
static void post(lx__queue *queue)
{
    atomic_fetch_add_explicit(&queue->posted, 1, memory_order_relaxed);
}

static void queue_task(lx__queue *queue, lx__task *task)
{
    task->state = LX__TASK_QUEUED;
    lx__list_insert(&queue->tasks, &task->link);
}

static void queue_timer(lx__queue *queue, lx__task *task)
{
    lx__link *behind = queue->timers.before;
    while (behind != &queue->timers && task_of(behind)->due > task->due)
        behind = behind->before;
    task->state = LX__TASK_WAITING;
    lx__list_insert(behind->next, &task->link);
}

/**
 * Starts threads for @p parts where too few are idle, and one more to watch waiting tasks. That
 * there is no first thread is a failure, that there is not a further one is told the log.
 */
static lx_status provide_threads(lx__queue *queue, size_t parts, bool timed, lx_error *error)
{
    size_t wanted = parts + (timed || !lx__list_is_empty(&queue->timers));
    uint32_t idle = queue->spinning.idle + queue->asleep.idle;
    for (; wanted > idle && queue->started < queue->limit; wanted--) {
        int errnum = lx__worker_start(queue);
        if (errnum == 0)
            continue;
        if (queue->started == 0)
            return lx__fail_errno(error, errnum, NULL, "cannot start a thread; are there too many "
                                                       "already, or is memory limited?");
        queue->limit = queue->started; /* not tried again for each task */
    }
    return LX_OK;
}

static lx_status admit(lx__queue *queue, lx__task *task, uint64_t due, lx_error *error)
{
    assert(task->state == LX__TASK_FREE && task->parts != 0 && task->parts <= SIZE_MAX / 2);
    if (queue->stopped)
        return lx__fail(error, LX_ERR_STATE, "the executor is closed");
    if (due != 0 && queue->limit == 0)
        return lx__fail(error, LX_ERR_UNSUPPORTED, "a queue without threads keeps no time");
    lx_status status = provide_threads(queue, due == 0 ? task->parts : 0, due != 0, error);
    if (status != LX_OK)
        return status;

    atomic_store_explicit(&task->next, 0, memory_order_relaxed);
    atomic_store_explicit(&task->queue, queue, memory_order_relaxed);
    task->due = due;
    task->holders = 0;
    task->canceled = false;
    if (due == 0)
        queue_task(queue, task);
    else
        queue_timer(queue, task);
    return LX_OK;
}

lx_status lx__queue_submit(lx__queue *queue, lx__task *task, uint64_t due, lx_error *error)
{
    pthread_mutex_lock(&queue->lock);
    uint32_t limit = queue->limit;
    lx_status status = admit(queue, task, due, error);
    uint32_t reached = queue->limit, sleepers = 0;
    if (status == LX_OK && due == 0)
        sleepers = lx__worker_call(queue, task->parts);
    /* All that sleep must know of an earlier time, since any of them may be given other work. */
    bool sooner = status == LX_OK && due != 0 && queue->timers.next == &task->link;
    if (sooner)
        pthread_cond_broadcast(&queue->wake);
    pthread_mutex_unlock(&queue->lock);

    post(queue);
    lx__worker_wake(queue, sleepers);
    if (reached < limit)
        lx__log(LX_LOG_WARNING, "%s: the system gives only %u of %u threads", queue->name, reached,
                limit);
    return status;
}

/** Queues the waiting tasks whose time has come. */
static void queue_due(lx__queue *queue)
{
    if (lx__list_is_empty(&queue->timers))
        return;
    uint64_t now = lx__clock_now();
    while (lx__queue_due(queue) <= now) {
        lx__task *task = task_of(queue->timers.next);
        lx__list_remove(&task->link);
        queue_task(queue, task);
        post(queue);
    }
}

lx__task *lx__queue_first(lx__queue *queue)
{
    queue_due(queue);
    while (!lx__list_is_empty(&queue->tasks)) {
        lx__task *task = task_of(queue->tasks.next);
        if (atomic_load_explicit(&task->next, memory_order_relaxed) < task->parts)
            return task;
        lx__queue_withdraw(task); /* those who run its last parts finish it */
    }
    return NULL;
}

uint64_t lx__queue_due(const lx__queue *queue)
{
    return lx__list_is_empty(&queue->timers) ? LX__NEVER : task_of(queue->timers.next)->due;
}

bool lx__queue_withdraw(lx__task *task)
{
    if (task->state == LX__TASK_FREE)
        return false;
    lx__list_remove(&task->link);
    task->state = LX__TASK_FREE;
    size_t begun = atomic_exchange_explicit(&task->next, task->parts, memory_order_relaxed);
    if (begun >= task->parts)
        return false;
    task->canceled = true;
    return true;
}

static void cancel_all(lx__queue *queue, lx__link *list)
{
    /* The lock is released in between, but nothing is added any more. */
    while (!lx__list_is_empty(list)) {
        lx__task *task = task_of(list->next);
        if (lx__queue_withdraw(task) && task->holders == 0)
            lx__call_finish(queue, task);
    }
}

void lx__queue_stop(lx__queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->stopped = true;
    post(queue);
    pthread_cond_broadcast(&queue->wake);
    cancel_all(queue, &queue->tasks);
    cancel_all(queue, &queue->timers);
    pthread_mutex_unlock(&queue->lock);
}

void lx__queue_reap(lx__queue *queue, bool inside)
{
    pthread_mutex_lock(&queue->lock);
    uint32_t first = queue->reaped, end = queue->started; /* none is started after stop */
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

/** Tasks of @p list of which parts have not begun. */
static uint64_t count_waiting(const lx__link *list)
{
    uint64_t count = 0;
    for (lx__link *at = list->next; at != list; at = at->next)
        count += atomic_load_explicit(&task_of(at)->next, memory_order_relaxed) <
                 task_of(at)->parts;
    return count;
}

void lx__queue_read_stats(lx__queue *queue, lx_queue_stats *stats)
{
    pthread_mutex_lock(&queue->lock);
    *stats = queue->stats;
    stats->threads = queue->alive;
    stats->queued = count_waiting(&queue->tasks) + count_waiting(&queue->timers);
    uint64_t idle = (uint64_t)queue->spinning.idle + queue->spinning.called + queue->asleep.idle +
                    queue->asleep.called;
    stats->idle_ns += idle * lx__clock_now();
    pthread_mutex_unlock(&queue->lock);
}
