/* SPDX-License-Identifier: MIT */
#include <loaderx/weighted.h>

#include "../../scarce.h"
#include "../orders.h"
#include "../statistics.h"
#include "../../../new-orders.h"

static lx_order *make_shuffle(const double *weights, uint64_t count, uint64_t length, uint64_t seed)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    unit_ok(new_weighted_shuffle(weights, count, length, seed, NULL, &order, &error));
    return order;
}

START_TEST(behaves_as_an_order)
{
    double weights[300];
    for (int i = 0; i < 300; i++)
        weights[i] = i % 3 + 1;
    static const uint64_t lengths[] = {1, 5, 299, 300};
    for (int i = 0; i < 4; i++) {
        lx_order *order = make_shuffle(weights, 300, lengths[i], 42);
        expect_order(order, 5);
        lx_order_unref(order);
    }
}
END_TEST

START_TEST(each_epoch_has_each_weighted_index_once)
{
    enum { COUNT = 3000 };
    static double weights[COUNT];
    static uint64_t indices[COUNT];
    static uint8_t seen[COUNT];
    for (int i = 0; i < COUNT; i++)
        weights[i] = i % 3 == 0 ? 0 : ldexp(1, i % 100 - 50);
    lx_order *order = make_shuffle(weights, COUNT, 2000, 9);
    for (uint64_t epoch = 0; epoch < 4; epoch++) {
        memset(seen, 0, sizeof seen);
        read_order(order, epoch * 2000, 1, 2000, indices);
        for (int i = 0; i < 2000; i++) {
            ck_assert(weights[indices[i]] != 0);
            ck_assert_uint_eq(seen[indices[i]]++, 0);
        }
    }
    lx_order_unref(order);
}
END_TEST

/* Each pair of first and second index is as frequent as in draws without replacement. */
START_TEST(heavier_indices_come_earlier)
{
    enum { COUNT = 5, EPOCHS = 40000 };
    const double weights[COUNT] = {1, 2, 3, 4, 10};
    static double counts[COUNT][COUNT];
    double chi_square = 0;
    lx_order *order = make_shuffle(weights, COUNT, 2, 77);
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        uint64_t indices[2];
        read_order(order, 2 * epoch, 1, 2, indices);
        counts[indices[0]][indices[1]]++;
    }
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++) {
            double mean = EPOCHS * weights[i] / 20 * weights[j] / (20 - weights[i]);
            if (i != j)
                chi_square += (counts[i][j] - mean) * (counts[i][j] - mean) / mean;
        }
    expect_chance(z_of_chi_square(chi_square, COUNT * (COUNT - 1) - 1));
    lx_order_unref(order);
}
END_TEST

START_TEST(equal_weights_give_a_shuffle)
{
    enum { LENGTH = 1 << 14 };
    static double weights[LENGTH];
    static uint64_t a[LENGTH], b[LENGTH];
    static pair_table epochs = {.length = LENGTH};
    for (int i = 0; i < LENGTH; i++)
        weights[i] = 0.1;
    lx_order *order = make_shuffle(weights, LENGTH, LENGTH, 3);
    read_order(order, 0, 1, LENGTH, a);
    read_order(order, LENGTH, 1, LENGTH, b);
    ck_assert(is_permutation(a, LENGTH) && is_permutation(b, LENGTH));
    for (int i = 0; i < LENGTH; i++)
        count_pair(&epochs, a[i], b[i]);
    expect_chance(z_of_matched_pairs(&epochs));
    expect_chance(z_of_correlation(a, b, LENGTH));
    lx_order_unref(order);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    const double weights[] = {1, 0, 2};
    unit_fails(new_weighted_shuffle(weights, 3, 2, 3, NULL, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(new_weighted_shuffle(NULL, 3, 2, 3, NULL, &order, &error), LX_ERR_ARGUMENT);
    ck_assert_int_eq(new_weighted_shuffle(weights, 3, 3, 3, NULL, &order, &error), LX_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(
        strstr(error.message, "exceeds the number of indices with a positive weight (2)"));
    ck_assert_ptr_null(order);
    lx_error_clear(&error);
    for (int left = 0; left < 3; left++) {
        scarce_begin(left);
        unit_fails(new_weighted_shuffle(weights, 3, 2, 3, NULL, &order, &error), LX_ERR_NOMEM);
    }
    scarce_begin(3);
    unit_ok(new_weighted_shuffle(weights, 3, 2, 3, NULL, &order, &error));
    for (int left = 0; left < 5; left++) {
        lx__scratch *scratch;
        uint64_t index;
        scarce_begin(1000);
        unit_ok(lx__scratch_new(order, &scratch, &error));
        scarce_begin(left);
        unit_fails(lx__order_read(order, scratch, (uint64_t)left * 2, 1, 1, &index, &error),
                   LX_ERR_NOMEM);
        scarce_begin(1000);
        unit_ok(lx__order_read(order, scratch, 0, 1, 1, &index, &error));
        lx__scratch_free(scratch);
        if (left == 3)
            break;
    }
    lx_order_unref(order);
}
END_TEST

UNIT_MAIN("sampler/weighted-shuffle", behaves_as_an_order, each_epoch_has_each_weighted_index_once,
          heavier_indices_come_earlier, equal_weights_give_a_shuffle, rejects_invalid_arguments)
