/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reads and writes unaligned little-endian integers, and does arithmetic that detects
 * overflow.
 */
#ifndef LX_BASE_BYTES_H
#define LX_BASE_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LX__LE16(x) __builtin_bswap16(x)
#define LX__LE32(x) __builtin_bswap32(x)
#define LX__LE64(x) __builtin_bswap64(x)
#else
#define LX__LE16(x) (x)
#define LX__LE32(x) (x)
#define LX__LE64(x) (x)
#endif

static inline uint32_t lx__load_le32(const void *from)
{
    uint32_t value;
    memcpy(&value, from, sizeof value);
    return LX__LE32(value);
}

static inline uint64_t lx__load_le64(const void *from)
{
    uint64_t value;
    memcpy(&value, from, sizeof value);
    return LX__LE64(value);
}

static inline void lx__store_le32(void *to, uint32_t value)
{
    value = LX__LE32(value);
    memcpy(to, &value, sizeof value);
}

static inline void lx__store_le64(void *to, uint64_t value)
{
    value = LX__LE64(value);
    memcpy(to, &value, sizeof value);
}

/** Whether bytes [offset, offset + length) lie within the first @p total bytes; correct for all
 * values, because no step overflows. */
static inline bool lx__range_fits(uint64_t offset, uint64_t length, uint64_t total)
{
    return offset <= total && length <= total - offset;
}

/** Rounds @p value up to a multiple of @p align, which must be a power of two; wraps around near
 * 2^64. */
static inline uint64_t lx__align_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) & ~(align - 1);
}

/** Stores a + b in @p sum and returns true; on overflow, returns false and leaves @p sum
 * unchanged. */
static inline bool lx__add_fits(uint64_t a, uint64_t b, uint64_t *sum)
{
    if (b > UINT64_MAX - a)
        return false;
    *sum = a + b;
    return true;
}

/** Stores a * b in @p product and returns true; on overflow, returns false and leaves @p product
 * unchanged. */
static inline bool lx__multiply_fits(uint64_t a, uint64_t b, uint64_t *product)
{
    if (b != 0 && a > UINT64_MAX / b)
        return false;
    *product = a * b;
    return true;
}

#endif
