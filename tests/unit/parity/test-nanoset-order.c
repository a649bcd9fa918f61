/* SPDX-License-Identifier: MIT */
#include <loaderx/parity/nanoset.h>

#include <math.h>

#include "../scarce.h"
#include "../sampler/orders.h"
#include "../sampler/statistics.h"
#include "sampler/core/order-json.h"
#include "../../new-orders.h"

static const uint64_t lengths[] = {8, 2, 5, 5};
static const double weights[] = {.1, .5, .3, .1};

static lx_order *make_nanoset(const uint64_t *sizes, const double *shares, size_t count,
                              bool divide)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    unit_ok(new_nanoset(sizes, shares, count, divide, 1234, NULL, &order, &error));
    return order;
}

static void expect_indices(lx_order *order, const uint64_t *right, uint64_t count)
{
    uint64_t indices[64];
    ck_assert_uint_eq(lx_order_get_length(order), count);
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        read_order(order, epoch * count, 1, count, indices);
        ck_assert_mem_eq(indices, right, count * sizeof *right);
    }
    expect_order(order, 5);
    lx_order_unref(order);
}

/* The example of Nanotron's documentation, shuffled by NumPy. */
START_TEST(matches_nanotron)
{
    static const uint64_t given[] = {9, 8, 0, 14, 16, 8,  15, 8,  12, 10,
                                     8, 9, 1, 8,  9,  10, 9,  13, 11, 9};
    static const uint64_t divided[] = {9, 8,  0, 14, 16, 8,  15, 8, 12, 10,
                                       8, 13, 9, 8,  9,  10, 9,  1, 11, 9};
    static const uint64_t by_length[] = {3, 0, 6, 2, 1, 5, 4};
    expect_indices(make_nanoset(lengths, weights, 4, false), given, 20);
    expect_indices(make_nanoset(lengths, weights, 4, true), divided, 20);
    expect_indices(make_nanoset((uint64_t[]){2, 5}, NULL, 2, true), by_length, 7);
    expect_indices(make_nanoset((uint64_t[]){2, 5}, NULL, 2, false), by_length, 7);
}
END_TEST

START_TEST(states_distinguish_orders)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *one = make_nanoset(lengths, weights, 4, false);
    lx_order *other = make_nanoset(lengths, weights, 4, true);
    json_t *json = lx__order_to_json(one);
    ck_assert_int_eq(lx__order_match_json(other, json, &error), LX_ERR_MISMATCH);
    lx_error_clear(&error);
    json_decref(json);
    lx_order_unref(one);
    lx_order_unref(other);
}
END_TEST

START_TEST(treats_both_zeros_alike)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *one = make_nanoset(lengths, (double[]){1, 0, 2, 0}, 4, true);
    lx_order *other = make_nanoset(lengths, (double[]){1, -0.0, 2, 0}, 4, true);
    json_t *json = lx__order_to_json(one);
    unit_ok(lx__order_match_json(other, json, &error));
    json_decref(json);
    lx_order_unref(one);
    lx_order_unref(other);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    static const uint64_t long_ones[] = {UINT64_C(1) << 53, 1};
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    unit_fails(new_nanoset(lengths, weights, 4, true, 0, NULL, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(new_nanoset(NULL, weights, 4, true, 0, NULL, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(new_nanoset(lengths, weights, 0, true, 0, NULL, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(new_nanoset(lengths, weights, 65536, true, 0, NULL, &order, &error), LX_ERR_LIMIT);
    unit_fails(new_nanoset(lengths, weights, 4, true, UINT64_C(1) << 32, NULL, &order, &error),
               LX_ERR_ARGUMENT);
    unit_fails(new_nanoset((uint64_t[]){1, 0}, weights, 2, true, 0, NULL, &order, &error),
               LX_ERR_ARGUMENT);
    unit_fails(new_nanoset(lengths, (double[]){1, NAN}, 2, true, 0, NULL, &order, &error),
               LX_ERR_ARGUMENT);
    unit_fails(new_nanoset(long_ones, weights, 2, true, 0, NULL, &order, &error), LX_ERR_LIMIT);
    unit_fails(new_nanoset(lengths, (double[]){0, -0.0}, 2, true, 0, NULL, &order, &error),
               LX_ERR_ARGUMENT);
    for (int left = 0; left < 9; left++) {
        scarce_begin(left);
        unit_fails(new_nanoset(lengths, weights, 4, true, 0, NULL, &order, &error), LX_ERR_NOMEM);
        ck_assert_ptr_null(order);
    }
}
END_TEST

UNIT_MAIN("parity/nanoset-order", matches_nanotron, states_distinguish_orders,
          treats_both_zeros_alike, rejects_invalid_arguments)
