/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Megatron token files.
 */
#ifndef LX_LOADER_TOKEN_FILE_MEGATRON_H
#define LX_LOADER_TOKEN_FILE_MEGATRON_H

#include "loader/tokens/token-file.h"

/** Maps a Megatron token file and its index. @p file must be zeroed except for its path. */
lx_status lx__token_file_open_megatron(lx__token_file *file, lx_dtype dtype, lx_error *error);

#endif
