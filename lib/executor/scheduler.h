/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Connects tasks and threads: submits tasks to a queue, starts the queue's threads, and
 * stops the queue.
 */
#ifndef LX_EXECUTOR_SCHEDULER_H
#define LX_EXECUTOR_SCHEDULER_H

#include "executor/queue.h"

/** Starts threads if needed, then queues @p task: now or, if @p due is not 0, at that time. */
lx_status lx__scheduler_submit(lx__queue *queue, lx__task *task, uint64_t due, lx_error *error);

/** Stops the queue: no task begins after this call, and all waiting tasks are canceled. */
void lx__scheduler_stop(lx__queue *queue);

/** Waits, after lx__scheduler_stop(), until no callback is running and all threads have ended. If
 * @p inside is set, because the caller is within a callback, detaches the threads instead and does
 * not wait. */
void lx__scheduler_join(lx__queue *queue, bool inside);

#endif
