/* SPDX-License-Identifier: MIT */
#include "remote/queue/durations.h"

#include "../../unit.h"

#define SECOND ((uint64_t)1000000000)

START_TEST(short_reads_straggle_after_the_shortest_time)
{
    lx__durations durations = {0};
    ck_assert_uint_eq(lx__durations_get_longest(&durations), LX__STRAGGLES_AFTER);
    lx__durations_add(&durations, SECOND / 10);
    ck_assert_uint_eq(lx__durations_get_longest(&durations), LX__STRAGGLES_AFTER);
}
END_TEST

START_TEST(long_reads_straggle_after_three_times_the_95th_percentile)
{
    lx__durations durations = {0};
    for (uint64_t i = 0; i < LX__DURATIONS; i++) /* 2 of 64 took very long */
        lx__durations_add(&durations, i % 32 == 0 ? 100 * SECOND : (1 + i % 4) * SECOND);
    ck_assert_uint_eq(lx__durations_get_longest(&durations), 12 * SECOND);
    for (uint64_t i = 0; i < LX__DURATIONS; i++) /* the earlier ones are forgotten */
        lx__durations_add(&durations, SECOND);
    ck_assert_uint_eq(lx__durations_get_longest(&durations), 3 * SECOND);
}
END_TEST

UNIT_MAIN("remote/queue/durations", short_reads_straggle_after_the_shortest_time,
          long_reads_straggle_after_three_times_the_95th_percentile)
