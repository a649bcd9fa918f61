/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Nanotron and datatrove token files.
 */
#ifndef LX_LOADER_TOKEN_FILE_DS_H
#define LX_LOADER_TOKEN_FILE_DS_H

#include "loader/tokens/token-file.h"

/** Maps a datatrove token file (the format that Nanotron reads) and its index. @p file must be
 * zeroed except for its path. */
lx_status lx__token_file_open_ds(lx__token_file *file, lx_dtype dtype, lx_error *error);

#endif
