/* SPDX-License-Identifier: MIT */
#include "remote/queue/backoff.h"

#include "base/error.h"

#include "../../unit.h"

START_TEST(pauses_are_random_and_their_limit_doubles_up_to_20_seconds)
{
    uint64_t random = 1;
    for (unsigned attempts = 1; attempts <= 100; attempts++) {
        uint64_t limit = attempts <= 8 ? (uint64_t)100000000 << (attempts - 1) : LX__LONGEST_PAUSE;
        uint64_t least = limit, most = 0;
        for (int i = 0; i < 1000; i++) {
            uint64_t pause = lx__backoff_get_pause(&random, attempts);
            least = pause < least ? pause : least;
            most = pause > most ? pause : most;
        }
        ck_assert_uint_le(most, limit);
        ck_assert_uint_ge(most, limit / 10 * 9);
        ck_assert_uint_le(least, limit / 10);
    }
    ck_assert_uint_le(lx__backoff_get_pause(&random, UINT32_MAX), LX__LONGEST_PAUSE);
}
END_TEST

START_TEST(an_error_tells_the_effort)
{
    static const struct {
        unsigned attempts;
        uint64_t seconds;
        const char *message;
    } cases[] = {{1, 5, "lost"},
                 {2, 0, "lost; tried 2 times in 0.0 s"},
                 {9, 119, "lost; tried 9 times in 119.0 s"},
                 {90, 1800, "lost; tried 90 times in 30 minutes"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lx_error error = LX_ERROR_INIT;
        lx_fail(&error, LX_ERR_IO, "lost");
        lx__backoff_append_effort(&error, cases[i].attempts, cases[i].seconds * 1000000000);
        ck_assert_str_eq(error.message, cases[i].message);
    }
}
END_TEST

UNIT_MAIN("remote/queue/backoff", an_error_tells_the_effort,
          pauses_are_random_and_their_limit_doubles_up_to_20_seconds)
