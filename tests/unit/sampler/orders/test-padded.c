/* SPDX-License-Identifier: MIT */
#include "../../scarce.h"
#include "../orders.h"

static lx_order *make_padded(const char *kind, uint64_t length, uint64_t multiple)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *part = make_order(kind, length, 42, 42), *order;
    unit_ok(lx_order_new_padded(part, multiple, &order, &error));
    lx_order_unref(part);
    return order;
}

START_TEST(behaves_as_an_order)
{
    static const uint64_t sizes[][2] = {{1, 1}, {1, 7}, {10, 4}, {12, 4}, {3, 1000}, {100000, 999}};
    for (int i = 0; i < 6; i++) {
        lx_order *order = make_padded("shuffle", sizes[i][0], sizes[i][1]);
        uint64_t length = lx_order_get_length(order);
        ck_assert_uint_eq(length % sizes[i][1], 0);
        ck_assert(length >= sizes[i][0] && length - sizes[i][0] < sizes[i][1]);
        expect_order(order, 5);
        lx_order_unref(order);
    }
}
END_TEST

START_TEST(repeats_the_first_samples_at_the_end)
{
    uint64_t whole[20], padded[24];
    lx_order *part = make_order("shuffle", 10, 42, 0), *order = make_padded("shuffle", 10, 12);
    read_order(part, 0, 1, 20, whole);
    read_order(order, 0, 1, 24, padded);
    for (int epoch = 0; epoch < 2; epoch++)
        for (int i = 0; i < 12; i++)
            ck_assert_uint_eq(padded[epoch * 12 + i], whole[epoch * 10 + i % 10]);
    lx_order_unref(part);
    lx_order_unref(order);
}
END_TEST

START_TEST(an_empty_order_stays_empty)
{
    lx_order *order = make_padded("sequential", 0, 8);
    ck_assert_uint_eq(lx_order_get_length(order), 0);
    lx_order_unref(order);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *part = make_order("sequential", UINT64_MAX, 0, 0), *order;
    unit_fails(lx_order_new_padded(NULL, 8, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_new_padded(part, 8, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_new_padded(part, 0, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_new_padded(part, 8, &order, &error), LX_ERR_ARGUMENT);
    scarce_begin(0);
    unit_fails(lx_order_new_padded(part, 5, &order, &error), LX_ERR_NOMEM);
    ck_assert_ptr_null(order);
    lx_order_unref(part);
}
END_TEST

UNIT_MAIN("sampler/padded", behaves_as_an_order, repeats_the_first_samples_at_the_end,
          an_empty_order_stays_empty, rejects_invalid_arguments)
