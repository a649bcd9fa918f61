/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A queue of tasks: the waiting tasks, and the threads that run them.
 */
#ifndef LX_EXECUTOR_QUEUE_H
#define LX_EXECUTOR_QUEUE_H

#include <pthread.h>

#include "executor/spinner.h"
#include "executor/task.h"

/** A thread of a queue. */
typedef struct lx__worker {
    struct lx__queue *queue;
    pthread_t thread;
    lx__spinner spinner; /**< Used by this thread only. */
} lx__worker;

/**
 * Threads that wait in the same way. They are interchangeable: it does not matter which of them
 * responds to a call, as long as the counts are right.
 */
typedef struct lx__waiters {
    uint32_t idle;   /**< Number of threads that are waiting and have not been called. */
    uint32_t called; /**< Number of threads that are still waiting but have been called for a
                          task. */
} lx__waiters;

/** A queue. @ref lock protects the members that follow it. */
typedef struct lx__queue {
    lx_executor *executor;
    const char *name;   /**< Prefix of the names of its threads; the thread's number follows it. */
    bool spins;         /**< Whether its threads spin for a while before they sleep. */
    atomic_uint posted; /**< Incremented when there may be work; spinning threads watch it without
                             the lock. */

    pthread_mutex_t lock;
    pthread_cond_t wake;  /**< Wakes workers: there is a task or an earlier timer, or the queue was
                               stopped. */
    pthread_cond_t ended; /**< Wakes threads that are closing the executor: alive or guests may have
                               become 0. */
    lx__link tasks;       /**< Oldest first. */
    lx__link timers;      /**< Soonest first. */
    bool stopped;         /**< No more tasks are accepted. */

    uint32_t limit;       /**< Maximum number of threads. */
    uint32_t started;     /**< Number of threads started so far: workers[0 .. started). */
    uint32_t reaped;      /**< Number of threads that are being or have been joined or detached:
                               workers[0 .. reaped). */
    uint32_t alive;       /**< Number of started threads that have not ended. */
    uint32_t guests;      /**< Number of threads other than the queue's own that are inside a
                               callback of one of its tasks. */
    lx__waiters spinning; /**< Spinning workers. */
    lx__waiters asleep;   /**< Sleeping workers. */
    uint32_t unwoken;     /**< Number of sleeping workers that have been called but not woken: each
                               worker that wakes up wakes the next. */

    lx_queue_stats stats; /**< idle_ns is the sum of the times at which threads stopped being idle,
                               minus the sum of the times at which they became idle, modulo 2^64. */
    lx__worker workers[LX_MAX_READERS];
} lx__queue;

void lx__queue_init(lx__queue *queue, lx_executor *executor, const char *name, uint32_t limit,
                    bool spins);
void lx__queue_destroy(lx__queue *queue);

/** Adds @p task now or, if @p due is not 0, at that time. The caller holds the lock. */
void lx__queue_add(lx__queue *queue, lx__task *task, uint64_t due);

/** Makes spinning threads check the queue. Preferably called without the lock, because those
 * threads take it. */
void lx__queue_post(lx__queue *queue);

/** Returns the oldest task with parts left to run, or NULL. The caller holds the lock. */
lx__task *lx__queue_first(lx__queue *queue);

/** Returns the earliest time at which a timed task is due, or LX__NEVER. The caller holds the
 * lock. */
uint64_t lx__queue_due(const lx__queue *queue);

/** Removes @p task, with its parts that have not begun, from its list. Returns true if there were
 * such parts. The caller holds the lock, and must finish the task if it has no holders. */
bool lx__queue_withdraw(lx__task *task);

/** Copies the statistics. */
void lx__queue_read_stats(lx__queue *queue, lx_queue_stats *stats);

#endif
