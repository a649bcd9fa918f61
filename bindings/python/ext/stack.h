/* SPDX-License-Identifier: MIT */
/* Items of one type, concatenated in one array. */
#ifndef LXPY_STACK_H
#define LXPY_STACK_H

#include "target.h"

/** An array of int64 or float64 of a tuple of ints or floats, of one at least. 1 where @p target
 * has it, to be dropped; 0 where they are not all of the first one's type, or too large; -1 with an
 * exception. */
int lxpy_stack_numbers(lxpy_state *state, PyObject *items, lxpy_target *target);

/** The same of arrays: numbers of one type, of one shape and contiguous. Their bytes are copied
 * without the GIL. */
int lxpy_stack_arrays(lxpy_state *state, PyObject *items, lxpy_target *target);

#endif
