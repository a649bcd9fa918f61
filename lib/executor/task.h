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

/**
 * Gives @p task to @p queue, behind those that are there. On failure it stays with the caller and
 * finish() is not called.
 *
 * @retval LX_ERR_STATE   The executor is closed.
 * @retval LX_ERR_NOMEM   There is no memory for the queue's first thread.
 * @retval LX_ERR_IO      The system would not start the queue's first thread.
 * @retval LX_ERR_FORKED  This is a child process.
 */
LX_API lx_status lx__executor_submit(lx_executor *executor, lx_queue queue, lx__task *task,
                                     lx_error *error);

/**
 * As lx__executor_submit(), @p nanoseconds from now, or later where no thread is free then. The
 * queue must have threads. A task that waits keeps nobody from closing: it is canceled.
 * Costs a walk over the tasks that wait: meant for a few of them.
 */
LX_API lx_status lx__executor_submit_after(lx_executor *executor, lx_queue queue, lx__task *task,
                                           uint64_t nanoseconds, lx_error *error);

/**
 * Takes away what of @p task has not begun. True: there was something, and finish() is called with
 * canceled, before the return where nothing of it runs. False: it is not queued, or its last part
 * has begun. A task that finish() submits again may be queued again after either answer.
 *
 * The memory of @p task must stay during the call, and the caller hold no lock that finish() takes.
 */
LX_API bool lx__executor_cancel(lx_executor *executor, lx__task *task);

/**
 * Runs parts of @p task on this thread, whatever else waits, until none is left; finishes it if
 * this thread is the last. Returns at once where it is not queued. Others may still run parts
 * of it: what happens in finish() says when it is over.
 *
 * The memory of @p task must stay during the call, even if others finish it meanwhile.
 */
LX_API void lx__executor_help(lx_executor *executor, lx__task *task);

/** As lx__executor_help(): one part at least, and none begun after @p deadline (of clock.h). */
LX_API void lx__executor_help_until(lx_executor *executor, lx__task *task, uint64_t deadline);

/** Whether a thread that waits for a task of @p queue must help it: the queue has no threads, or
 * this thread is within a callback of the executor, so that other threads might wait as well. */
bool lx__executor_must_help(const lx_executor *executor, lx_queue queue);

/** LX_ERR_FORKED in a process other than the one that opened @p executor; costs a load. */
LX_API lx_status lx__executor_check(const lx_executor *executor, lx_error *error);

/** Whether nothing of the ticket's task runs or will run. */
LX_API bool lx__ticket_is_over(lx_ticket *ticket);

/** Keeps the memory of an executor, not its threads: for what may outlive its last user. */
LX_API void lx__executor_hold(lx_executor *executor);

/** Undoes lx__executor_hold(). */
LX_API void lx__executor_release(lx_executor *executor);

/** Puts a reference to @p executor, which may be NULL, in the place of the one in @p slot. */
static inline void lx__executor_replace(lx_executor **slot, lx_executor *executor)
{
    if (executor != NULL)
        lx_executor_ref(executor);
    lx_executor_unref(*slot);
    *slot = executor;
}

#endif
