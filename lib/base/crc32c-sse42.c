/* SPDX-License-Identifier: MIT */
/* Compiled with SSE 4.2 and PCLMUL: crc32c.c checks for both before it calls this code. */
#include "base/crc32c-sse42.h"

#include "base/crc32c.h"

#include <nmmintrin.h>
#include <wmmintrin.h>

static inline uint32_t step8(uint32_t crc, uint8_t byte)
{
    return _mm_crc32_u8(crc, byte);
}

static inline uint32_t step64(uint32_t crc, uint64_t word)
{
    return (uint32_t)_mm_crc32_u64(crc, word);
}

static inline uint64_t multiply(uint32_t a, uint32_t b)
{
    __m128i product = _mm_clmulepi64_si128(_mm_cvtsi32_si128((int)a), _mm_cvtsi32_si128((int)b), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

#include "base/crc32c-streams.h"

uint32_t lx__crc32c_sse42(uint32_t crc, const void *data, size_t size)
{
    return crc32c_streams(crc, data, size);
}

uint32_t lx__crc32c_multiply_sse42(uint32_t a, uint32_t b)
{
    return crc32c_product(a, b);
}
