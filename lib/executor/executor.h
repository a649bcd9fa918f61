/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What the layers above do with an executor: they submit tasks, help them, and cancel them.
 */
#ifndef LX_EXECUTOR_EXECUTOR_H
#define LX_EXECUTOR_EXECUTOR_H

#include "executor/task.h"

/** Puts a reference to @p executor, which may be NULL, in the place of the one in @p slot. */
static inline void lx__executor_replace(lx_executor **slot, lx_executor *executor)
{
    if (executor != NULL)
        lx_executor_ref(executor);
    lx_executor_unref(*slot);
    *slot = executor;
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

#endif
