/* SPDX-License-Identifier: MIT */
#include "sampler/random/logarithm.h"

#include <stdlib.h>

#include "../../unit.h"
#include "../statistics.h"

START_TEST(powers_of_two_are_exact)
{
    for (unsigned i = 0; i < 64; i++)
        ck_assert_uint_eq(lx__logarithm(UINT64_C(1) << i), i * LX__LOGARITHM_ONE);
}
END_TEST

/* A double holds the upper 53 of 63 bits, so larger values are compared with a tolerance of some
 * hundred units. */
START_TEST(matches_the_c_library)
{
    uint64_t state = 1;
    for (int i = 0; i < 100000; i++) {
        uint64_t number = next_choice(&state) >> next_choice(&state) % 64;
        if (number == 0)
            continue;
        double expected = (double)log2l((long double)number) * (double)LX__LOGARITHM_ONE;
        ck_assert_double_eq_tol((double)lx__logarithm(number), expected, 2048);
    }
}
END_TEST

static void expect_ascending(uint64_t around, uint64_t reach)
{
    uint64_t last = lx__logarithm(around - reach);
    for (uint64_t number = around - reach + 1; number <= around + reach && number != 0; number++) {
        uint64_t now = lx__logarithm(number);
        ck_assert_uint_ge(now, last);
        last = now;
    }
}

START_TEST(never_decreases)
{
    expect_ascending(100000, 99999);
    for (uint64_t i = 1; i < 256; i++) /* where the table goes to the next entry */
        expect_ascending((256 + i) << 55, 100);
    expect_ascending(UINT64_MAX - 50000, 50000);
    expect_ascending(UINT64_C(1) << 63, 50000);
}
END_TEST

/* Numbers near 2^64 have a logarithm near 64, but below: lifetimes are above 0. */
START_TEST(result_is_below_next_power_of_two)
{
    ck_assert_uint_lt(lx__logarithm(UINT64_MAX), 64 * LX__LOGARITHM_ONE);
    for (unsigned i = 6; i < 64; i++)
        ck_assert_uint_le(lx__logarithm((UINT64_C(1) << i) - 1), i * LX__LOGARITHM_ONE);
}
END_TEST

UNIT_MAIN("sampler/logarithm", powers_of_two_are_exact, matches_the_c_library, never_decreases,
          result_is_below_next_power_of_two)
