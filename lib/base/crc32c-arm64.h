/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief CRC-32C by the instructions of arm64.
 */
#ifndef LX_BASE_CRC32C_ARM64_H
#define LX_BASE_CRC32C_ARM64_H

#include <stddef.h>
#include <stdint.h>

/** By the CRC and PMULL extensions of Armv8, three streams; only where the processor has both. */
uint32_t lx__crc32c_arm64(uint32_t crc, const void *data, size_t size);

#endif
