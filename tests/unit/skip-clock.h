/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A monotonic clock whose time a test can skip, so that it need not wait, and can stop, so
 * that its result does not depend on how busy the machine is.
 *
 * The functions of the test program replace the C library's.
 */
#ifndef LX_TESTS_SKIP_CLOCK_H
#define LX_TESTS_SKIP_CLOCK_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CLOCK_SECOND 1000000000

/** The wait between two looks at the clock: time may be skipped meanwhile. */
#define CLOCK_LOOK (CLOCK_SECOND / 1000)

/** The time that was skipped, and at which the clock was stopped (0: it runs), in nanoseconds. */
static _Atomic int64_t clock_skipped, clock_stopped;

static inline int64_t clock_count(const struct timespec *time)
{
    return (int64_t)time->tv_sec * CLOCK_SECOND + time->tv_nsec;
}

static inline struct timespec clock_split(int64_t time)
{
    return (struct timespec){(time_t)(time / CLOCK_SECOND), (long)(time % CLOCK_SECOND)};
}

/** The time of the kernel. */
static inline int64_t clock_read(void)
{
    struct timespec time;
    (void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return clock_count(&time);
}

/** The time of the library. */
static inline int64_t clock_get(void)
{
    int64_t stopped = atomic_load(&clock_stopped);
    return (stopped != 0 ? stopped : clock_read()) + atomic_load(&clock_skipped);
}

static inline void clock_skip(int64_t nanoseconds)
{
    atomic_fetch_add(&clock_skipped, nanoseconds);
}

/** From now on, time passes only by clock_skip(). */
static inline void clock_stop(void)
{
    atomic_store(&clock_stopped, clock_read());
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (clock != CLOCK_MONOTONIC)
        return (int)syscall(SYS_clock_gettime, clock, time);
    *time = clock_split(clock_get());
    return 0;
}

/** Returns 0 after a while, as if another thread had woken this one. */
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock,
                           const struct timespec *until)
{
    struct timespec look = clock_split(CLOCK_LOOK);
    (void)condition;
    if (clock_get() >= clock_count(until))
        return ETIMEDOUT;
    pthread_mutex_unlock(lock);
    (void)nanosleep(&look, NULL);
    return pthread_mutex_lock(lock);
}

#endif
