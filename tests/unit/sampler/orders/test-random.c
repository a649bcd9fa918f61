/* SPDX-License-Identifier: MIT */
#include "../orders.h"
#include "../statistics.h"

START_TEST(a_position_gives_the_same_index_from_any_start)
{
    static uint64_t all[5000], some[5000];
    lx_order *order = make_order("random", 1000000, 42, 0);
    read_order(order, 1000, 1, 5000, all);
    for (uint64_t step = 1; step < 2000; step = step * 2 + 1) {
        uint64_t count = (5000 - 1 - 7) / step + 1;
        read_order(order, 1007, step, count, some);
        for (uint64_t i = 0; i < count; i++)
            ck_assert_uint_eq(some[i], all[7 + i * step]);
    }
    lx_order_unref(order);
}
END_TEST

START_TEST(indices_are_uniform)
{
    static uint64_t indices[400000];
    static uint32_t cells[1000];
    uint64_t wrong = 0;
    lx_order *order = make_order("random", 1000, 42, 0);
    read_order(order, 0, 1, 400000, indices);
    for (int i = 0; i < 400000; i++) {
        wrong += indices[i] >= 1000;
        cells[indices[i] % 1000]++;
    }
    ck_assert_uint_eq(wrong, 0);
    expect_chance(z_of_cells(cells, 1000, 999));
    lx_order_unref(order);
}
END_TEST

START_TEST(an_epoch_draws_the_expected_number_of_distinct_indices)
{
    enum { LENGTH = 100000 };
    static uint64_t indices[LENGTH];
    static uint8_t seen[LENGTH];
    lx_order *order = make_order("random", LENGTH, 1, 0);
    read_order(order, 0, 1, LENGTH, indices);
    double distinct = 0;
    for (int i = 0; i < LENGTH; i++)
        distinct += seen[indices[i]]++ == 0;
    /* 1 - 1/e of them, with the variance of occupied boxes. */
    double missed = exp(-1), variance = LENGTH * (missed - 2 * missed * missed);
    expect_chance((distinct - LENGTH * (1 - missed)) / sqrt(variance));
    lx_order_unref(order);
}
END_TEST

START_TEST(neighbors_epochs_and_seeds_are_independent)
{
    enum { LENGTH = 65536 };
    static uint64_t a[4 * LENGTH], b[4 * LENGTH];
    static pair_table neighbours = {.length = LENGTH}, epochs = {.length = LENGTH},
                      seeds = {.length = LENGTH};
    lx_order *one = make_order("random", LENGTH, 42, 0);
    lx_order *other = make_order("random", LENGTH, 43, 0);
    read_order(one, 0, 1, 4 * LENGTH, a);
    read_order(other, 0, 1, 4 * LENGTH, b);
    for (int i = 0; i < 2 * LENGTH; i++) {
        count_pair(&neighbours, a[2 * i], a[2 * i + 1]);
        count_pair(&epochs, a[i], a[i + LENGTH]);
        count_pair(&seeds, a[i], b[i]);
    }
    expect_chance(z_of_cells(neighbours.cells, BINS * BINS, BINS * BINS - 1));
    expect_chance(z_of_cells(epochs.cells, BINS * BINS, BINS * BINS - 1));
    expect_chance(z_of_cells(seeds.cells, BINS * BINS, BINS * BINS - 1));
    lx_order_unref(one);
    lx_order_unref(other);
}
END_TEST

START_TEST(accepts_lengths_at_the_limits)
{
    static const uint64_t lengths[] = {1, 2, 3, (1ull << 63) + 1, UINT64_MAX};
    uint64_t indices[100];
    for (int l = 0; l < 5; l++) {
        lx_order *order = make_order("random", lengths[l], UINT64_MAX, 0);
        uint64_t most = 0;
        read_order(order, UINT64_MAX - 100, 1, 100, indices);
        for (int i = 0; i < 100; i++) {
            ck_assert_uint_lt(indices[i], lengths[l]);
            most = indices[i] > most ? indices[i] : most;
        }
        ck_assert_uint_ge(most, lengths[l] / 10 * 9);
        lx_order_unref(order);
    }
}
END_TEST

UNIT_MAIN("sampler/random", a_position_gives_the_same_index_from_any_start, indices_are_uniform,
          an_epoch_draws_the_expected_number_of_distinct_indices,
          neighbors_epochs_and_seeds_are_independent, accepts_lengths_at_the_limits)
