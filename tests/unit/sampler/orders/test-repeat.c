/* SPDX-License-Identifier: MIT */
#include "../orders.h"

START_TEST(repeats_make_epochs_longer)
{
    static const uint64_t lengths[] = {1, 7, 1000, 70000};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        lx_error error = LX_ERROR_INIT;
        lx_order *part = make_order("shuffle", lengths[l], 42, 0), *order;
        unit_ok(lx_order_new_repeat(part, 3, &order, &error));
        ck_assert_uint_eq(lx_order_get_length(order), 3 * lengths[l]);
        for (uint64_t i = 0; i < 7 * lengths[l]; i += 1 + lengths[l] / 10)
            ck_assert_uint_eq(index_at(order, i), index_at(part, i));
        expect_order(order, l);
        lx_order_unref(order);
        lx_order_unref(part);
    }
}
END_TEST

START_TEST(rejects_invalid_counts)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *part = make_order("shuffle", 1ull << 62, 42, 0), *order;
    unit_fails(lx_order_new_repeat(part, 0, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_new_repeat(part, 4, &order, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_order_new_repeat(NULL, 1, &order, &error), "part");
    unit_refuses_null(lx_order_new_repeat(part, 1, NULL, &error), "order");
    unit_ok(lx_order_new_repeat(part, 3, &order, &error));
    lx_order_unref(order);
    lx_order_unref(part);
    part = make_order("shuffle", 0, 42, 0);
    unit_ok(lx_order_new_repeat(part, 5, &order, &error));
    ck_assert_uint_eq(lx_order_get_length(order), 0);
    lx_order_unref(order);
    lx_order_unref(part);
}
END_TEST

UNIT_MAIN("sampler/repeat", repeats_make_epochs_longer, rejects_invalid_counts)
