/* SPDX-License-Identifier: MIT */
/* The conversion for this processor gives the bytes of the plain conversion. */
#include "image/pixel/tensor-rows.h"

#include "image/pixel/tensor-plain.h"
#include "pixels.h"

/** A kind whose values are noise has no formula: it is always looked up. */
START_TEST(values_without_a_formula_are_looked_up)
{
    lx__tensor_kind kind = {.dtype = LX_UINT8, .size = 1, .channels = 1};
    ck_assert_ptr_eq(lx__tensor_row_find(&kind), lx__tensor_row_plain);
}
END_TEST

START_TEST(plain_rows_are_looked_up)
{
    static const uint8_t row[] = {0, 1, 2, 3, 4, 5};
    static const struct {
        bool planar, mirror;
        uint8_t expected[6];
    } cases[] = {{true, false, {0, 13, 101, 114, 202, 215}},
                 {true, true, {13, 0, 114, 101, 215, 202}},
                 {false, false, {0, 101, 202, 13, 114, 215}},
                 {false, true, {13, 114, 215, 0, 101, 202}}};
    lx__tensor_kind kind = {.dtype = LX_UINT8, .size = 1, .channels = 3};
    for (size_t channel = 0; channel < 3; channel++)
        for (size_t byte = 0; byte < 6; byte++)
            kind.values[channel][byte] = (uint8_t)(100 * channel + byte + (byte >= 3 ? 10 : 0));
    for (size_t i = 0; i < 4; i++) {
        uint8_t out[6];
        kind.planar = cases[i].planar;
        lx__tensor_row_plain(&kind, row, 2, cases[i].mirror, out, 2);
        ck_assert_mem_eq(out, cases[i].expected, 6);
    }
}
END_TEST

UNIT_MAIN("image/pixel/tensor-rows", values_without_a_formula_are_looked_up,
          plain_rows_are_looked_up)
