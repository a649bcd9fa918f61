/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The threads of a queue.
 */
#ifndef LX_EXECUTOR_WORKER_H
#define LX_EXECUTOR_WORKER_H

#include "executor/queue.h"

/** Starts one more thread; the caller holds the queue's lock. Returns 0 or an errno. */
int lx__worker_start(lx__queue *queue);

/** Calls up to @p wanted waiting threads; the caller holds the lock. Returns the number of threads
 * to wake with lx__worker_wake(), preferably without the lock. */
uint32_t lx__worker_call(lx__queue *queue, size_t wanted);

/** Wakes @p count sleeping threads. */
void lx__worker_wake(lx__queue *queue, uint32_t count);

#endif
