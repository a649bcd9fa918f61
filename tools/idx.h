/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief IDX, the format of MNIST: two zeros, a type, a number of axes, their extents, the
 * elements; all of it big-endian.
 */
#ifndef LX_TOOLS_IDX_H
#define LX_TOOLS_IDX_H

#include "array.h"
#include "input.h"

/**
 * Reads the header at the beginning of @p in, which stands at the first element then.
 * @retval LX_ERR_CORRUPT  It is no IDX, or says what cannot be.
 * @return Else as input_read() and array_measure().
 */
lx_status idx_read_header(input *in, array_header *header, lx_error *error);

#endif
