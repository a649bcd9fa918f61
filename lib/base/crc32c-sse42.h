/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief CRC-32C with SSE 4.2.
 */
#ifndef LX_BASE_CRC32C_SSE42_H
#define LX_BASE_CRC32C_SSE42_H

#include <stddef.h>
#include <stdint.h>

/** Uses SSE 4.2 and PCLMUL, in three streams; requires a processor with both. */
uint32_t lx__crc32c_sse42(uint32_t crc, const void *data, size_t size);

/** Returns the product of two CRCs as polynomials, times x^33 (see crc32c-streams.h). */
uint32_t lx__crc32c_multiply_sse42(uint32_t a, uint32_t b);

#endif
