/* SPDX-License-Identifier: MIT */
#include <loaderx/weighted.h>

#include "../../scarce.h"
#include "../orders.h"
#include "../statistics.h"
#include "../../../new-orders.h"

static lx_order *make_weighted(const double *weights, uint64_t count, uint64_t length,
                               uint64_t seed)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    unit_ok(new_weighted(weights, count, length, seed, NULL, &order, &error));
    return order;
}

START_TEST(behaves_as_an_order)
{
    double weights[300];
    for (int i = 0; i < 300; i++)
        weights[i] = i % 7;
    static const uint64_t lengths[] = {1, 5, 300, 100000, UINT64_MAX};
    for (int i = 0; i < 5; i++) {
        lx_order *order = make_weighted(weights, 300, lengths[i], 42);
        ck_assert_uint_eq(lx_order_get_length(order), lengths[i]);
        expect_order(order, 5);
        lx_order_unref(order);
    }
}
END_TEST

START_TEST(draws_indices_in_proportion_to_weights)
{
    enum { COUNT = 1000, DRAWS = 400000 };
    static double weights[COUNT], counts[COUNT];
    static uint64_t indices[DRAWS];
    double sum = 0, chi_square = 0, freedom = -1;
    for (int i = 0; i < COUNT; i++)
        sum += weights[i] = i % 5 == 0 ? 0 : 1 + i % 13;
    lx_order *order = make_weighted(weights, COUNT, 7, 1);
    read_order(order, 1000, 1, DRAWS, indices);
    for (int i = 0; i < DRAWS; i++)
        counts[indices[i]]++;
    for (int i = 0; i < COUNT; i++) {
        double mean = weights[i] / sum * DRAWS;
        ck_assert(mean != 0 || counts[i] == 0);
        if (mean != 0) {
            chi_square += (counts[i] - mean) * (counts[i] - mean) / mean;
            freedom++;
        }
    }
    expect_chance(z_of_chi_square(chi_square, freedom));
    lx_order_unref(order);
}
END_TEST

START_TEST(seeds_and_neighbors_are_independent)
{
    enum { COUNT = 64, DRAWS = 1 << 18 };
    static double weights[COUNT];
    static uint64_t a[DRAWS], b[DRAWS];
    static pair_table neighbours = {.length = COUNT}, seeds = {.length = COUNT};
    for (int i = 0; i < COUNT; i++)
        weights[i] = 3;
    lx_order *one = make_weighted(weights, COUNT, 100, 1);
    lx_order *other = make_weighted(weights, COUNT, 100, 2);
    read_order(one, 0, 1, DRAWS, a);
    read_order(other, 0, 1, DRAWS, b);
    for (int i = 0; i < DRAWS; i++) {
        count_pair(&seeds, a[i], b[i]);
        if (i % 2 == 0)
            count_pair(&neighbours, a[i], a[i + 1]);
    }
    expect_chance(z_of_cells(seeds.cells, BINS * BINS, BINS * BINS - 1));
    expect_chance(z_of_cells(neighbours.cells, BINS * BINS, BINS * BINS - 1));
    lx_order_unref(one);
    lx_order_unref(other);
}
END_TEST

START_TEST(the_unit_of_weights_does_not_matter)
{
    static uint64_t a[1000], b[1000];
    double weights[] = {3, 0, 1, 8.5}, scaled[4];
    lx_order *one = make_weighted(weights, 4, 10, 3);
    read_order(one, 0, 1, 1000, a);
    for (int i = 0; i < 4; i++)
        scaled[i] = weights[i] * 0x1p-700;
    lx_order *other = make_weighted(scaled, 4, 10, 3);
    read_order(other, 0, 1, 1000, b);
    ck_assert_mem_eq(a, b, sizeof a);
    lx_order_unref(one);
    lx_order_unref(other);
}
END_TEST

START_TEST(states_distinguish_weights)
{
    lx_order *one = make_weighted((double[]){1, 2}, 2, 10, 3);
    lx_order *other = make_weighted((double[]){1, 2.5}, 2, 10, 3);
    expect_other_order(one, other, "order.weights");
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    double weights[] = {1, 2};
    unit_fails(new_weighted(weights, 2, 10, 3, NULL, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(new_weighted(NULL, 2, 10, 3, NULL, &order, &error), LX_ERR_ARGUMENT);
    weights[1] = -1;
    unit_fails(new_weighted(weights, 2, 10, 3, NULL, &order, &error), LX_ERR_ARGUMENT);
    ck_assert_ptr_null(order);
    weights[1] = 1;
    for (int left = 0; left < 2; left++) {
        scarce_begin(left);
        unit_fails(new_weighted(weights, 2, 10, 3, NULL, &order, &error), LX_ERR_NOMEM);
        ck_assert_ptr_null(order);
    }
}
END_TEST

UNIT_MAIN("sampler/weighted", behaves_as_an_order, draws_indices_in_proportion_to_weights,
          seeds_and_neighbors_are_independent, the_unit_of_weights_does_not_matter,
          states_distinguish_weights, rejects_invalid_arguments)
