/* SPDX-License-Identifier: MIT */
#include "executor/clock.h"

#include <errno.h>
#include <time.h>

#define SECOND 1000000000u

uint64_t lx__clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

uint64_t lx__clock_after(uint64_t delay)
{
    uint64_t now = lx__clock_now();
    return delay < LX__NEVER - now ? now + delay : LX__NEVER;
}

void lx__clock_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

bool lx__clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t deadline)
{
    if (deadline == LX__NEVER) {
        pthread_cond_wait(condition, lock);
        return true;
    }
    struct timespec until = {(time_t)(deadline / SECOND), (long)(deadline % SECOND)};
    return pthread_cond_timedwait(condition, lock, &until) != ETIMEDOUT;
}
