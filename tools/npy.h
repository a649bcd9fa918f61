/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Headers of NumPy's .npy files.
 */
#ifndef LX_TOOLS_NPY_H
#define LX_TOOLS_NPY_H

#include "array.h"
#include "input.h"

/**
 * Reads the header at the beginning of @p in; the next read starts at the first element.
 *
 * @retval LX_ERR_CORRUPT      The header is invalid.
 * @retval LX_ERR_UNSUPPORTED  The file is not an .npy file, or its version, dtype or order is not
 *                             supported; the error suggests what to do.
 * @return Otherwise, any status that input_read() or array_measure() returns.
 */
lx_status npy_read_header(input *in, array_header *header, lx_error *error);

#endif
