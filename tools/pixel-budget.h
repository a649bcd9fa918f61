/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Bounds how many pixels are decoded at once on all threads, and so their memory.
 */
#ifndef LX_TOOLS_PIXEL_BUDGET_H
#define LX_TOOLS_PIXEL_BUDGET_H

#include <pthread.h>
#include <stdint.h>

/** A budget; initialize it with #PIXEL_BUDGET_INIT. */
typedef struct pixel_budget {
    pthread_mutex_t mutex;
    pthread_cond_t given;
    uint64_t taken; /**< Guarded by the mutex. */
} pixel_budget;

#define PIXEL_BUDGET_INIT                                                                          \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0                                     \
    }

/** Waits until the pixels fit into the budget. More than the whole budget fit if nothing else is
 * taken. A thread must give back what it has taken before it takes again. */
void pixel_budget_take(pixel_budget *self, uint64_t pixels);

/** Gives back what pixel_budget_take() has taken. */
void pixel_budget_give(pixel_budget *self, uint64_t pixels);

#endif
