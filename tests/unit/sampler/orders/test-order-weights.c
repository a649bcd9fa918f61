/* SPDX-License-Identifier: MIT */
#include "sampler/orders/order-weights.h"

#include <math.h>

#include "../../unit.h"

START_TEST(summarizes_weights)
{
    lx_error error = LX_ERROR_INIT;
    lx__order_weights properties, other;
    lx_order *order = (lx_order *)&properties;
    unit_ok(
        lx__order_weights_check((double[]){0, 2, 7, -0.0, 1e-320}, 5, &order, &properties, &error));
    ck_assert_ptr_null(order);
    ck_assert_uint_eq(properties.count, 5);
    ck_assert_uint_eq(properties.positive, 3);
    ck_assert_double_eq(properties.largest, 7);
    /* A weight of 0 is 0, whatever its sign. */
    unit_ok(lx__order_weights_check((double[]){-0.0, 2, 7, 0, 1e-320}, 5, &order, &other, &error));
    ck_assert_uint_eq(properties.crc, other.crc);
    unit_ok(lx__order_weights_check((double[]){0, 2, 7, 0, 2e-320}, 5, &order, &other, &error));
    ck_assert_uint_ne(properties.crc, other.crc);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    lx_error error = LX_ERROR_INIT;
    lx__order_weights properties;
    lx_order *order;
    double one = 1;
    unit_fails(lx__order_weights_check(&one, 1, NULL, &properties, &error), LX_ERR_ARGUMENT);
    unit_fails(lx__order_weights_check(NULL, 1, &order, &properties, &error), LX_ERR_ARGUMENT);
    unit_fails(lx__order_weights_check(&one, 0, &order, &properties, &error), LX_ERR_ARGUMENT);
    unit_fails(lx__order_weights_check(&one, LX__WEIGHTS_MAX + 1, &order, &properties, &error),
               LX_ERR_LIMIT);
    unit_fails(lx__order_weights_check((double[]){1, NAN}, 2, &order, &properties, &error),
               LX_ERR_ARGUMENT);
}
END_TEST

UNIT_MAIN("sampler/order-weights", summarizes_weights, rejects_invalid_arguments)
