/* SPDX-License-Identifier: MIT */
#include "executor/clock.h"

#include "workload.h"

START_TEST(time_goes_forward)
{
    uint64_t before = lx__clock_now();
    nap(2 * MILLISECOND);
    uint64_t after = lx__clock_now();
    ck_assert_uint_ge(after, before + 2 * MILLISECOND);
    ck_assert_uint_ge(lx__clock_after(SECOND), after + SECOND);
}
END_TEST

START_TEST(times_beyond_the_range_never_come)
{
    ck_assert_uint_eq(lx__clock_after(UINT64_MAX), LX__NEVER);
    ck_assert_uint_eq(lx__clock_after(UINT64_MAX - 1), LX__NEVER);
}
END_TEST

START_TEST(a_wait_ends_at_its_deadline)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition;
    lx__clock_condition(&condition);
    pthread_mutex_lock(&lock);
    ck_assert(!lx__clock_wait(&condition, &lock, 0));
    uint64_t deadline = lx__clock_after(20 * MILLISECOND);
    while (lx__clock_wait(&condition, &lock, deadline))
        ;
    ck_assert_uint_ge(lx__clock_now(), deadline);
    pthread_mutex_unlock(&lock);
    pthread_cond_destroy(&condition);
}
END_TEST

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t signaled;
static bool happened;

static void *signal_later(void *user)
{
    pthread_mutex_lock(&shared);
    happened = true;
    pthread_cond_signal(&signaled);
    pthread_mutex_unlock(&shared);
    return user;
}

START_TEST(a_wait_ends_when_signaled)
{
    static const uint64_t patience[] = {LX__NEVER - 1, LX__NEVER};
    lx__clock_condition(&signaled);
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        happened = false;
        pthread_mutex_lock(&shared);
        ck_assert_int_eq(pthread_create(&thread, NULL, signal_later, NULL), 0);
        while (!happened)
            ck_assert(lx__clock_wait(&signaled, &shared, patience[i]));
        pthread_mutex_unlock(&shared);
        pthread_join(thread, NULL);
    }
    pthread_cond_destroy(&signaled);
}
END_TEST

UNIT_MAIN("executor/clock", time_goes_forward, times_beyond_the_range_never_come,
          a_wait_ends_at_its_deadline, a_wait_ends_when_signaled)
