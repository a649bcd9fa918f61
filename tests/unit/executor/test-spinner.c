/* SPDX-License-Identifier: MIT */
#include "executor/spinner.h"

#include "workload.h"

START_TEST(sees_a_change_at_once)
{
    atomic_uint watched = 7;
    ck_assert(lx__spinner_watch(&watched, 6));
    ck_assert(lx__spinner_watch(&watched, 8));
}
END_TEST

START_TEST(stops_spinning_without_a_change)
{
    atomic_uint watched = 7;
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 100; i++) { /* at least one of which is not interrupted */
        uint64_t before = lx__clock_now();
        ck_assert(!lx__spinner_watch(&watched, 7));
        uint64_t took = lx__clock_now() - before;
        least = took < least ? took : least;
    }
    ck_assert_uint_ge(least, 20000);
    ck_assert_uint_lt(least, 10 * MILLISECOND);
}
END_TEST

static void *count_up(void *user)
{
    nap(2 * MILLISECOND);
    atomic_fetch_add((atomic_uint *)user, 1);
    return NULL;
}

START_TEST(sees_a_change_by_another_thread)
{
    atomic_uint watched = 0;
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, count_up, &watched), 0);
    while (!lx__spinner_watch(&watched, 0))
        ;
    ck_assert_uint_eq(atomic_load(&watched), 1);
    pthread_join(thread, NULL);
}
END_TEST

/** The number of pauses that sleep, until the next one that does not. */
static unsigned skipped(lx__spinner *spinner)
{
    unsigned count = 0;
    while (!lx__spinner_try(spinner))
        count++;
    return count;
}

START_TEST(spins_less_after_spinning_in_vain)
{
    static const unsigned expected[] = {1, 3, 7, 15, 31, 63, 63, 63};
    lx__spinner spinner = {0, 0};
    ck_assert_uint_eq(skipped(&spinner), 0);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        lx__spinner_learn(&spinner, false);
        ck_assert_uint_eq(skipped(&spinner), expected[i]);
    }
    lx__spinner_learn(&spinner, true);
    ck_assert_uint_eq(skipped(&spinner), 0);
    lx__spinner_learn(&spinner, true);
    ck_assert_uint_eq(skipped(&spinner), 0);
    lx__spinner_learn(&spinner, false);
    ck_assert_uint_eq(skipped(&spinner), 1);
}
END_TEST

UNIT_MAIN("executor/spinner", sees_a_change_at_once, stops_spinning_without_a_change,
          sees_a_change_by_another_thread, spins_less_after_spinning_in_vain)
