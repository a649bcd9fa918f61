/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What a thread is in the middle of: callbacks of tasks, nested where one waits for another.
 */
#ifndef LX_EXECUTOR_CALL_H
#define LX_EXECUTOR_CALL_H

#include "executor/queue.h"

/** One callback, or one thread's run of parts, on the stack of the thread. */
typedef struct lx__call {
    const lx_executor *executor;
    struct lx__call *outer;
} lx__call;

/** Whether this thread is within a callback of @p executor. */
bool lx__call_is_inside(const lx_executor *executor);

/**
 * Runs parts of @p task, which this thread holds, then lets go of it, and finishes it if it is
 * the last. The queue's lock is held when it is called and when it returns, not between. A guest is
 * a thread that helps, and not one of the queue's own.
 */
void lx__call_work(lx__queue *queue, lx__task *task, bool guest, uint64_t deadline);

/** Finishes @p task on a thread that canceled it; the lock as above. */
void lx__call_finish(lx__queue *queue, lx__task *task);

#endif
