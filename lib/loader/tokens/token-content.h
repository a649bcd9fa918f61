/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Finds files that are given as raw tokens, but have another content by their first bytes.
 */
#ifndef LX_LOADER_TOKEN_CONTENT_H
#define LX_LOADER_TOKEN_CONTENT_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/status.h>

/**
 * Checks that a file may have raw tokens of @p width bytes. Each check is so strict that tokens do
 * not pass it by chance.
 * @retval LX_ERR_UNSUPPORTED  The file is a NumPy array, compressed, an archive, a table, an index
 *                             or text; the error says what to do.
 */
lx_status lx__token_content_check(const uint8_t *bytes, size_t size, uint64_t width,
                                  lx_error *error);

#endif
