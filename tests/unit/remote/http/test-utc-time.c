/* SPDX-License-Identifier: MIT */
#include "remote/http/utc-time.h"

#include "../../unit.h"

START_TEST(times_in_utc_are_parsed)
{
    static const char *const good[] = {"2026-11-26T23:39:33Z", "2026-11-26T23:39:33.125Z",
                                       "2026-11-26T23:39:33+00:00"};
    static const char *const bad[] = {
        "",  "2026-11-26",          "2026-11-26T23:39:33", "2026-11-26T23:39:33+01:00",
        "x", "1901-01-01T00:00:00Z"};
    uint64_t seconds = 0;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert(lx__utc_time_parse(good[i], &seconds));
        ck_assert_uint_eq(seconds, 1795736373);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!lx__utc_time_parse(bad[i], &seconds), "%s", bad[i]);
}
END_TEST

UNIT_MAIN("remote/http/utc-time", times_in_utc_are_parsed)
