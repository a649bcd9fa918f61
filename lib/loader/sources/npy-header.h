/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reads the header of an .npy file whose array can be mapped.
 */
#ifndef LX_LOADER_NPY_HEADER_H
#define LX_LOADER_NPY_HEADER_H

#include <loaderx/npy.h>

#include "base/file.h"

/** Reads the header of a file. On success, the elements are little-endian and the file contains all
 * of them. */
lx_status lx__npy_read(const lx__file *file, lx_npy_info *npy, lx_error *error);

#endif
