/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Tasks as the layers above use them: embedded in their owner, submitted without malloc.
 *
 * A task runs once per part, several parts at a time on several threads; then it is finished,
 * once. From lx__executor_submit() until finish() is called its memory belongs to the executor;
 * from then on it may be freed, changed, or submitted again, from within finish() too.
 *
 * No lock is held while run() or finish() runs. All that happened before the submit is seen by
 * run(), and all that any run() did is seen by finish().
 */
#ifndef LX_EXECUTOR_TASK_H
#define LX_EXECUTOR_TASK_H

#include <stdatomic.h>
#include <stdbool.h>

#include <loaderx/executor.h>

#include "executor/list.h"

typedef struct lx__task lx__task;

/** Where a task is; under its queue's lock. */
typedef enum lx__task_state {
    LX__TASK_FREE = 0, /**< With its owner, or on threads that have taken the last of its parts. */
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
    /** @name The executor's own */
    /** @{ */
    atomic_size_t next;                /**< Next part to be handed out; beyond parts: none is left.
                                            Relaxed: the lock orders all but the count itself. */
    _Atomic(struct lx__queue *) queue; /**< Where it was submitted last. */
    lx__link link;                     /**< In the queue's tasks or timers; under its lock, as are
                                            all that follow. */
    uint64_t due;                      /**< When a waiting task is to be queued. */
    uint32_t holders;                  /**< Threads that take parts of it. Who is the last to go
                                            once it is in no list finishes it. */
    lx__task_state state;
    bool canceled; /**< Parts of it were taken away. */
    /** @} */
};

/**
 * Makes a task. It is done once; submitting again needs no more than the owner's fields changed.
 *
 * @param run     Called for each of 0 .. @p parts - 1, in that order but at the same time.
 * @param finish  Called after the last part, on the thread that ran it, or on the one that
 *                canceled; @p canceled tells that parts were not run for that reason.
 * @param parts   1 to SIZE_MAX / 2.
 */
static inline void lx__task_init(lx__task *task, void (*run)(lx__task *, size_t),
                                 void (*finish)(lx__task *, bool), size_t parts)
{
    *task = (lx__task){.run = run, .finish = finish, .parts = parts};
}

/** From within run(): no further part begins. Those that have begun go on to their end; finish()
 * does not call that canceled. */
static inline void lx__task_stop(lx__task *task)
{
    atomic_store_explicit(&task->next, task->parts, memory_order_relaxed);
}

#endif
