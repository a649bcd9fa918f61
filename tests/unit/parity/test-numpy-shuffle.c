/* SPDX-License-Identifier: MIT */
#include "parity/numpy-shuffle.h"

#include <stdlib.h>

#include "../unit.h"

static void shuffle(lx__mt19937 *generator, bool wide, uint64_t *numbers, uint64_t count)
{
    uint32_t *narrow = malloc((count + 1) * sizeof *narrow);
    for (uint64_t i = 0; i < count; i++) {
        numbers[i] = i;
        narrow[i] = (uint32_t)i;
    }
    if (wide)
        lx__random_state_shuffle64(generator, numbers, count);
    else
        lx__random_state_shuffle32(generator, narrow, count);
    for (uint64_t i = 0; !wide && i < count; i++)
        numbers[i] = narrow[i];
    free(narrow);
}

/* The results of numpy.random.RandomState(1234) for arange(20), and then for arange(5). */
START_TEST(matches_a_shuffle_of_numpy)
{
    static const uint64_t twenty[] = {3,  13, 2,  16, 14, 5, 4,  0,  8, 18,
                                      17, 11, 10, 9,  7,  1, 19, 12, 6, 15},
                          five[] = {4, 1, 3, 0, 2};
    for (int wide = 0; wide < 2; wide++) {
        uint64_t numbers[20];
        lx__mt19937 generator;
        lx__mt19937_seed(&generator, 1234);
        shuffle(&generator, wide != 0, numbers, 20);
        ck_assert_mem_eq(numbers, twenty, sizeof twenty);
        shuffle(&generator, wide != 0, numbers, 1); /* draws nothing */
        shuffle(&generator, wide != 0, numbers, 0);
        shuffle(&generator, wide != 0, numbers, 5);
        ck_assert_mem_eq(numbers, five, sizeof five);
    }
}
END_TEST

/* RandomState(2**32 - 1) and arange(100000): the first numbers, and all as digits in base 31. */
START_TEST(matches_a_long_shuffle_of_numpy)
{
    enum { COUNT = 100000 };
    static const uint64_t first[] = {85117, 19600, 4648, 56853, 35772, 22343, 76167, 23775};
    static uint64_t numbers[COUNT];
    for (int wide = 0; wide < 2; wide++) {
        uint64_t digits = 0;
        lx__mt19937 generator;
        lx__mt19937_seed(&generator, UINT32_MAX);
        shuffle(&generator, wide != 0, numbers, COUNT);
        ck_assert_mem_eq(numbers, first, sizeof first);
        for (size_t i = 0; i < COUNT; i++)
            digits = digits * 31 + numbers[i];
        ck_assert_uint_eq(digits, UINT64_C(0x490ec2108b7bdbea));
    }
}
END_TEST

UNIT_MAIN("parity/numpy-shuffle", matches_a_shuffle_of_numpy, matches_a_long_shuffle_of_numpy)
