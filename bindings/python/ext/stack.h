/* SPDX-License-Identifier: MIT */
/* Combines items of one type into an array. */
#ifndef LXPY_STACK_H
#define LXPY_STACK_H

#include "target.h"

/** Makes an array of int64 or float64 from a tuple of at least one int or float. Returns 1 with the
 * array in @p target, which the caller must drop; 0 if the items have different types or do not
 * fit; or -1 with an exception set. */
int lxpy_stack_numbers(lxpy_state *state, PyObject *items, lxpy_target *target);

/** Makes an array from contiguous arrays of numbers that have the same dtype and shape. Copies
 * without the GIL. */
int lxpy_stack_arrays(lxpy_state *state, PyObject *items, lxpy_target *target);

#endif
