/* SPDX-License-Identifier: MIT */
#include "sampler/random/weights.h"

#include <float.h>
#include <math.h>

#include "../../unit.h"

START_TEST(rejects_invalid_weights)
{
    lx_error error = LX_ERROR_INIT;
    const double wrong[] = {-1, -DBL_MIN, NAN, INFINITY, -INFINITY};
    double weights[3] = {1, 2, 3}, largest;
    for (size_t i = 0; i < 5; i++) {
        weights[1] = wrong[i];
        lx_error_clear(&error);
        ck_assert_int_eq(lx__weights_check(weights, 3, &largest, &error), LX_ERR_ARGUMENT);
        ck_assert_ptr_nonnull(strstr(error.message, "weight 1 is "));
    }
    lx_error_clear(&error);
    unit_fails(lx__weights_check((double[]){0, -0.0}, 2, &largest, &error), LX_ERR_ARGUMENT);
    unit_fails(lx__weights_check(weights, 0, &largest, &error), LX_ERR_ARGUMENT);
    unit_ok(lx__weights_check((double[]){0, 5, DBL_MAX, 7}, 4, &largest, &error));
    ck_assert_double_eq(largest, DBL_MAX);
}
END_TEST

/* They have the ratios of the weights, in any unit. */
START_TEST(whole_numbers_keep_their_ratio)
{
    static const double units[] = {1, 1e300, 0x1p-1074, 0x1p-1000, 3};
    for (size_t i = 0; i < 5; i++)
        for (uint64_t count = 1; count < 100; count++) {
            int scale = lx__weights_scale(10 * units[i], count);
            uint64_t largest = lx__weight_to_integer(10 * units[i], scale);
            uint64_t five = lx__weight_to_integer(5 * units[i], scale);
            ck_assert_uint_le(largest, (UINT64_C(1) << 62) / count);
            ck_assert_uint_gt(largest, (UINT64_C(1) << 60) / count / 2);
            ck_assert_uint_le(largest - 2 * five, 1);
            ck_assert_uint_eq(lx__weight_to_integer(DBL_TRUE_MIN * units[i], scale) != 0, 1);
        }
}
END_TEST

START_TEST(the_sum_of_many_weights_does_not_overflow)
{
    ck_assert_int_eq(lx__weights_scale(1, 1), 61);
    ck_assert_int_eq(lx__weights_scale(1, 2), 60);
    ck_assert_int_eq(lx__weights_scale(1, 3), 59);
    ck_assert_int_eq(lx__weights_scale(1, 65), 54);
    ck_assert_int_eq(lx__weights_scale(1, UINT64_C(1) << 31), 30);
}
END_TEST

UNIT_MAIN("sampler/weights", rejects_invalid_weights, whole_numbers_keep_their_ratio,
          the_sum_of_many_weights_does_not_overflow)
