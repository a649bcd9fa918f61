/* SPDX-License-Identifier: MIT */
#include <limits.h>

#include "../../scarce.h"
#include "../orders.h"

static lx_order *slice(lx_order *part, uint64_t first, uint64_t length)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    unit_ok(lx_order_new_slice(part, first, length, &order, &error));
    lx_order_unref(part); /* the order has a reference */
    return order;
}

START_TEST(each_epoch_is_a_slice_of_the_inner_epoch)
{
    static const struct {
        uint64_t length, first, taken;
    } cases[] = {{10, 0, 10}, {10, 3, 4}, {10, 9, 1}, {100, 1, 98}, {100000, 99000, 1000}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        lx_order *part = make_order("shuffle", cases[c].length, 42, 0);
        lx_order *order = slice(lx_order_ref(part), cases[c].first, cases[c].taken);
        ck_assert_uint_eq(lx_order_get_length(order), cases[c].taken);
        for (uint64_t epoch = 0; epoch < 3; epoch++)
            for (uint64_t i = 0; i < cases[c].taken; i += 1 + cases[c].taken / 20)
                ck_assert_uint_eq(index_at(order, epoch * cases[c].taken + i),
                                  index_at(part, epoch * cases[c].length + cases[c].first + i));
        expect_order(order, c);
        lx_order_unref(order);
        lx_order_unref(part);
    }
}
END_TEST

START_TEST(wraps_around_after_the_last_inner_epoch)
{
    lx_order *part = make_order("shuffle", 1ull << 63, 42, 0); /* it has one epoch */
    lx_order *order = slice(lx_order_ref(part), 5, 7);
    for (uint64_t position = 0; position < 50; position++)
        ck_assert_uint_eq(index_at(order, position), index_at(part, 5 + position % 7));
    expect_order(order, 1);
    lx_order_unref(order);
    lx_order_unref(part);
}
END_TEST

START_TEST(accepts_an_empty_slice)
{
    lx_order *order = slice(make_order("shuffle", 10, 42, 0), 10, 0);
    ck_assert_uint_eq(lx_order_get_length(order), 0);
    lx_order_unref(order);
    order = slice(make_order("shuffle", 0, 42, 0), 0, 0);
    ck_assert_uint_eq(lx_order_get_length(order), 0);
    lx_order_unref(order);
}
END_TEST

START_TEST(rejects_ranges_outside_an_epoch)
{
    static const uint64_t wrong[][2] = {{0, 11}, {1, 10}, {11, 0}, {UINT64_MAX, 2}};
    lx_error error = LX_ERROR_INIT;
    lx_order *part = make_order("shuffle", 10, 42, 0), *order;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        unit_fails(lx_order_new_slice(part, wrong[i][0], wrong[i][1], &order, &error),
                   LX_ERR_ARGUMENT);
    }
    unit_refuses_null(lx_order_new_slice(NULL, 0, 0, &order, &error), "part");
    unit_refuses_null(lx_order_new_slice(part, 0, 0, NULL, &error), "order");
    scarce_begin(0);
    unit_fails(lx_order_new_slice(part, 0, 5, &order, &error), LX_ERR_NOMEM);
    scarce_left = INT_MAX;
    lx_order_unref(part);
}
END_TEST

UNIT_MAIN("sampler/slice", each_epoch_is_a_slice_of_the_inner_epoch,
          wraps_around_after_the_last_inner_epoch, accepts_an_empty_slice,
          rejects_ranges_outside_an_epoch)
