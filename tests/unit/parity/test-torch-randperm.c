/* SPDX-License-Identifier: MIT */
#include "parity/mt19937-jump.h"
#include "parity/torch-randperm.h"

#include "../unit.h"

START_TEST(matches_torch)
{
    static const uint32_t right[] = {4, 1, 7, 5, 3, 9, 0, 8, 6, 2};
    uint32_t indices[10];
    lx__mt19937 generator;
    lx__mt19937_seed(&generator, 0);
    lx__randperm(&generator, indices, 10);
    ck_assert_mem_eq(indices, right, sizeof right);
}
END_TEST

START_TEST(draws_the_announced_number_of_values)
{
    uint32_t indices[1000];
    for (uint64_t length = 0; length < 1000; length = length * 2 + 1) {
        lx__mt19937 one, other;
        lx__mt19937_seed(&one, 5);
        other = one;
        lx__randperm(&one, indices, length);
        lx__mt19937_skip(&other, lx__randperm_draws(length), 1);
        ck_assert_uint_eq(lx__mt19937_next(&one), lx__mt19937_next(&other));
    }
    ck_assert_uint_eq(lx__randperm_draws(LX__RANDPERM_LONG - 1), LX__RANDPERM_LONG - 2);
    ck_assert_uint_eq(lx__randperm_draws(LX__RANDPERM_LONG), UINT64_C(2) * LX__RANDPERM_LONG);
}
END_TEST

UNIT_MAIN("parity/torch-randperm", matches_torch, draws_the_announced_number_of_values)
