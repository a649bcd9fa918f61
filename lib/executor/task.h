/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Tasks as the layers above use them: they are embedded in their owner, and submitting them
 * allocates no memory.
 *
 * A task runs once for each of its parts; several threads may run parts at the same time. The task
 * is then finished exactly once. From lx__executor_submit() until finish() is called, the executor
 * owns the task's memory; after that, the task may be freed, changed or submitted again, even from
 * within finish().
 *
 * No lock is held while run() or finish() runs. run() sees all writes made before the task was
 * submitted, and finish() sees all writes of every run().
 */
#ifndef LX_EXECUTOR_TASK_H
#define LX_EXECUTOR_TASK_H

#include <stdatomic.h>
#include <stdbool.h>

#include <loaderx/executor.h>

#include "executor/list.h"

typedef struct lx__task lx__task;

/** Where a task is; protected by its queue's lock. */
typedef enum lx__task_state {
    LX__TASK_FREE = 0, /**< Held by its owner, or by the threads that are running its last parts. */
    LX__TASK_WAITING,  /**< In the queue's timers. */
    LX__TASK_QUEUED    /**< In the queue's tasks. */
} lx__task_state;

struct lx__task {
    /** @name Set by the owner, see lx__task_init() */
    /** @{ */
    void (*run)(lx__task *task, size_t part);
    void (*finish)(lx__task *task, bool canceled);
    size_t parts;
    /** @} */
    /** @name Private to the executor */
    /** @{ */
    atomic_size_t next;                /**< The next part to run; no part is left if it is at least
                                            @ref parts. Accesses are relaxed: the lock orders
                                            everything except the count itself. */
    _Atomic(struct lx__queue *) queue; /**< The queue it was last submitted to. */
    lx__link link;                     /**< Link in the queue's list of tasks or of timers. The
                                            queue's lock protects it and all members below. */
    uint64_t due;                      /**< The time at which a timed task is queued. */
    uint32_t holders;                  /**< Number of threads that are running its parts. Once the
                                            task is out of the lists, the last of these threads to
                                            leave finishes it. */
    lx__task_state state;
    bool canceled; /**< Some of its parts were canceled. */
    /** @} */
};

/**
 * Initializes a task. This is needed only once: to submit the task again, change only those of the
 * owner's fields that must differ.
 *
 * @param run     Called for each part, 0 .. @p parts - 1. The calls start in that order but may run
 *                concurrently.
 * @param finish  Called after the last part, on the thread that ran that part or on the thread that
 *                canceled the task; @p canceled means that some parts were canceled before they
 *                began.
 * @param parts   1 to SIZE_MAX / 2.
 */
static inline void lx__task_init(lx__task *task, void (*run)(lx__task *, size_t),
                                 void (*finish)(lx__task *, bool), size_t parts)
{
    *task = (lx__task){.run = run, .finish = finish, .parts = parts};
}

/** Prevents further parts from beginning; for use within run(). Parts that have begun run to
 * completion. finish() does not report the other parts as canceled. */
static inline void lx__task_stop(lx__task *task)
{
    atomic_store_explicit(&task->next, task->parts, memory_order_relaxed);
}

#endif
