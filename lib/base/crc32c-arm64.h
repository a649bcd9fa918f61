/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief CRC-32C with the arm64 CRC instructions.
 */
#ifndef LX_BASE_CRC32C_ARM64_H
#define LX_BASE_CRC32C_ARM64_H

#include <stddef.h>
#include <stdint.h>

/** Uses the CRC and PMULL extensions of Armv8, in three streams; requires a processor with both. */
uint32_t lx__crc32c_arm64(uint32_t crc, const void *data, size_t size);

/** Returns the product of two CRCs as polynomials, times x^33 (see crc32c-streams.h). */
uint32_t lx__crc32c_multiply_arm64(uint32_t a, uint32_t b);

#endif
