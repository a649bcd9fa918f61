/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The threads of a queue.
 */
#ifndef LX_EXECUTOR_WORKER_H
#define LX_EXECUTOR_WORKER_H

#include "executor/queue.h"

/** Starts one more thread; the queue's lock is held. The errno of the failure, or 0. */
int lx__worker_start(lx__queue *queue);

/** Tells threads that there is work for @p wanted of them; the lock is held. Returns how many are
 * to be woken, by lx__worker_wake() and best without the lock. */
uint32_t lx__worker_call(lx__queue *queue, size_t wanted);

/** Wakes @p count threads that sleep. */
void lx__worker_wake(lx__queue *queue, uint32_t count);

#endif
