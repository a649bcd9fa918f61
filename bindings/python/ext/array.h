/* SPDX-License-Identifier: MIT */
#ifndef LXPY_ARRAY_H
#define LXPY_ARRAY_H

#include "lxpy.h"

/** A source over the memory of @p view, which must stay as long as the source is read: one column
 * "data" of contiguous records of @p dtype, at any distance from each other. */
lx_status lxpy_array_source_new(const Py_buffer *view, lx_dtype dtype, lx_source **source,
                                lx_error *error);

#endif
