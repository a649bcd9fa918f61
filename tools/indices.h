/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Indices in a file: a .npy array of integers, one axis, gzipped or not.
 */
#ifndef LX_TOOLS_INDICES_H
#define LX_TOOLS_INDICES_H

#include <stdint.h>

#include <loaderx/status.h>

/**
 * Reads all of them, each 0 to 2^64 - 2.
 *
 * @param[out] numbers  For free(); NULL on failure.
 *
 * @retval LX_ERR_UNSUPPORTED  It has no integers, or more than one axis.
 * @retval LX_ERR_CORRUPT      One is negative or too large, or the file is damaged.
 * @return Else as column_open() and column_read().
 */
lx_status indices_read(const char *path, uint64_t **numbers, uint64_t *count, lx_error *error);

#endif
