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
 * Reads the header at the beginning of @p in, which stands at the first element then.
 *
 * @retval LX_ERR_CORRUPT      Its header is not as NumPy writes it.
 * @retval LX_ERR_UNSUPPORTED  It is not an .npy file, or its version, dtype or order is not read; the
 *                             error says what to do.
 * @return Else as input_read() and array_measure().
 */
lx_status npy_read_header(input *in, array_header *header, lx_error *error);

#endif
