/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Sources over .npy files.
 */
#ifndef LX_LOADER_SOURCE_NPY_H
#define LX_LOADER_SOURCE_NPY_H

#include <loaderx/source.h>

/** Maps the .npy file at @p path and creates a source over it. */
lx_status lx__source_open_npy(const char *path, lx_source **source, lx_error *error);

#endif
