/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Time in nanoseconds of the clock that is never set, and waiting by it.
 */
#ifndef LX_EXECUTOR_CLOCK_H
#define LX_EXECUTOR_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <loaderx/export.h>

/** A time that does not come. */
#define LX__NEVER UINT64_MAX

/** Nanoseconds since an arbitrary start. */
LX_API uint64_t lx__clock_now(void);

/** The time @p delay nanoseconds from now; #LX__NEVER where that is beyond all times. */
LX_API uint64_t lx__clock_after(uint64_t delay);

/** Makes a condition for lx__clock_wait(). */
LX_API void lx__clock_condition(pthread_cond_t *condition);

/**
 * Waits for @p condition until @p deadline; without a limit when that is #LX__NEVER. As always with
 * conditions it may return for no reason. False: the deadline has passed.
 */
LX_API bool lx__clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t deadline);

#endif
