/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A lock for long critical sections: waits have a deadline, and its end waits for the
 * threads that still wait for the lock.
 */
#ifndef LX_LOADER_FAIR_MUTEX_H
#define LX_LOADER_FAIR_MUTEX_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "executor/clock.h"

typedef struct lx__turn {
    pthread_mutex_t mutex; /**< Protects the members below. A leaf lock. */
    pthread_cond_t changed;
    bool taken;
    size_t users; /**< Threads that hold the lock or wait for it. */
} lx__turn;

void lx__turn_init(lx__turn *turn);

/** Acquires the lock; false if @p deadline (of clock.h) passes first. */
bool lx__turn_take(lx__turn *turn, uint64_t deadline);

/** Releases the lock. */
void lx__turn_give(lx__turn *turn);

/** Waits until no thread holds the lock or waits for it, then destroys it. */
void lx__turn_end(lx__turn *turn);

#endif
