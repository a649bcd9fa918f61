/* SPDX-License-Identifier: MIT */
#include "executor/queue.h"

#include <assert.h>

#include "executor/clock.h"

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
    return LX__CONTAINER_OF(link, lx__task, link);
}

void lx__queue_post(lx__queue *queue)
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
    lx__link *earlier = queue->timers.before;
    while (earlier != &queue->timers && task_of(earlier)->due > task->due)
        earlier = earlier->before;
    task->state = LX__TASK_WAITING;
    lx__list_insert(earlier->next, &task->link);
}

void lx__queue_add(lx__queue *queue, lx__task *task, uint64_t due)
{
    atomic_store_explicit(&task->next, 0, memory_order_relaxed);
    atomic_store_explicit(&task->queue, queue, memory_order_relaxed);
    task->due = due;
    task->holders = 0;
    task->canceled = false;
    if (due == 0)
        queue_task(queue, task);
    else
        queue_timer(queue, task);
}

/** Queues the timed tasks that are due. */
static void queue_due(lx__queue *queue)
{
    if (lx__list_is_empty(&queue->timers))
        return;
    uint64_t now = lx__clock_now();
    while (lx__queue_due(queue) <= now) {
        lx__task *task = task_of(queue->timers.next);
        lx__list_remove(&task->link);
        queue_task(queue, task);
        lx__queue_post(queue);
    }
}

lx__task *lx__queue_first(lx__queue *queue)
{
    queue_due(queue);
    while (!lx__list_is_empty(&queue->tasks)) {
        lx__task *task = task_of(queue->tasks.next);
        if (atomic_load_explicit(&task->next, memory_order_relaxed) < task->parts)
            return task;
        lx__queue_withdraw(task); /* the threads that run its last parts finish it */
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

/** Counts the tasks in @p list with parts that have not begun. */
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
