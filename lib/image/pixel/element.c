/* SPDX-License-Identifier: MIT */
#include "image/pixel/element.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"

/** Shifts right and rounds to the nearest, or to the even one of two. */
static uint32_t shift_round(uint32_t bits, unsigned shift)
{
    uint32_t rest = bits & ((1U << shift) - 1), half = 1U << (shift - 1);
    bits >>= shift;
    return bits + (rest > half || (rest == half && (bits & 1) != 0));
}

/** Converts to float16; what is too large becomes infinite. */
static uint16_t to_float16(uint32_t bits)
{
    uint32_t sign = bits >> 16 & 0x8000, exponent = bits >> 23 & 255;
    if (exponent > 142) /* 65536 and more */
        return (uint16_t)(sign | 0x7c00);
    if (exponent > 112) /* The exponents are biased by 127 and 15. A carry changes the exponent. */
        return (uint16_t)(sign | shift_round((bits & 0x7fffffff) - (112U << 23), 13));
    if (exponent < 102)
        return (uint16_t)sign;
    return (uint16_t)(sign | shift_round((bits & 0x7fffff) | 0x800000, 126 - exponent));
}

/** Converts to an integer within the range; NaN becomes its begin, as in vector code. */
static int to_integer(float value, float least, float most)
{
    return (int)nearbyintf(!(value > least) ? least : value > most ? most : value);
}

bool lx__element_store(lx_dtype dtype, float value, uint8_t *to)
{
    uint32_t bits;
    uint16_t half;
    memcpy(&bits, &value, sizeof bits);
    switch (dtype) {
    case LX_FLOAT32:
        lx__store_le32(to, bits);
        return isfinite(value);
    case LX_FLOAT16:
        half = LX__LE16(to_float16(bits));
        memcpy(to, &half, sizeof half);
        return (half & LX__LE16(0x7c00)) != LX__LE16(0x7c00);
    case LX_BFLOAT16:
        half = LX__LE16((uint16_t)shift_round(bits, 16));
        memcpy(to, &half, sizeof half);
        return isfinite(value) && (half & LX__LE16(0x7f80)) != LX__LE16(0x7f80);
    case LX_INT8:
        *to = (uint8_t)to_integer(value, -128, 127);
        return isfinite(value);
    default:
        *to = (uint8_t)to_integer(value, 0, 255);
        return isfinite(value);
    }
}
