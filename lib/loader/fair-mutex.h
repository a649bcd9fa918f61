/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief One thread at a time: a lock that is held for long, waited for with a limit, and that
 * can be ended while others still wait for it.
 */
#ifndef LX_LOADER_FAIR_MUTEX_H
#define LX_LOADER_FAIR_MUTEX_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "executor/clock.h"

typedef struct lx__turn {
    pthread_mutex_t mutex; /**< For what follows. A leaf. */
    pthread_cond_t changed;
    bool taken;
    size_t users; /**< Threads that have it or wait for it. */
} lx__turn;

void lx__turn_init(lx__turn *turn);

/** Waits for the turn until @p deadline (of clock.h); false: others had it all the time. */
bool lx__turn_take(lx__turn *turn, uint64_t deadline);

/** Gives it to another. */
void lx__turn_give(lx__turn *turn);

/** Waits until nobody has it or waits for it, and ends it. */
void lx__turn_end(lx__turn *turn);

#endif
