/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Opens a token file, whose name determines its format, or a field in place of a file.
 */
#ifndef LX_LOADER_TOKEN_FILE_OPEN_H
#define LX_LOADER_TOKEN_FILE_OPEN_H

#include "loader/tokens/token-file.h"

/** Opens a file whose name determines its format, as lx_tokens_open() does, or a file of raw
 * tokens, as lx_tokens_open_raw() does. */
lx_status lx__token_file_open(const char *path, lx_dtype dtype, bool raw, lx__token_file **file,
                              lx_error *error);

/** Opens a field in place of a file; see lx_tokens_new_field(). */
lx_status lx__token_file_from_field(lx_dataset *dataset, size_t field, lx_dtype dtype,
                                    lx__token_file **file, lx_error *error);

#endif
