/* SPDX-License-Identifier: MIT */
#include <loaderx/split.h>

#include <math.h>

#include "../../../new-orders.h"
#include "../../unit.h"
#include "../statistics.h"

enum { COUNT = 100000 };

static uint64_t indices[COUNT];

static uint64_t split(uint64_t count, double from, double until, uint64_t *found)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t n, again;
    unit_ok(split_indices(NULL, count, 42, from, until, found, &n, &error));
    unit_ok(split_indices(NULL, count, 42, from, until, NULL, &again, &error));
    ck_assert_uint_eq(n, again);
    return n;
}

START_TEST(each_index_is_in_exactly_one_split)
{
    static uint8_t seen[COUNT];
    static const double limits[] = {0, 0.1, 0.1, 0.25, 0.9, 1};
    uint64_t total = 0;
    for (int i = 0; i < 5; i++) {
        uint64_t n = split(COUNT, limits[i], limits[i + 1], indices);
        double share = limits[i + 1] - limits[i];
        expect_chance(((double)n - COUNT * share) / sqrt(COUNT * share * (1 - share) + 1));
        for (uint64_t k = 0; k < n; k++) {
            ck_assert(k == 0 || indices[k - 1] < indices[k]);
            ck_assert_uint_eq(seen[indices[k]]++, 0);
        }
        total += n;
    }
    ck_assert_uint_eq(total, COUNT);
}
END_TEST

START_TEST(more_indices_move_no_index)
{
    static uint64_t more[COUNT];
    uint64_t few = split(COUNT / 2, 0.2, 0.7, indices), many = split(COUNT, 0.2, 0.7, more);
    ck_assert_uint_lt(few, many);
    ck_assert_mem_eq(indices, more, few * sizeof *more);
}
END_TEST

START_TEST(keeps_equal_keys_in_one_split)
{
    static uint64_t keys[COUNT];
    static uint8_t in[COUNT];
    lx_error error = LX_ERROR_INIT;
    uint64_t n;
    for (uint64_t i = 0; i < COUNT; i++)
        keys[i] = i % 100 * 1000003;
    unit_ok(split_indices(keys, COUNT, 1, 0, 0.5, indices, &n, &error));
    for (uint64_t i = 0; i < n; i++)
        in[indices[i]] = 1;
    for (uint64_t i = 100; i < COUNT; i++)
        ck_assert_uint_eq(in[i], in[i - 100]);
    ck_assert(n > 0 && n < COUNT);
}
END_TEST

START_TEST(seeds_are_independent)
{
    lx_error error = LX_ERROR_INIT;
    static uint8_t in[COUNT];
    uint64_t n, m, both = 0;
    n = split(COUNT, 0, 0.5, indices);
    for (uint64_t i = 0; i < n; i++)
        in[indices[i]] = 1;
    unit_ok(split_indices(NULL, COUNT, 43, 0, 0.5, indices, &m, &error));
    for (uint64_t i = 0; i < m; i++)
        both += in[indices[i]];
    expect_chance(((double)both - COUNT / 4.0) / sqrt(COUNT * 3.0 / 16));
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t n;
    static const double wrong[] = {-0.1, 1.1, NAN, INFINITY};
    unit_fails(split_indices(NULL, 10, 1, 0, 1, NULL, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(split_indices(NULL, 10, 1, 0.6, 0.5, NULL, &n, &error), LX_ERR_ARGUMENT);
    for (int i = 0; i < 4; i++) {
        unit_fails(split_indices(NULL, 10, 1, wrong[i], 1, NULL, &n, &error), LX_ERR_ARGUMENT);
        unit_fails(split_indices(NULL, 10, 1, 0, wrong[i], NULL, &n, &error), LX_ERR_ARGUMENT);
    }
}
END_TEST

UNIT_MAIN("sampler/split-indices", each_index_is_in_exactly_one_split, more_indices_move_no_index,
          keeps_equal_keys_in_one_split, seeds_are_independent, rejects_invalid_arguments)
