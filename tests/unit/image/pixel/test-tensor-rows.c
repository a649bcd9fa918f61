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
        lx__tensor_row_plain(&kind, row, 2, cases[i].mirror, NULL, out, 2);
        ck_assert_mem_eq(out, cases[i].expected, 6);
    }
}
END_TEST

/** Returns a kind that multiplies what depends on the place. */
static lx__tensor_kind varied_kind(lx_dtype dtype, bool planar)
{
    lx__tensor_kind kind = {.dtype = dtype,
                            .size = lx_dtype_get_size(dtype),
                            .channels = 3,
                            .planar = planar,
                            .is_varied = true,
                            .multiplies = true,
                            .is_exact = true};
    for (size_t i = 0; i < LX__BLOCK; i++) {
        size_t pixel = planar ? i % LX__LANES : i / 3, channel = planar ? i / LX__LANES : i % 3;
        kind.sources[0][i] = (uint8_t)(3 * pixel + channel);
        kind.sources[1][i] = (uint8_t)(3 * (7 - pixel) + channel);
        kind.means[i] = 100.3F + (float)channel;
        kind.scales[i] = 0.7F - (float)channel;
        kind.offsets[i] = 0.1F * (float)channel;
    }
    return kind;
}

/* With the means of the kind and with those of a row; in blocks and a rest. */
START_TEST(varied_rows_are_the_same_in_plain_c)
{
    enum { WIDTH = 21 };
    static const lx_dtype dtypes[] = {LX_UINT8, LX_INT8, LX_FLOAT16, LX_BFLOAT16, LX_FLOAT32};
    lx_image image = pixels_noise(WIDTH, 1, 3);
    float row[WIDTH * 3];
    for (size_t i = 0; i < WIDTH * 3; i++)
        row[i] = (float)i * 3.7F;
    for (size_t n = 0; n < 5 * 2 * 2 * 2; n++) {
        const lx__tensor_kind kind = varied_kind(dtypes[n % 5], n / 5 % 2);
        const float *means = n / 20 ? row : NULL;
        bool mirror = n / 10 % 2;
        uint8_t plain[WIDTH * 3 * sizeof(float)] = {0}, fast[sizeof plain] = {0};
        lx__tensor_row_plain(&kind, image.pixels, WIDTH, mirror, means, plain, WIDTH);
        lx__tensor_row_find (&kind)(&kind, image.pixels, WIDTH, mirror, means, fast, WIDTH);
        ck_assert_mem_eq(plain, fast, sizeof plain);
    }
    free(image.pixels);
}
END_TEST

UNIT_MAIN("image/pixel/tensor-rows", values_without_a_formula_are_looked_up,
          plain_rows_are_looked_up, varied_rows_are_the_same_in_plain_c)
