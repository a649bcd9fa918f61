/* SPDX-License-Identifier: MIT */
/* Tables of other libraries, through the Arrow PyCapsule interface. */
#ifndef LXPY_ARROW_H
#define LXPY_ARROW_H

#include "writer.h"

/** Returns what @p object exports: the capsule of a stream, or the tuple of the capsules of a type
 * and of an array; None if @p object is not an Arrow table; NULL with an exception on failure. */
PyObject *lxpy_arrow_export(lxpy_state *state, PyObject *object);

/** Appends the rows of what lxpy_arrow_export() returned, which is a tuple or a stream, and returns
 * the index of the first record. */
PyObject *lxpy_arrow_extend(lxpy_writer *writer, PyObject *exported);

#endif
