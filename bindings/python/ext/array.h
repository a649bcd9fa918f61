/* SPDX-License-Identifier: MIT */
#ifndef LXPY_ARRAY_H
#define LXPY_ARRAY_H

#include "lxpy.h"

/** A source over the memory of @p view, which must stay as long as the source is read: one column
 * "data" of records of @p dtype, that are contiguous, wherever each of them lies. */
lx_status lxpy_array_source_new(const Py_buffer *view, lx_dtype dtype, lx_source **source,
                                lx_error *error);

#endif
