/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Monotonic time in nanoseconds, and timed waits.
 */
#ifndef LX_EXECUTOR_CLOCK_H
#define LX_EXECUTOR_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <loaderx/export.h>

/** A time that is never reached. */
#define LX__NEVER UINT64_MAX

/** Returns the number of nanoseconds since an arbitrary point in time. */
LX_API uint64_t lx__clock_now(void);

/** Returns the time @p delay nanoseconds from now; #LX__NEVER if that overflows. */
LX_API uint64_t lx__clock_after(uint64_t delay);

/** Initializes a condition for lx__clock_wait(). */
LX_API void lx__clock_condition(pthread_cond_t *condition);

/**
 * Waits for @p condition until @p deadline, or without a limit if @p deadline is #LX__NEVER.
 * Spurious wake-ups are possible. Returns false if the deadline has passed.
 */
LX_API bool lx__clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t deadline);

#endif
