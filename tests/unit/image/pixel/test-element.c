/* SPDX-License-Identifier: MIT */
/* Elements of tensors. */
#include "image/pixel/element.h"

#include <math.h>
#include <string.h>

#include "../../unit.h"

/** Whether a value becomes these bytes, and can be represented. */
static bool becomes(lx_dtype dtype, float value, bool fits, const void *bytes)
{
    uint8_t element[sizeof(float)];
    return lx__element_store(dtype, value, element) == fits &&
           memcmp(element, bytes, lx_dtype_get_size(dtype)) == 0;
}

START_TEST(values_are_stored_in_little_endian)
{
    ck_assert(becomes(LX_FLOAT32, 1, true, "\0\0\x80\x3f"));
    ck_assert(becomes(LX_FLOAT16, -1, true, "\0\xbc"));
    ck_assert(becomes(LX_BFLOAT16, 3, true, "\x40\x40"));
    ck_assert(becomes(LX_INT8, -2, true, "\xfe"));
    ck_assert(becomes(LX_UINT8, 200, true, "\xc8"));
}
END_TEST

START_TEST(halves_and_integers_are_rounded_to_even)
{
    ck_assert(becomes(LX_FLOAT16, 2049, true, "\0\x68"));
    ck_assert(becomes(LX_FLOAT16, 2051, true, "\2\x68"));
    ck_assert(becomes(LX_BFLOAT16, 257, true, "\x80\x43"));
    ck_assert(becomes(LX_INT8, 0.5f, true, "\0") && becomes(LX_UINT8, 1.5f, true, "\2"));
}
END_TEST

START_TEST(values_beyond_the_range_become_its_end)
{
    ck_assert(becomes(LX_INT8, 1e30f, true, "\x7f") && becomes(LX_INT8, -1e30f, true, "\x80"));
    ck_assert(becomes(LX_UINT8, 256, true, "\xff") && becomes(LX_UINT8, -1, true, "\0"));
    ck_assert(becomes(LX_FLOAT16, 65520, false, "\0\x7c"));
    ck_assert(becomes(LX_BFLOAT16, 3.4e38f, false, "\x80\x7f"));
}
END_TEST

START_TEST(infinity_and_nan_are_reported)
{
    ck_assert(becomes(LX_FLOAT32, INFINITY, false, "\0\0\x80\x7f"));
    ck_assert(becomes(LX_INT8, -INFINITY, false, "\x80") && becomes(LX_INT8, NAN, false, "\x80"));
    ck_assert(becomes(LX_UINT8, INFINITY, false, "\xff") && becomes(LX_UINT8, NAN, false, "\0"));
    for (int i = 0; i < 3; i++) {
        const lx_dtype floats[] = {LX_FLOAT16, LX_BFLOAT16, LX_FLOAT32};
        uint8_t element[sizeof(float)];
        ck_assert(!lx__element_store(floats[i], NAN, element));
    }
}
END_TEST

UNIT_MAIN("image/pixel/element", values_are_stored_in_little_endian,
          halves_and_integers_are_rounded_to_even, values_beyond_the_range_become_its_end,
          infinity_and_nan_are_reported)
