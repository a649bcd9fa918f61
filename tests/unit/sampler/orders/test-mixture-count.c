/* SPDX-License-Identifier: MIT */
#include <limits.h>

#include "../../scarce.h"
#include "mixtures.h"

/** The counts of [first, end) equal those of reading it. */
static void expect_counts(lx_order *order, uint64_t first, uint64_t end)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t counts[SETS_MAX], seen[SETS_MAX] = {0};
    uint64_t *indices = malloc((end - first + 1) * sizeof *indices);
    read_order(order, first, 1, end - first, indices);
    for (uint64_t i = 0; i < end - first; i++)
        seen[indices[i] / APART]++;
    unit_ok(lx_order_get_part_lengths(order, first, end, counts, &error));
    ck_assert_mem_eq(counts, seen, lx_order_get_part_count(order) * sizeof *counts);
    free(indices);
}

START_TEST(counts_the_bytes_of_a_mixture)
{
    uint64_t state = 1;
    for (int round = 0; round < 60; round++) {
        struct setup setup = random_setup(&state, SETS_MAX);
        uint64_t sum = sum_of_lengths(&setup);
        if (sum >= 10)
            add_curriculum(&setup, &state, sum);
        lx_order *order = blend(&setup, (lx_exhausted_policy)(round % 3), 0);
        for (int i = 0; i < 4; i++) {
            uint64_t first = next_choice(&state) % (4 * sum);
            expect_counts(order, first, first + next_choice(&state) % (2 * sum));
        }
        expect_counts(order, 5, 5);
        expect_counts(order, UINT64_MAX - 100, UINT64_MAX);
        lx_order_unref(order);
        free_setup(&setup);
    }
}
END_TEST

START_TEST(counts_all_positions)
{
    static const uint64_t lengths[] = {1000, 500};
    static const double weights[] = {3, 1};
    lx_error error = LX_ERROR_INIT;
    uint64_t counts[2];
    struct setup setup = make_setup(2, lengths, weights);
    lx_order *order = blend(&setup, LX_EXHAUSTED_REPEAT, UINT64_MAX);
    unit_ok(lx_order_get_part_lengths(order, 0, UINT64_MAX, counts, &error));
    ck_assert_uint_eq(counts[0], (3ull << 62) - 1);
    ck_assert_uint_eq(counts[1], 1ull << 62);
    lx_order_unref(order);
    free_setup(&setup);
}
END_TEST

START_TEST(rejects_sums_that_overflow)
{
    static const uint64_t lengths[] = {1000, 500};
    static const double weights[] = {3, 1};
    lx_error error = LX_ERROR_INIT;
    uint64_t counts[2];
    struct setup setup = make_setup(2, lengths, weights);
    lx_order *half, *order = blend(&setup, LX_EXHAUSTED_REPEAT, 0);
    unit_ok(lx_order_new_slice(order, 0, 750, &half, &error));
    ck_assert_uint_eq(lx_order_get_part_count(half), 0);
    ck_assert_uint_eq(lx_order_get_part_count(setup.parts[0]), 0);
    ck_assert_uint_eq(lx_order_get_part_count(order), 2);
    unit_fails(lx_order_get_part_lengths(half, 0, 1, counts, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_get_part_lengths(order, 5, 4, counts, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_order_get_part_lengths(NULL, 0, 1, counts, &error), "order");
    unit_refuses_null(lx_order_get_part_lengths(order, 0, 1, NULL, &error), "counts");
    scarce_begin(0);
    unit_fails(lx_order_get_part_lengths(order, 0, 1, counts, &error), LX_ERR_NOMEM);
    scarce_left = INT_MAX;
    lx_order_unref(half);
    lx_order_unref(order);
    free_setup(&setup);
}
END_TEST

UNIT_MAIN("sampler/mixture-count", counts_the_bytes_of_a_mixture, counts_all_positions,
          rejects_sums_that_overflow)
