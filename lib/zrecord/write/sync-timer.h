/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The timer of periodic durability: has a writer synced about once a second.
 *
 * A task of the executor's write queue calls the writer's function when the time has come. It never
 * waits for the writer, since that would block a thread that flushes: if the writer is busy, the
 * sync is due in the writer's next call, or in the timer's next try.
 */
#ifndef LX_ZRECORD_SYNC_TIMER_H
#define LX_ZRECORD_SYNC_TIMER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "executor/task.h"

typedef struct lx__sync_timer lx__sync_timer;

/** Syncs what is committed, unless the owner is busy. Returns whether nothing is due any more. */
typedef bool lx__sync_function(lx__sync_timer *timer);

struct lx__sync_timer {
    lx_executor *executor;   /**< The owner's. */
    lx__sync_function *sync; /**< Called on a thread of the write queue. */
    lx__task task;
    atomic_bool due; /**< The time has come, and the owner was busy. */
    bool retries;    /**< The task only tries again; of the thread that runs it. */

    pthread_mutex_t mutex; /**< For the members below. A leaf. */
    pthread_cond_t ended;
    bool running; /**< From the task's submission until its finish. */
    bool wanted;  /**< A frame was written since the task last ran. */
    bool closing;
};

void lx__sync_timer_init(lx__sync_timer *timer);

/** After lx__sync_timer_stop(), or before any start. */
void lx__sync_timer_destroy(lx__sync_timer *timer);

/** Has @p sync called within about a second. */
void lx__sync_timer_start(lx__sync_timer *timer);

/** Stops the timer and waits until its task is over. The caller must hold no lock that @p sync
 * takes. */
void lx__sync_timer_stop(lx__sync_timer *timer);

/** Whether a sync is due, which the caller must do then. */
bool lx__sync_timer_take(lx__sync_timer *timer);

#endif
