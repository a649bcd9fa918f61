/* SPDX-License-Identifier: MIT */
/* Functions that give the same bits on every machine, compared with the math library. */
#include "image/pixel/exact-math.h"

#include <math.h>

#include "../../unit.h"

START_TEST(powers_and_logarithms_are_those_of_the_math_library)
{
    for (double x = -40; x <= 40; x += 0.0137)
        ck_assert(fabs(lx__exact_exp(x) / exp(x) - 1) < 1e-11);
    for (double x = 0.001; x <= 1000; x *= 1.01)
        ck_assert(fabs(lx__exact_log(x) - log(x)) < 1e-11);
}
END_TEST

START_TEST(sines_are_those_of_the_math_library)
{
    unsigned differ = 0, count = 0;
    for (double x = -7; x <= 7; x += 0.000713, count++) {
        double sine, cosine;
        lx__exact_sin_cos(x, &sine, &cosine);
        ck_assert(fabs(sine - sin(x)) <= 0x1p-53 && fabs(cosine - cos(x)) <= 0x1p-53);
        differ += sine != sin(x) || cosine != cos(x);
    }
    ck_assert_uint_lt(differ, count / 10);
}
END_TEST

START_TEST(sines_of_quarters_are_exact_after_rounding)
{
    for (int quarters = -4; quarters <= 4; quarters++) {
        static const double sines[] = {0, 1, 0, -1};
        double sine, cosine;
        lx__exact_sin_cos(quarters * 1.5707963267948966, &sine, &cosine);
        ck_assert(fabs(sine - sines[quarters & 3]) < 5e-16);
        ck_assert(fabs(cosine - sines[(quarters + 1) & 3]) < 5e-16);
    }
}
END_TEST

/* Numbers that every machine and every release must reproduce. */
START_TEST(every_machine_gets_the_same_bits)
{
    double sine, cosine;
    lx__exact_sin_cos(-2.5, &sine, &cosine);
    ck_assert_msg(lx__exact_exp(-3.3) == 0x1.2e259bb85bc66p-5, "%a", lx__exact_exp(-3.3));
    ck_assert_msg(lx__exact_log(0.7) == -0x1.6d3c324e143a1p-2, "%a", lx__exact_log(0.7));
    ck_assert_msg(sine == -0x1.326af0dcfcabp-1 && cosine == -0x1.9a2f7ef858b7dp-1, "%a %a", sine,
                  cosine);
}
END_TEST

UNIT_MAIN("image/pixel/exact-math", powers_and_logarithms_are_those_of_the_math_library,
          sines_are_those_of_the_math_library, sines_of_quarters_are_exact_after_rounding,
          every_machine_gets_the_same_bits)
