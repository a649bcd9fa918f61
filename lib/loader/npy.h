/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The header of an .npy file, formats 1.0 to 3.0 (NumPy's numpy.lib.format).
 */
#ifndef LX_LOADER_NPY_H
#define LX_LOADER_NPY_H

#include "base/file.h"
#include <loaderx/zrecord.h>

/** An array in a file. */
typedef struct lx__npy {
    lx_dtype dtype;
    size_t ndim;
    uint64_t shape[LX_NDIM_MAX];
    uint64_t data_offset; /**< Of the first element in the file. */
} lx__npy;

/** Reads the header, and holds the file's length against it. */
lx_status lx__npy_read(const lx__file *file, lx__npy *npy, lx_error *error);

/** Parses the text of a header: a Python dict with descr, fortran_order and shape. */
lx_status lx__npy_parse(const char *text, size_t size, lx__npy *npy, lx_error *error);

#endif
