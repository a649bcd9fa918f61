/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief NumPy's .npy, versions 1.0, 2.0 and 3.0: a magic, a dict of Python in text, the elements.
 */
#ifndef LX_TOOLS_NPY_H
#define LX_TOOLS_NPY_H

#include "array.h"
#include "input.h"

/**
 * Reads the header at the beginning of @p in, which stands at the first element then.
 *
 * @retval LX_ERR_CORRUPT      It is no .npy, or its header is not as NumPy writes it.
 * @retval LX_ERR_UNSUPPORTED  Its version, its dtype, or its being in Fortran order; the error
 *                             tells what to do.
 * @return Else as input_read() and array_measure().
 */
lx_status npy_read_header(input *in, array_header *header, lx_error *error);

#endif
