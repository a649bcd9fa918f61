/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A queue of tasks: what waits, and the threads that take it.
 */
#ifndef LX_EXECUTOR_QUEUE_H
#define LX_EXECUTOR_QUEUE_H

#include <pthread.h>

#include "executor/spinner.h"
#include "executor/task.h"

/** One of a queue's threads. */
typedef struct lx__worker {
    struct lx__queue *queue;
    pthread_t thread;
    lx__spinner spinner; /**< The thread's own. */
} lx__worker;

/**
 * Threads that wait in one way. Those that wait are interchangeable, so it does not matter which
 * of them comes back for a call; only the counts must agree.
 */
typedef struct lx__waiters {
    uint32_t idle;   /**< Wait, and nothing is meant for them. */
    uint32_t called; /**< Still wait, but there is a task for them. */
} lx__waiters;

/** All but the first group and posted is under the lock. */
typedef struct lx__queue {
    lx_executor *executor;
    const char *name;   /**< Of its threads, which append their number. */
    bool spins;         /**< Whether its threads look for work a while before they sleep. */
    atomic_uint posted; /**< Changes whenever there is something to look at; written under the
                             lock, watched without by threads that spin. */

    pthread_mutex_t lock;
    pthread_cond_t wake;  /**< Workers: a task, an earlier timer, or the end. */
    pthread_cond_t ended; /**< Who closes: alive or guests may be 0. */
    lx__link tasks;       /**< Oldest first. */
    lx__link timers;      /**< Soonest first. */
    bool stopped;         /**< Nothing is taken any more. */

    uint32_t limit;       /**< Threads it may have. */
    uint32_t started;     /**< Threads it ever had: workers[0 .. started). */
    uint32_t reaped;      /**< Those of them that somebody joins or detached. */
    uint32_t alive;       /**< Those of them that have not ended. */
    uint32_t guests;      /**< Other threads within a callback of a task of this queue. */
    lx__waiters spinning; /**< Workers that spin, */
    lx__waiters asleep;   /**< and that sleep. */
    uint32_t unwoken;     /**< Of those asleep and called, the ones that others, which are about to
                               come back, will wake. */

    lx_queue_stats stats; /**< idle_ns has the sum of the times at which threads stopped to be
                               idle less those at which they began, modulo 2^64. */
    lx__worker workers[LX_MAX_READERS];
} lx__queue;

void lx__queue_init(lx__queue *queue, lx_executor *executor, const char *name, uint32_t limit,
                    bool spins);
void lx__queue_destroy(lx__queue *queue);

/** Adds @p task, now or at @p due if that is not 0. The lock is held. */
void lx__queue_add(lx__queue *queue, lx__task *task, uint64_t due);

/** Makes spinning threads look at the queue. Best without the lock, which they take at once. */
void lx__queue_post(lx__queue *queue);

/** The oldest task that has parts to hand out, or NULL. The lock is held. */
lx__task *lx__queue_first(lx__queue *queue);

/** When a waiting task is due, or LX__NEVER. The lock is held. */
uint64_t lx__queue_due(const lx__queue *queue);

/** Takes @p task out of its list, with what has not begun. True: there was something. The lock is
 * held, and the caller must finish the task if it has no holders. */
bool lx__queue_withdraw(lx__task *task);

/** Copies the statistics. */
void lx__queue_read_stats(lx__queue *queue, lx_queue_stats *stats);

#endif
