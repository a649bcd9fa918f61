/* SPDX-License-Identifier: MIT */
#include "zrecord/write/sync-timer.h"

#include "executor/executor.h"

#include <stddef.h>

/* The time between two attempts while the writer is busy, in nanoseconds. */
#define RETRY 10000000ull

static lx__sync_timer *timer_of(lx__task *task)
{
    return (lx__sync_timer *)((char *)task - offsetof(lx__sync_timer, task));
}

static void run(lx__task *task, size_t part)
{
    (void)part;
    lx__sync_timer *timer = timer_of(task);
    if (timer->retries && !atomic_load_explicit(&timer->due, memory_order_acquire))
        return; /* a call to the writer has synced in the meantime */
    pthread_mutex_lock(&timer->mutex);
    timer->wanted = false;
    pthread_mutex_unlock(&timer->mutex);
    atomic_store_explicit(&timer->due, true, memory_order_release);
    if (timer->sync(timer))
        atomic_store_explicit(&timer->due, false, memory_order_release);
}

/** Submits the task again: soon if it could not sync, or in a second if more frames were
 * written. */
static void finish(lx__task *task, bool canceled)
{
    lx__sync_timer *timer = timer_of(task);
    pthread_mutex_lock(&timer->mutex);
    timer->retries = atomic_load_explicit(&timer->due, memory_order_acquire);
    bool again = !canceled && !timer->closing && (timer->retries || timer->wanted);
    if (again)
        again = lx__executor_submit_after(timer->executor, LX_QUEUE_WRITE, task,
                                          timer->retries ? RETRY : LX__SYNC_INTERVAL,
                                          NULL) == LX_OK;
    if (!again) {
        timer->running = false;
        pthread_cond_broadcast(&timer->ended);
    }
    pthread_mutex_unlock(&timer->mutex);
}

void lx__sync_timer_init(lx__sync_timer *timer)
{
    pthread_mutex_init(&timer->mutex, NULL);
    pthread_cond_init(&timer->ended, NULL);
    lx__task_init(&timer->task, run, finish, 1);
}

void lx__sync_timer_destroy(lx__sync_timer *timer)
{
    pthread_cond_destroy(&timer->ended);
    pthread_mutex_destroy(&timer->mutex);
}

void lx__sync_timer_start(lx__sync_timer *timer)
{
    pthread_mutex_lock(&timer->mutex);
    timer->wanted = true;
    if (!timer->running && !timer->closing) {
        timer->retries = false;
        timer->running = lx__executor_submit_after(timer->executor, LX_QUEUE_WRITE, &timer->task,
                                                   LX__SYNC_INTERVAL, NULL) == LX_OK;
    }
    /* Without a running timer, every commit has to sync. */
    if (!timer->running)
        atomic_store_explicit(&timer->due, true, memory_order_release);
    pthread_mutex_unlock(&timer->mutex);
}

void lx__sync_timer_stop(lx__sync_timer *timer)
{
    pthread_mutex_lock(&timer->mutex);
    timer->closing = true;
    bool running = timer->running;
    pthread_mutex_unlock(&timer->mutex);
    if (running)
        lx__executor_cancel(timer->executor, &timer->task);
    pthread_mutex_lock(&timer->mutex);
    while (timer->running)
        pthread_cond_wait(&timer->ended, &timer->mutex);
    pthread_mutex_unlock(&timer->mutex);
}

bool lx__sync_timer_take(lx__sync_timer *timer)
{
    if (!atomic_load_explicit(&timer->due, memory_order_acquire))
        return false;
    atomic_store_explicit(&timer->due, false, memory_order_release);
    return true;
}
