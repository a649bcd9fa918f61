/* SPDX-License-Identifier: MIT */
#include <limits.h>

#include "../../scarce.h"
#include "../orders.h"

START_TEST(returns_indices_in_order_of_position)
{
    static const uint64_t narrow[] = {9, 3, 3, 0, 7},
                          wide[] = {1, UINT32_MAX, 1ull << 32, 5, UINT64_MAX - 1};
    for (int w = 0; w < 2; w++) {
        const uint64_t *indices = w ? wide : narrow;
        lx_error error = LX_ERROR_INIT;
        lx_order *part = make_order("shuffle", 5, 42, 0), *order;
        unit_ok(lx_order_new_subset(part, indices, 5, NULL, &order, &error));
        ck_assert_uint_eq(lx__order_get_bound(order), w ? UINT64_MAX : 10);
        for (uint64_t position = 0; position < 50; position++)
            ck_assert_uint_eq(index_at(order, position), indices[index_at(part, position)]);
        expect_order(order, (uint64_t)w);
        lx_order_unref(order);
        lx_order_unref(part);
    }
}
END_TEST

START_TEST(other_indices_give_another_state)
{
    static const uint64_t indices[] = {1, 2, 3}, others[] = {1, 3, 2};
    lx_error error = LX_ERROR_INIT;
    lx_order *part = make_order("sequential", 3, 0, 0), *one, *other;
    unit_ok(lx_order_new_subset(part, indices, 3, NULL, &one, &error));
    unit_ok(lx_order_new_subset(part, others, 3, NULL, &other, &error));
    expect_other_order(one, other, "order.indices");
    lx_order_unref(part);
}
END_TEST

START_TEST(rejects_invalid_indices)
{
    static const uint64_t indices[] = {1, UINT64_MAX, 3};
    lx_error error = LX_ERROR_INIT;
    lx_order *part = make_order("sequential", 3, 0, 0), *order;
    unit_fails(lx_order_new_subset(part, indices, 3, NULL, &order, &error), LX_ERR_ARGUMENT);
    ck_assert(strstr(error.message, "index 1") != NULL || error.status == LX_OK);
    unit_fails(lx_order_new_subset(part, indices, 2, NULL, &order, &error), LX_ERR_MISMATCH);
    unit_refuses_null(lx_order_new_subset(part, NULL, 3, NULL, &order, &error), "indices");
    unit_refuses_null(lx_order_new_subset(NULL, indices, 3, NULL, &order, &error), "part");
    scarce_begin(0);
    unit_fails(lx_order_new_subset(part, indices + 2, UINT64_C(1), NULL, &order, &error),
               LX_ERR_MISMATCH);
    for (int left = 0; left < 2; left++) {
        static const uint64_t good[] = {5, 6, 7};
        scarce_left = left;
        unit_fails(lx_order_new_subset(part, good, 3, NULL, &order, &error), LX_ERR_NOMEM);
    }
    scarce_left = INT_MAX;
    lx_order_unref(part);
    part = make_order("sequential", 0, 0, 0);
    unit_ok(lx_order_new_subset(part, NULL, 0, NULL, &order, &error));
    ck_assert_uint_eq(lx_order_get_length(order), 0);
    lx_order_unref(order);
    lx_order_unref(part);
}
END_TEST

UNIT_MAIN("sampler/subset", returns_indices_in_order_of_position, other_indices_give_another_state,
          rejects_invalid_indices)
