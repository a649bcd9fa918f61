/* SPDX-License-Identifier: MIT */
#include "remote/queue/outage.h"

#include "../../unit.h"

#define SECOND ((uint64_t)1000000000)

START_TEST(a_short_outage_is_not_logged)
{
    lx__outage outage = {0};
    for (uint64_t s = 100; s < 110; s++)
        ck_assert_uint_eq(lx__outage_fail(&outage, s * SECOND), 0);
    ck_assert_uint_eq(lx__outage_succeed(&outage, 110 * SECOND), 0);
    ck_assert_uint_eq(lx__outage_fail(&outage, 111 * SECOND), 0); /* another one */
    ck_assert_uint_eq(lx__outage_fail(&outage, 120 * SECOND), 0);
}
END_TEST

START_TEST(a_long_outage_is_logged_each_minute_and_when_it_ends)
{
    lx__outage outage = {0};
    unsigned logged = 0;
    for (uint64_t s = 100; s <= 100 + 200; s++) {
        uint64_t seconds = lx__outage_fail(&outage, s * SECOND);
        if (seconds == 0)
            continue;
        ck_assert_uint_eq(seconds, 10 + 60 * logged);
        ck_assert_uint_eq(seconds, s - 100);
        logged++;
    }
    ck_assert_uint_eq(logged, 4);
    ck_assert_uint_eq(lx__outage_succeed(&outage, 310 * SECOND), 210);
    ck_assert_uint_eq(lx__outage_succeed(&outage, 311 * SECOND), 0);
}
END_TEST

UNIT_MAIN("remote/queue/outage", a_short_outage_is_not_logged,
          a_long_outage_is_logged_each_minute_and_when_it_ends)
