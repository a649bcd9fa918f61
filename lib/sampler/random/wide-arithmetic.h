/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief 64-bit arithmetic with intermediate results of more than 64 bits.
 */
#ifndef LX_SAMPLER_WIDE_ARITHMETIC_H
#define LX_SAMPLER_WIDE_ARITHMETIC_H

#include <stdint.h>

/** Returns the low half of a * b, and stores the high half in @p high. Portable: multiplies 32-bit
 * parts. */
static inline uint64_t lx__multiply_wide_parts(uint64_t a, uint64_t b, uint64_t *high)
{
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t low = a0 * b0, cross = a1 * b0 + (low >> 32); /* at most (2^32-1)^2 + 2^32-1 */
    uint64_t middle = a0 * b1 + (uint32_t)cross;
    *high = a1 * b1 + (cross >> 32) + (middle >> 32);
    return middle << 32 | (uint32_t)low;
}

/** Returns (a + b) mod n for a and b below n. */
static inline uint64_t lx__add_mod(uint64_t a, uint64_t b, uint64_t n)
{
    return a >= n - b ? a - (n - b) : a + b;
}

/** Returns floor((high * 2^64 + low) / divisor) for high below the divisor, by long division bit by
 * bit. Portable. */
static inline uint64_t lx__divide_wide_bits(uint64_t high, uint64_t low, uint64_t divisor)
{
    uint64_t quotient = 0;
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t carry = high >> 63;
        high = high << 1 | (low >> bit & 1);
        quotient <<= 1;
        if (carry != 0 || high >= divisor) {
            high -= divisor;
            quotient |= 1;
        }
    }
    return quotient;
}

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 lx__uint128;

static inline uint64_t lx__multiply_wide(uint64_t a, uint64_t b, uint64_t *high)
{
    lx__uint128 product = (lx__uint128)a * b;
    *high = (uint64_t)(product >> 64);
    return (uint64_t)product;
}

static inline uint64_t lx__divide_wide(uint64_t high, uint64_t low, uint64_t divisor)
{
    return (uint64_t)(((lx__uint128)high << 64 | low) / divisor);
}
#else
#define lx__divide_wide lx__divide_wide_bits
#define lx__multiply_wide lx__multiply_wide_parts
#endif

/** Returns a * b / 2^shift, rounded down, for a shift of 1 to 127 such that the result fits in 64
 * bits. */
static inline uint64_t lx__multiply_shift(uint64_t a, uint64_t b, int shift)
{
    uint64_t high, low = lx__multiply_wide(a, b, &high);
    return shift >= 64 ? high >> (shift - 64) : high << (64 - shift) | low >> shift;
}

/**
 * Maps a 64-bit @p draw to one of @p n equal parts of its range: returns the high half of draw * n,
 * in 0..n-1. Each value results from either floor(2^64/n) or ceil(2^64/n) draws, so its probability
 * differs from 1/n by less than 2^-64. (Lemire, "Fast Random Integer Generation in an Interval",
 * 2019.)
 */
static inline uint64_t lx__draw_below(uint64_t draw, uint64_t n)
{
    uint64_t high;
    (void)lx__multiply_wide(draw, n, &high);
    return high;
}

#endif
