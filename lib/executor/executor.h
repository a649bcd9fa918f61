/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Operations for the layers above: submitting, helping with and canceling tasks.
 */
#ifndef LX_EXECUTOR_EXECUTOR_H
#define LX_EXECUTOR_EXECUTOR_H

#include "executor/task.h"

/** Replaces the reference in @p slot with a reference to @p executor, which may be NULL. */
static inline void lx__executor_replace(lx_executor **slot, lx_executor *executor)
{
    if (executor != NULL)
        lx_executor_ref(executor);
    lx_executor_unref(*slot);
    *slot = executor;
}

/**
 * Adds @p task to the end of @p queue. On failure, the caller keeps the task, and finish() is not
 * called.
 *
 * @retval LX_ERR_STATE   The executor is closed.
 * @retval LX_ERR_NOMEM   Out of memory while starting the queue's first thread.
 * @retval LX_ERR_IO      The system cannot start the queue's first thread.
 * @retval LX_ERR_FORKED  The calling process is a child of the process that opened the executor.
 */
LX_API lx_status lx__executor_submit(lx_executor *executor, lx_queue queue, lx__task *task,
                                     lx_error *error);

/**
 * Like lx__executor_submit(), but the task begins @p nanoseconds from now, or later if no thread is
 * free then. The queue must have threads. A waiting timed task does not delay closing: it is
 * canceled. The call takes time linear in the number of waiting timed tasks, so there should be
 * only a few of them.
 */
LX_API lx_status lx__executor_submit_after(lx_executor *executor, lx_queue queue, lx__task *task,
                                           uint64_t nanoseconds, lx_error *error);

/**
 * Cancels the parts of @p task that have not begun. Returns true if there were any; finish() is
 * then called with canceled set. If no part is running, finish() is called before this call
 * returns. Returns false if the task is not queued, or its last part has begun. In both cases, the
 * task may be queued again if finish() submits it.
 *
 * The memory of @p task must stay valid during the call, and the caller must not hold a lock that
 * finish() takes.
 */
LX_API bool lx__executor_cancel(lx_executor *executor, lx__task *task);

/**
 * Runs parts of @p task on this thread, regardless of other waiting tasks, until no part is left to
 * begin; finishes the task if this thread is the last to run a part. Returns at once if the task is
 * not queued. Other threads may still be running parts when this call returns: only finish() marks
 * the end of the task.
 *
 * The memory of @p task must stay valid during the call, even if other threads finish the task in
 * the meantime.
 */
LX_API void lx__executor_help(lx_executor *executor, lx__task *task);

/** Like lx__executor_help(), but runs at least one part and begins no further part after @p
 * deadline (see clock.h). */
LX_API void lx__executor_help_until(lx_executor *executor, lx__task *task, uint64_t deadline);

/** Whether a thread that waits for a task of @p queue must help with the task: if the queue has no
 * threads, or if this thread is inside a callback of the executor, because then all other threads
 * might be waiting, too. */
bool lx__executor_must_help(const lx_executor *executor, lx_queue queue);

/** Returns LX_ERR_FORKED in a process other than the one that opened @p executor; costs one
 * load. */
LX_API lx_status lx__executor_check(const lx_executor *executor, lx_error *error);

#endif
