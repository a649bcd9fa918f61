/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief IDX, the format of MNIST: two zeros, a type, the number of axes, their extents, and the
 * elements, all big-endian.
 */
#ifndef LX_TOOLS_IDX_H
#define LX_TOOLS_IDX_H

#include "array.h"
#include "input.h"

/**
 * Reads the header at the beginning of @p in; the next read starts at the first element.
 * @retval LX_ERR_CORRUPT  The file is not an IDX file, or its header is invalid.
 * @return Otherwise, any status that input_read() or array_measure() returns.
 */
lx_status idx_read_header(input *in, array_header *header, lx_error *error);

#endif
