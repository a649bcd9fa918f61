/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A lock for long critical sections. A thread can wait for the lock until a deadline.
 * Destroying the lock waits until no thread holds it or waits for it.
 */
#ifndef LX_LOADER_FAIR_MUTEX_H
#define LX_LOADER_FAIR_MUTEX_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "executor/clock.h"

typedef struct lx__fair_mutex {
    pthread_mutex_t mutex; /**< Protects the members below. A leaf lock. */
    pthread_cond_t changed;
    bool locked;
    size_t users; /**< Number of threads that hold the lock or wait for it. */
} lx__fair_mutex;

void lx__fair_mutex_init(lx__fair_mutex *self);

/** Acquires the lock; returns false if @p deadline (see clock.h) passes first. */
bool lx__fair_mutex_lock(lx__fair_mutex *self, uint64_t deadline);

/** Releases the lock. */
void lx__fair_mutex_unlock(lx__fair_mutex *self);

/** Waits until no thread holds the lock or waits for it, then destroys it. */
void lx__fair_mutex_destroy(lx__fair_mutex *self);

#endif
