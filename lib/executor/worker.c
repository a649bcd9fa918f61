/* SPDX-License-Identifier: MIT */
#include "executor/worker.h"

#include <stdio.h>

#include "executor/call.h"
#include "executor/clock.h"
#include "executor/lifetime.h"
#include "executor/thread.h"

/* Waking a thread takes a system call of up to 15 us, so the submitting thread wakes only one
 * thread, which wakes the next. */
#define WAKES 1

static uint32_t call(lx__waiters *waiters, size_t wanted)
{
    uint32_t called = wanted < waiters->idle ? (uint32_t)wanted : waiters->idle;
    waiters->idle -= called;
    waiters->called += called;
    return called;
}

static void stop_waiting(lx__waiters *waiters)
{
    if (waiters->called != 0)
        waiters->called--;
    else
        waiters->idle--;
}

uint32_t lx__worker_call(lx__queue *queue, size_t wanted)
{
    queue->unwoken += call(&queue->asleep, wanted - call(&queue->spinning, wanted));
    uint32_t wakes = queue->unwoken < WAKES ? queue->unwoken : WAKES;
    queue->unwoken -= wakes;
    return wakes;
}

void lx__worker_wake(lx__queue *queue, uint32_t count)
{
    for (; count != 0; count--)
        pthread_cond_signal(&queue->wake);
}

/** Spins. The caller holds the lock, which is released in the meantime. */
static void spin(lx__queue *queue, lx__spinner *spinner)
{
    unsigned seen = atomic_load_explicit(&queue->posted, memory_order_relaxed);
    queue->spinning.idle++;
    pthread_mutex_unlock(&queue->lock);
    lx__spinner_learn(spinner, lx__spinner_watch(&queue->posted, seen));
    pthread_mutex_lock(&queue->lock);
    stop_waiting(&queue->spinning);
}

static void sleep_until_called(lx__queue *queue)
{
    queue->asleep.idle++;
    lx__clock_wait(&queue->wake, &queue->lock, lx__queue_due(queue));
    stop_waiting(&queue->asleep);
    uint32_t wakes = lx__worker_call(queue, 0);
    if (wakes != 0) {
        pthread_mutex_unlock(&queue->lock);
        lx__worker_wake(queue, wakes);
        pthread_mutex_lock(&queue->lock);
    }
}

/** Waits for the next task and becomes one of its holders; returns NULL once the queue is stopped.
 * The caller holds the lock, which is released during waits. */
static lx__task *take(lx__queue *queue, lx__worker *worker)
{
    for (bool fresh = true;; fresh = false) {
        lx__task *task = lx__queue_first(queue);
        if (task != NULL) {
            task->holders++;
            return task;
        }
        if (queue->stopped)
            return NULL;
        queue->stats.idle_ns -= lx__clock_now();
        if (fresh && queue->spins && lx__spinner_try(&worker->spinner))
            spin(queue, &worker->spinner);
        else
            sleep_until_called(queue);
        queue->stats.idle_ns += lx__clock_now();
    }
}

static void *work(void *argument)
{
    lx__worker *worker = argument;
    lx__queue *queue = worker->queue;
    lx_executor *executor = queue->executor;
    char name[16]; /* the kernel's limit */
    snprintf(name, sizeof name, "%s-%u", queue->name, (unsigned)(worker - queue->workers));
    pthread_setname_np(pthread_self(), name);

    pthread_mutex_lock(&queue->lock);
    for (lx__task *task; (task = take(queue, worker)) != NULL;)
        lx__call_run_parts(queue, task, false, LX__NEVER);
    if (--queue->alive == 0)
        pthread_cond_broadcast(&queue->ended);
    pthread_mutex_unlock(&queue->lock);
    lx__executor_release(executor); /* may be the last hold, if a callback closed the executor */
    return NULL;
}

int lx__worker_start(lx__queue *queue)
{
    lx__worker *worker = &queue->workers[queue->started];
    worker->queue = queue;
    lx__executor_hold(queue->executor);
    int errnum = lx__thread_start(&worker->thread, work, worker);
    if (errnum != 0) {
        lx__executor_release(queue->executor);
        return errnum;
    }
    queue->started++;
    queue->alive++;
    return 0;
}
