/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The timer of periodic durability: syncs about once a second.
 *
 * A task of the executor's write queue calls the writer's function when the time has come. It never
 * waits for the writer, because that would block a thread that flushes. If the writer is busy, the
 * sync becomes due in the writer's next call, or in the timer's next attempt.
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

/** Syncs what is committed, unless the owner is busy. Returns whether nothing is due any more. */
typedef bool lx__sync_function(lx__sync_timer *timer);

struct lx__sync_timer {
    lx_executor *executor;   /**< The owner's. */
    lx__sync_function *sync; /**< Called on a thread of the write queue. */
    lx__task task;
    atomic_bool due; /**< The time has come, but the owner was busy. */
    bool retries;    /**< The task is a repeated attempt. Used by the thread that runs it. */

    pthread_mutex_t mutex; /**< Protects the members below. A leaf lock. */
    pthread_cond_t ended;
    bool running; /**< From the task's submission until its finish. */
    bool wanted;  /**< A frame was written since the task last ran. */
    bool closing;
};

void lx__sync_timer_init(lx__sync_timer *timer);

/** Destroys a timer that is stopped or was never started. */
void lx__sync_timer_destroy(lx__sync_timer *timer);

/** Calls @p sync within about a second. */
void lx__sync_timer_start(lx__sync_timer *timer);

/** Stops the timer and waits for its task. The caller must not hold a lock that @p sync takes. */
void lx__sync_timer_stop(lx__sync_timer *timer);

/** Whether a sync is due. If so, the caller must do it. */
bool lx__sync_timer_take(lx__sync_timer *timer);

#endif
