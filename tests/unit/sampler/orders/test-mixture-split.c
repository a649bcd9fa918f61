/* SPDX-License-Identifier: MIT */
#include "sampler/orders/mixture-split.h"

#include <limits.h>
#include <math.h>

#include "../../scarce.h"
#include "../../unit.h"
#include "../statistics.h"

#define MOST 300

/** Levels of the tree over so many sets. */
static double levels_of(size_t count)
{
    double levels = 0;
    while (ldexp(1, (int)levels) < (double)count)
        levels++;
    return levels;
}

/** Sets and places of positions [first, first + count). */
static void find(const lx__mixture_split *split, uint64_t first, size_t count, uint64_t *places,
                 uint16_t *sets)
{
    for (size_t i = 0; i < count; i++)
        places[i] = first + i;
    lx__mixture_split_find(split, places, count, sets);
}

/** Every position is the next of its set: the position found agrees with the count. */
static void expect_whole(const lx__mixture_split *split, uint64_t first, uint64_t sets_count)
{
    uint64_t counts[MOST] = {0}, places[500];
    uint16_t sets[500];
    lx__mixture_split_count(split, first, counts);
    find(split, first, 500, places, sets);
    for (int i = 0; i < 500; i++) {
        ck_assert_uint_lt(sets[i], sets_count);
        ck_assert_uint_eq(places[i], counts[sets[i]]++);
    }
    uint64_t after[MOST] = {0};
    lx__mixture_split_count(split, first + 500, after);
    ck_assert_mem_eq(counts, after, sizeof counts);
}

/** The maximum deviation of a set from its share, over positions at all distances. */
static double worst_error(const lx__mixture_split *split, const double *weights, size_t count)
{
    double sum = 0, worst = 0;
    for (size_t i = 0; i < count; i++)
        sum += weights[i];
    for (uint64_t end = 0; end < 1000000; end += 1 + end / 50) {
        uint64_t counts[MOST] = {0}, total = 0;
        lx__mixture_split_count(split, end, counts);
        for (size_t i = 0; i < count; i++) {
            total += counts[i];
            worst = fmax(worst, fabs((double)counts[i] - (double)end * weights[i] / sum));
        }
        ck_assert_uint_eq(total, end);
    }
    return worst;
}

static void check(const double *weights, size_t count)
{
    static const uint64_t firsts[] = {0, 1, 12345, 1ull << 40, 1ull << 63, UINT64_MAX - 600};
    lx_error error = LX_ERROR_INIT;
    lx__mixture_split split;
    unit_ok(lx__mixture_split_new(weights, count, &split, &error));
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
        expect_whole(&split, firsts[i], count);
    /* The rounding error of this test is far below a thousandth. */
    ck_assert_double_le(worst_error(&split, weights, count), levels_of(count) / 2 + 0.001);
    lx__mixture_split_free(&split);
}

START_TEST(each_set_has_its_share_to_half_a_level)
{
    static const double known[][6] = {
        {1},          {1, 1}, {0.5, 0.3, 0.2},      {1, 1e-6},      {1e-6, 1},
        {3, 0, 0, 1}, {0, 7}, {1, 2, 4, 8, 16, 32}, {1e300, 1e300}, {5e-324, 5e-324, 1e-323}};
    static const size_t counts[] = {1, 2, 3, 2, 2, 4, 2, 6, 2, 3};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        check(known[i], counts[i]);
    uint64_t state = 1;
    for (int round = 0; round < 60; round++) {
        double weights[MOST];
        size_t count = next_choice(&state) % (round % 2 ? MOST : 12) + 1;
        for (size_t i = 0; i < count; i++)
            weights[i] = exp((double)(next_choice(&state) % 1000) / 100);
        check(weights, count);
    }
}
END_TEST

START_TEST(two_sets_are_off_by_half_a_sample)
{
    uint64_t state = 2;
    for (int round = 0; round < 100; round++) {
        lx_error error = LX_ERROR_INIT;
        lx__mixture_split split;
        double share = (double)(next_choice(&state) % 1000000 + 1) / 1000001;
        const double weights[] = {share, 1 - share};
        unit_ok(lx__mixture_split_new(weights, 2, &split, &error));
        ck_assert_double_le(worst_error(&split, weights, 2), 0.5 + 1e-6);
        lx__mixture_split_free(&split);
    }
}
END_TEST

/** A set is complete at that position, and exceeds its length at the next one. */
static void expect_fit(const lx__mixture_split *split, const uint64_t *room, size_t count)
{
    uint64_t fit = lx__mixture_split_fit(split, room), counts[MOST] = {0}, beyond = 0;
    lx__mixture_split_count(split, fit, counts);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_le(counts[i], room[i]);
    if (fit == UINT64_MAX)
        return;
    lx__mixture_split_count(split, fit + 1, counts);
    for (size_t i = 0; i < count; i++)
        beyond += counts[i] > room[i];
    ck_assert_uint_eq(beyond, 1);
}

START_TEST(stops_at_the_first_exhausted_set)
{
    uint64_t state = 3;
    for (int round = 0; round < 3000; round++) {
        lx_error error = LX_ERROR_INIT;
        lx__mixture_split split;
        double weights[MOST];
        uint64_t room[MOST];
        size_t count = next_choice(&state) % (round % 10 == 0 ? MOST : 5) + 1;
        for (size_t i = 0; i < count; i++) {
            weights[i] = exp((double)(next_choice(&state) % 4000) / 100);
            room[i] = next_choice(&state) >> (round + 3 * i) % 64;
        }
        unit_ok(lx__mixture_split_new(weights, count, &split, &error));
        expect_fit(&split, room, count);
        lx__mixture_split_free(&split);
    }
    const double weights[] = {0, 1, 0};
    const uint64_t room[] = {0, UINT64_MAX, 7};
    lx_error error = LX_ERROR_INIT;
    lx__mixture_split split;
    unit_ok(lx__mixture_split_new(weights, 3, &split, &error));
    ck_assert_uint_eq(lx__mixture_split_fit(&split, room), UINT64_MAX);
    lx__mixture_split_free(&split);
}
END_TEST

START_TEST(rejects_invalid_weights)
{
    static const double wrong[][2] = {{1, -1}, {1, NAN}, {1, INFINITY}, {0, 0}, {-0.0, 0}};
    lx_error error = LX_ERROR_INIT;
    lx__mixture_split split;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lx_status status = lx__mixture_split_new(wrong[i], 2, &split, &error);
        ck_assert_int_eq(status, LX_ERR_ARGUMENT);
        ck_assert(strstr(error.message, i < 3 ? "weight 1 is" : "all weights are 0") != NULL);
        lx_error_clear(&error);
    }
    unit_fails(lx__mixture_split_new(NULL, 0, &split, &error), LX_ERR_ARGUMENT);
    double *many = malloc(65536 * sizeof *many);
    for (int i = 0; i < 65536; i++)
        many[i] = 1;
    unit_fails(lx__mixture_split_new(many, 65536, &split, &error), LX_ERR_LIMIT);
    unit_ok(lx__mixture_split_new(many, 65535, &split, &error));
    lx__mixture_split_free(&split);
    for (int left = 0; left < 2; left++) {
        scarce_begin(left);
        unit_fails(lx__mixture_split_new(many, 9, &split, &error), LX_ERR_NOMEM);
    }
    scarce_left = INT_MAX;
    free(many);
}
END_TEST

UNIT_MAIN("sampler/mixture-split", each_set_has_its_share_to_half_a_level,
          two_sets_are_off_by_half_a_sample, stops_at_the_first_exhausted_set,
          rejects_invalid_weights)
