/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Brings tasks and threads together: submits tasks to a queue, starts its threads, ends both.
 */
#ifndef LX_EXECUTOR_SCHEDULER_H
#define LX_EXECUTOR_SCHEDULER_H

#include "executor/queue.h"

/** Starts the threads that are needed, then queues @p task: now, or at @p due if that is not 0. */
lx_status lx__scheduler_submit(lx__queue *queue, lx__task *task, uint64_t due, lx_error *error);

/** Ends the queue: no task begins after this call, and every waiting one is canceled. */
void lx__scheduler_stop(lx__queue *queue);

/** After lx__scheduler_stop(): waits until no callback runs and all threads have ended. Within a
 * callback (@p inside) it detaches the threads and does not wait. */
void lx__scheduler_join(lx__queue *queue, bool inside);

#endif
