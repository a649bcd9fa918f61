/* SPDX-License-Identifier: MIT */
#include "sampler/random/wide-arithmetic.h"

#include "../../unit.h"
#include "../statistics.h"

static const uint64_t edges[] = {0,
                                 1,
                                 2,
                                 3,
                                 0xffffffffu,
                                 0x100000000u,
                                 0x100000001u,
                                 0x7fffffffffffffffu,
                                 0x8000000000000000u,
                                 0xfffffffffffffffeu,
                                 0xffffffffffffffffu,
                                 0xd2b74407b1ce6e93u};
#define EDGES (sizeof edges / sizeof *edges)

START_TEST(products_are_exact)
{
    uint64_t high;
    ck_assert_uint_eq(lx__multiply_wide(UINT64_MAX, UINT64_MAX, &high), 1);
    ck_assert_uint_eq(high, UINT64_MAX - 1);
    ck_assert_uint_eq(lx__multiply_wide(1ull << 63, 6, &high), 0);
    ck_assert_uint_eq(high, 3);
    for (size_t i = 0; i < EDGES; i++) {
        for (size_t j = 0; j < EDGES; j++) {
            uint64_t by_parts;
            ck_assert_uint_eq(lx__multiply_wide(edges[i], edges[j], &high),
                              lx__multiply_wide_parts(edges[i], edges[j], &by_parts));
            ck_assert_uint_eq(high, by_parts);
        }
    }
}
END_TEST

START_TEST(remainders_do_not_overflow)
{
    ck_assert_uint_eq(lx__add_mod(UINT64_MAX - 1, UINT64_MAX - 1, UINT64_MAX), UINT64_MAX - 2);
    ck_assert_uint_eq(lx__add_mod(0, 0, 1), 0);
}
END_TEST

START_TEST(quotients_are_exact)
{
    uint64_t state = 2;
    ck_assert_uint_eq(lx__divide_wide(0, 7, 2), 3);
    ck_assert_uint_eq(lx__divide_wide(1, 0, 2), 1ull << 63);
    ck_assert_uint_eq(lx__divide_wide(UINT64_MAX - 1, UINT64_MAX, UINT64_MAX), UINT64_MAX);
    for (int i = 0; i < 10000; i++) {
        uint64_t divisor = next_choice(&state) >> i % 64, quotient = next_choice(&state);
        divisor = divisor != 0 ? divisor : 1;
        uint64_t high, low = lx__multiply_wide(divisor, quotient, &high), rest = low % divisor;
        high += low + rest < low; /* some more than the product */
        low += rest;
        ck_assert_uint_eq(lx__divide_wide(high, low, divisor), quotient);
        ck_assert_uint_eq(lx__divide_wide_bits(high, low, divisor), quotient);
    }
}
END_TEST

START_TEST(random_products_agree)
{
    uint64_t state = 1;
    for (int i = 0; i < 100000; i++) {
        uint64_t a = next_choice(&state), b = next_choice(&state), high, by_parts;
        ck_assert_uint_eq(lx__multiply_wide(a, b, &high), lx__multiply_wide_parts(a, b, &by_parts));
        ck_assert_uint_eq(high, by_parts);
    }
}
END_TEST

START_TEST(choices_fill_their_range)
{
    ck_assert_uint_eq(lx__draw_below(UINT64_MAX, 1), 0);
    ck_assert_uint_eq(lx__draw_below(0, UINT64_MAX), 0);
    ck_assert_uint_eq(lx__draw_below(UINT64_MAX, UINT64_MAX), UINT64_MAX - 1);
    ck_assert_uint_eq(lx__draw_below(UINT64_MAX, 10), 9);
    ck_assert_uint_eq(lx__draw_below(1ull << 63, 10), 5);
    ck_assert_uint_eq(lx__draw_below((1ull << 63) - 1, 10), 4);
}
END_TEST

UNIT_MAIN("sampler/wide-arithmetic", products_are_exact, remainders_do_not_overflow,
          quotients_are_exact, random_products_agree, choices_fill_their_range)
