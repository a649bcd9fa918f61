/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The callbacks that a thread is executing; they nest when a callback waits for another
 * task.
 */
#ifndef LX_EXECUTOR_CALL_H
#define LX_EXECUTOR_CALL_H

#include "executor/queue.h"

/** One callback, or one sequence of parts, on the stack of the thread. */
typedef struct lx__call {
    const lx_executor *executor;
    struct lx__call *outer;
} lx__call;

/** Whether this thread is executing a callback of @p executor. */
bool lx__call_is_inside(const lx_executor *executor);

/**
 * Runs parts of @p task, which this thread holds, then drops the hold, and finishes the task if
 * that was the last hold. The caller holds the queue's lock; it is released while callbacks run. @p
 * guest means that the thread is not one of the queue's own but helps with the task.
 */
void lx__call_run_parts(lx__queue *queue, lx__task *task, bool guest, uint64_t deadline);

/** Finishes @p task on the thread that canceled it. As above, the caller holds the queue's lock. */
void lx__call_finish(lx__queue *queue, lx__task *task);

#endif
