/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief CRC-32C with a processor instruction, in three parallel streams. This code is shared by
 * crc32c-sse42.c and crc32c-arm64.c, which define the following before they include this header:
 *   step8(crc, byte), step64(crc, word): the processor's CRC instruction,
 *   multiply(a, b): the carry-less product of two 32-bit numbers.
 *
 * The instruction has a throughput of one word per cycle and a latency of three cycles, so the
 * three thirds of a block are processed in parallel. To combine the three CRCs, the first two are
 * shifted past the bytes that follow their thirds: shifting a CRC past n zero bytes multiplies it
 * by x^(8n) modulo the polynomial P. The product of two reflected numbers includes an extra factor
 * x, and step64(0, .) multiplies by x^32 and reduces, so the factors below are x^(8n - 33) mod P,
 * reflected. (Gopal et al., "Fast CRC Computation for iSCSI Polynomial Using CRC32 Instruction",
 * Intel 2011.)
 */
#ifndef LX_BASE_CRC32C_STREAMS_H
#define LX_BASE_CRC32C_STREAMS_H

#include "base/bytes.h"

/* Bytes per third: a 4 KiB record contains one long block, a 512-byte record one short block. */
#define LONG_THIRD 1360
#define SHORT_THIRD 168

struct factors {
    uint32_t two_thirds, one_third;
};
static const struct factors long_factors = {0x5aa1f3cf, 0x3f70cc6f};
static const struct factors short_factors = {0xa60ce07b, 0x1b3d8f29};

/** Processes whole blocks of three thirds; returns the raw CRC and advances @p at. */
static inline uint32_t take_blocks(uint32_t crc, const uint8_t **at, size_t *size, size_t third,
                                   const struct factors *factors)
{
    while (*size >= 3 * third) {
        const uint8_t *a = *at, *b = a + third, *c = b + third;
        uint32_t crc_b = 0, crc_c = 0;
        for (size_t i = 0; i < third; i += 8) {
            crc = step64(crc, lx__load_le64(a + i));
            crc_b = step64(crc_b, lx__load_le64(b + i));
            crc_c = step64(crc_c, lx__load_le64(c + i));
        }
        crc = step64(0, multiply(crc, factors->two_thirds) ^ multiply(crc_b, factors->one_third)) ^
              crc_c;
        *at += 3 * third;
        *size -= 3 * third;
    }
    return crc;
}

/** Returns the product of two CRCs as polynomials, times x^33. */
static inline uint32_t crc32c_product(uint32_t a, uint32_t b)
{
    return step64(0, multiply(a, b));
}

static inline uint32_t crc32c_streams(uint32_t crc, const void *data, size_t size)
{
    const uint8_t *at = data;
    crc = ~crc;
    crc = take_blocks(crc, &at, &size, LONG_THIRD, &long_factors);
    crc = take_blocks(crc, &at, &size, SHORT_THIRD, &short_factors);
    for (; size >= 8; size -= 8, at += 8)
        crc = step64(crc, lx__load_le64(at));
    for (; size != 0; size--, at++)
        crc = step8(crc, *at);
    return ~crc;
}

#endif
