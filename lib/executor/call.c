/* SPDX-License-Identifier: MIT */
#include "executor/call.h"

#include "executor/clock.h"

static _Thread_local lx__call *innermost;

/** Pushes @p call onto the stack of this thread, until pop(). */
static void push(lx__call *call, const lx_executor *executor)
{
    *call = (lx__call){executor, innermost};
    innermost = call;
}

static void pop(const lx__call *call)
{
    innermost = call->outer;
}

bool lx__call_is_inside(const lx_executor *executor)
{
    for (const lx__call *call = innermost; call != NULL; call = call->outer)
        if (call->executor == executor)
            return true;
    return false;
}

static uint64_t run_parts(lx__task *task, uint64_t deadline)
{
    uint64_t ran = 0;
    for (;;) {
        size_t part = atomic_fetch_add_explicit(&task->next, 1, memory_order_relaxed);
        if (part >= task->parts)
            return ran;
        task->run(task, part);
        ran++;
        if (deadline != LX__NEVER && lx__clock_now() >= deadline)
            return ran;
    }
}

/** Calls finish(), after which @p task belongs to its owner again. The caller holds the lock, which
 * is released during the call. */
static void finish(lx__queue *queue, lx__task *task)
{
    bool canceled = task->canceled;
    queue->stats.tasks++;
    queue->stats.canceled += canceled;
    pthread_mutex_unlock(&queue->lock);
    task->finish(task, canceled);
    pthread_mutex_lock(&queue->lock);
}

/** Drops one holder of @p task. Returns true if it was the last one and the task must be
 * finished. */
static bool drop_holder(lx__task *task)
{
    if (atomic_load_explicit(&task->next, memory_order_relaxed) >= task->parts)
        lx__queue_withdraw(task);
    return --task->holders == 0 && task->state == LX__TASK_FREE;
}

static void drop_guest(lx__queue *queue)
{
    if (--queue->guests == 0 && queue->stopped)
        pthread_cond_broadcast(&queue->ended);
}

void lx__call_run_parts(lx__queue *queue, lx__task *task, bool guest, uint64_t deadline)
{
    lx__call call;
    push(&call, queue->executor);
    if (guest)
        queue->guests++;
    pthread_mutex_unlock(&queue->lock);

    uint64_t ran = run_parts(task, deadline);

    pthread_mutex_lock(&queue->lock);
    queue->stats.parts += ran;
    if (drop_holder(task))
        finish(queue, task);
    if (guest)
        drop_guest(queue);
    pop(&call);
}

void lx__call_finish(lx__queue *queue, lx__task *task)
{
    lx__call call;
    push(&call, queue->executor);
    queue->guests++;
    finish(queue, task);
    drop_guest(queue);
    pop(&call);
}
