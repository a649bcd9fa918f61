/* SPDX-License-Identifier: MIT */
#include "parity/mt19937-jump.h"
#include "parity/mt19937.h"

#include "../unit.h"
#include "../sampler/statistics.h"

/* The check value of the C++ standard (26.6.5), for the default seed. */
START_TEST(matches_the_ten_thousandth_number)
{
    lx__mt19937 generator;
    uint32_t number = 0;
    lx__mt19937_seed(&generator, 5489);
    for (int i = 0; i < 10000; i++)
        number = lx__mt19937_next(&generator);
    ck_assert_uint_eq(number, 4123659995u);
}
END_TEST

static void expect_alike(lx__mt19937 *a, lx__mt19937 *b)
{
    for (int i = 0; i < 2000; i++)
        ck_assert_uint_eq(lx__mt19937_next(a), lx__mt19937_next(b));
}

START_TEST(skipping_equals_drawing)
{
    static const uint64_t counts[] = {0, 1, 5, 623, 624, 625, 1248, 100000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int before = 0; before < 1300; before += 311) {
            lx__mt19937 one, other;
            lx__mt19937_seed(&one, 42);
            for (int k = 0; k < before; k++)
                lx__mt19937_next(&one);
            other = one;
            for (uint64_t k = 0; k < counts[i]; k++)
                lx__mt19937_next(&one);
            lx__mt19937_skip(&other, counts[i], 1);
            expect_alike(&one, &other);
        }
}
END_TEST

START_TEST(a_jump_equals_steps)
{
    static const uint64_t counts[] = {0, 1, 2, 623, 624, 1000, 19936, 19937, 19938, 40000, 1000003};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        lx__mt19937 one, other;
        lx__mt19937_seed(&one, (uint32_t)i);
        other = one;
        lx__mt19937_jump(&one, 0, counts[i]);
        for (uint64_t k = 0; k < counts[i]; k++)
            lx__mt19937_next(&other);
        expect_alike(&one, &other);
    }
}
END_TEST

/* Far ahead, where single steps would take too long: two ways to skip there must agree. */
START_TEST(jumps_add_up)
{
    uint64_t state = 9;
    for (int round = 0; round < 5; round++) {
        uint64_t first = next_choice(&state) >> 1, second = next_choice(&state) >> 1;
        lx__mt19937 one, other;
        lx__mt19937_seed(&one, 7);
        other = one;
        lx__mt19937_skip(&one, first + second, 1);
        lx__mt19937_skip(&other, 1, second);
        lx__mt19937_skip(&other, first, 1);
        expect_alike(&one, &other);
        lx__mt19937_skip(&one, first, 5);
        for (int i = 0; i < 5; i++)
            lx__mt19937_skip(&other, first, 1);
        expect_alike(&one, &other);
    }
}
END_TEST

UNIT_MAIN("parity/mt19937", matches_the_ten_thousandth_number, skipping_equals_drawing,
          a_jump_equals_steps, jumps_add_up)
