/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The timer of periodic durability, which syncs about once a second.
 *
 * When a sync is due, a task in the executor's write queue calls the writer's function. This
 * function never waits for the writer, because waiting would block a thread that flushes. If the
 * writer is busy, the sync is left to the writer's next call or to the timer's next attempt.
 */
#ifndef LX_ZRECORD_SYNC_TIMER_H
#define LX_ZRECORD_SYNC_TIMER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "executor/task.h"

/** The time between two syncs, in nanoseconds. */
#define LX__SYNC_INTERVAL 1000000000ull

typedef struct lx__sync_timer lx__sync_timer;

/** Syncs what is committed, unless the owner is busy. Returns whether nothing is left to sync. */
typedef bool lx__sync_function(lx__sync_timer *timer);

struct lx__sync_timer {
    lx_executor *executor;   /**< The owner's executor. */
    lx__sync_function *sync; /**< Called on a thread of the write queue. */
    lx__task task;
    atomic_bool due;       /**< A sync is due, but the owner was busy. */
    bool retries;          /**< The task is a retry. Used by the thread that runs it. */
    pthread_mutex_t mutex; /**< Guards the members below. A leaf lock. */
    pthread_cond_t ended;
    bool running; /**< The task was submitted and has not finished. */
    bool wanted;  /**< A frame was written since the task last ran. */
    bool closing;
};

void lx__sync_timer_init(lx__sync_timer *timer);

/** Destroys a timer, which must have been stopped or never started. */
void lx__sync_timer_destroy(lx__sync_timer *timer);

/** Makes sure that @p sync is called within about a second. */
void lx__sync_timer_start(lx__sync_timer *timer);

/** Stops the timer and waits for its task. The caller must not hold a lock that @p sync takes. */
void lx__sync_timer_stop(lx__sync_timer *timer);

/** Returns whether a sync is due. If so, the caller must do it. */
bool lx__sync_timer_take(lx__sync_timer *timer);

#endif
