/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief An array in an .npy file that can be mapped.
 */
#ifndef LX_LOADER_NPY_HEADER_H
#define LX_LOADER_NPY_HEADER_H

#include <loaderx/npy.h>

#include "base/file.h"

/** Reads the header of a file. Elements are little-endian, and the file holds all of them. */
lx_status lx__npy_read(const lx__file *file, lx_npy_info *npy, lx_error *error);

#endif
