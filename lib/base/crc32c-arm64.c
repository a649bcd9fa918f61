/* SPDX-License-Identifier: MIT */
/* Compiled with the CRC and crypto extensions: crc32c.c checks for both before it calls this
 * code. */
#include "base/crc32c-arm64.h"

#include "base/crc32c.h"

#include <arm_acle.h>
#include <arm_neon.h>

static inline uint32_t step8(uint32_t crc, uint8_t byte)
{
    return __crc32cb(crc, byte);
}

static inline uint32_t step64(uint32_t crc, uint64_t word)
{
    return __crc32cd(crc, word);
}

static inline uint64_t multiply(uint32_t a, uint32_t b)
{
    return vgetq_lane_u64(vreinterpretq_u64_p128(vmull_p64(a, b)), 0);
}

#include "base/crc32c-streams.h"

uint32_t lx__crc32c_arm64(uint32_t crc, const void *data, size_t size)
{
    return crc32c_streams(crc, data, size);
}

uint32_t lx__crc32c_multiply_arm64(uint32_t a, uint32_t b)
{
    return crc32c_product(a, b);
}
