/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief CRC-32C (Castagnoli polynomial 0x1EDC6F41, reflected, init and xor-out ~0).
 *
 * Source: RFC 3720, appendix B.4, for the polynomial and its test vectors.
 */
#ifndef LX_BASE_CRC32C_H
#define LX_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/export.h>

/**
 * Continues the CRC @p crc of preceding data with the @p size bytes at @p data. Start with 0:
 * lx__crc32c(0, "123456789", 9) is 0xe3069283. Uses the processor's CRC instruction if available;
 * the first call selects the implementation.
 */
LX_API uint32_t lx__crc32c(uint32_t crc, const void *data, size_t size);

/**
 * Returns by how much the CRC of some data changes if the CRC before it changes by @p change: for
 * any @p size bytes at data, lx__crc32c(crc ^ change, data, size) is
 * lx__crc32c(crc, data, size) ^ lx__crc32c_shift(change, size). The data is not needed.
 *
 * Source: the idea of Mark Adler's crc32_combine() in zlib; here, with one multiplication for each
 * byte of the size.
 */
LX_API uint32_t lx__crc32c_shift(uint32_t change, uint32_t size);

/** Like lx__crc32c(), but always uses tables. Tests use it as the reference for the other
 * implementations. */
uint32_t lx__crc32c_tables(uint32_t crc, const void *data, size_t size);

/** Like lx__crc32c_shift(), but does not use the processor's instructions. For tests. */
uint32_t lx__crc32c_shift_in_software(uint32_t change, uint32_t size);

#endif
