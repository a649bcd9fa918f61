/* SPDX-License-Identifier: MIT */
#ifndef LXPY_ARRAY_H
#define LXPY_ARRAY_H

#include "lxpy.h"

/** Creates a source that reads the memory of @p view, which must outlive the source. The source has
 * one column, "data", of contiguous records of @p dtype; the records may have any stride. */
lx_status lxpy_array_source_new(const Py_buffer *view, lx_dtype dtype, lx_source **source,
                                lx_error *error);

#endif
