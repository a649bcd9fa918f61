/* SPDX-License-Identifier: MIT */
/* The curves of filters. */
#include "image/pixel/resize-filter.h"

#include "../../unit.h"

#include <math.h>

#define PI 3.14159265358979323846

static double weigh(lx_image_filter filter, double x)
{
    lx__filter_weigh(filter, LX__CUBIC_PILLOW, &x, 1);
    return x;
}

START_TEST(curves_have_one_at_the_centre_and_end)
{
    for (int filter = LX_IMAGE_BOX; filter <= LX_IMAGE_LANCZOS; filter++) {
        double reach = lx__filter_reach(filter);
        ck_assert_double_eq(weigh(filter, 0), 1);
        ck_assert_double_eq(weigh(filter, -reach - 1e-9), 0);
        ck_assert_double_eq(weigh(filter, reach + 1e-9), 0);
        for (double x = 0.01; x < 3; x += 0.077)
            ck_assert_double_eq(weigh(filter, x), weigh(filter, -x));
    }
    ck_assert_double_eq(weigh(LX_IMAGE_BOX, 0.5) + weigh(LX_IMAGE_BOX, -0.5), 1);
    ck_assert_double_eq(lx__filter_reach(LX_IMAGE_NEAREST), 0);
    ck_assert_double_eq(lx__filter_reach((lx_image_filter)6), 0);
}
END_TEST

static double sinc(double x)
{
    return sin(PI * x) / (PI * x);
}

/* The series replaces the functions of libm. */
START_TEST(curves_with_sines_equal_those_of_libm)
{
    for (double x = 0.001; x < 3; x += 0.001) {
        double hamming = x < 1 ? sinc(x) * (0.54F + 0.46F * cos(PI * x)) : 0;
        ck_assert_double_eq_tol(weigh(LX_IMAGE_LANCZOS, x), sinc(x) * sinc(x / 3), 1e-15);
        ck_assert_double_eq_tol(weigh(LX_IMAGE_HAMMING, x), hamming, 1e-15);
    }
}
END_TEST

START_TEST(cubic_curves_differ_by_their_parameter)
{
    double pillow = 1.5, torch = 1.5;
    lx__filter_weigh(LX_IMAGE_BICUBIC, LX__CUBIC_PILLOW, &pillow, 1);
    lx__filter_weigh(LX_IMAGE_BICUBIC, LX__CUBIC_TORCH, &torch, 1);
    ck_assert_double_eq(pillow, -0.0625);
    ck_assert_double_eq(torch, -0.09375);
}
END_TEST

UNIT_MAIN("image/pixel/resize-filter", curves_have_one_at_the_centre_and_end,
          curves_with_sines_equal_those_of_libm, cubic_curves_differ_by_their_parameter)
