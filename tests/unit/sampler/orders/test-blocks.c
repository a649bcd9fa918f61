/* SPDX-License-Identifier: MIT */
#include <limits.h>

#include "../../scarce.h"
#include "../orders.h"
#include "../statistics.h"

static lx_order *blocks(uint64_t length, uint64_t block, uint64_t seed)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    unit_ok(lx_order_new_blocks(length, block, seed, &order, &error));
    return order;
}

/** The number of changes of the block between neighboring indices. */
static uint64_t count_changes(const uint64_t *indices, uint64_t length, uint64_t block)
{
    uint64_t changes = 0;
    for (uint64_t i = 1; i < length; i++)
        changes += indices[i] / block != indices[i - 1] / block;
    return changes;
}

static void check_epochs(uint64_t length, uint64_t block)
{
    lx_order *order = blocks(length, block, length);
    uint64_t *indices = malloc(3 * length * sizeof *indices);
    read_order(order, 4 * length, 1, 3 * length, indices);
    for (int epoch = 0; epoch < 3; epoch++) {
        uint64_t *here = indices + epoch * length;
        ck_assert_uint_eq(count_changes(here, length, block), (length - 1) / block);
        ck_assert_msg(is_permutation(here, length), "length %llu, block %llu",
                      (unsigned long long)length, (unsigned long long)block);
    }
    expect_order(order, block);
    free(indices);
    lx_order_unref(order);
}

START_TEST(each_epoch_is_a_permutation_block_by_block)
{
    static const uint64_t sizes[] = {1, 2, 7, 10, 99, 100, 101, 256, 257, 1000};
    for (size_t b = 0; b < sizeof sizes / sizeof *sizes; b++)
        for (uint64_t length = 1; length < 2100; length = length * 3 / 2 + 1)
            check_epochs(length, sizes[b]);
    check_epochs(200000, 3);     /* more blocks than a table has */
    check_epochs(200003, 70000); /* and longer ones */
}
END_TEST

START_TEST(the_short_block_is_at_any_position)
{
    uint32_t places[11] = {0};
    lx_order *order = blocks(105, 10, 42);
    for (uint64_t epoch = 0; epoch < 1100; epoch++) {
        uint64_t indices[105], at = 0;
        read_order(order, epoch * 105, 1, 105, indices);
        while (indices[at] < 100)
            at++;
        ck_assert_uint_eq(at % 10, 0);
        places[at / 10]++;
    }
    expect_chance(z_of_cells(places, 11, 10));
    lx_order_unref(order);
}
END_TEST

START_TEST(positions_and_values_are_uniform)
{
    enum { LENGTH = 16384, EPOCHS = 40 };
    static const uint64_t sizes[] = {64, 1024};
    static uint64_t indices[LENGTH];
    for (int s = 0; s < 2; s++) {
        pair_table places = {.length = LENGTH}, within = {.length = sizes[s]};
        lx_order *order = blocks(LENGTH, sizes[s], 7);
        double fixed = 0;
        for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
            read_order(order, epoch * LENGTH, 1, LENGTH, indices);
            for (uint64_t i = 0; i < LENGTH; i++) {
                fixed += indices[i] == i;
                count_pair(&within, i % sizes[s], indices[i] % sizes[s]);
            }
            for (uint64_t i = 0; i < LENGTH; i += sizes[s])
                count_pair(&places, i, indices[i]);
        }
        /* In each block every place has every value once, so row and column sums are fixed. */
        expect_chance(z_of_count(fixed, EPOCHS));
        expect_chance(z_of_cells(within.cells, BINS * BINS, (BINS - 1.0) * (BINS - 1.0)));
        lx_order_unref(order);
    }
}
END_TEST

START_TEST(enters_long_orders_anywhere)
{
    static const uint64_t cases[][2] = {{1000000000000, 4096},
                                        {1000000000007, 1000000},
                                        {UINT64_MAX, 3},
                                        {1ull << 63, 1ull << 32},
                                        {1ull << 63, 1ull << 63}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        lx_order *order = blocks(cases[c][0], cases[c][1], c);
        expect_order(order, c);
        lx_order_unref(order);
    }
}
END_TEST

START_TEST(rejects_invalid_sizes)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    lx__scratch *scratch;
    uint64_t index;
    unit_fails(lx_order_new_blocks(10, 0, 1, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_new_blocks(UINT64_MAX, 1ull << 63, 1, &order, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_order_new_blocks(10, 2, 1, NULL, &error), "order");
    order = blocks(0, 5, 1);
    ck_assert_uint_eq(lx_order_get_length(order), 0);
    lx_order_unref(order);
    order = blocks(1000, 10, 1);
    scarce_begin(1);
    unit_ok(lx__scratch_new(order, &scratch, &error));
    for (int left = 0; left < 2; left++) {
        scarce_left = left == 0 ? 0 : 1;
        unit_fails(lx__order_read(order, scratch, 5, 1, 1, &index, &error), LX_ERR_NOMEM);
    }
    scarce_left = INT_MAX;
    unit_ok(lx__order_read(order, scratch, 5, 1, 1, &index, &error));
    lx__scratch_free(scratch);
    lx_order_unref(order);
}
END_TEST

UNIT_MAIN("sampler/blocks", each_epoch_is_a_permutation_block_by_block,
          the_short_block_is_at_any_position, positions_and_values_are_uniform,
          enters_long_orders_anywhere, rejects_invalid_sizes)
