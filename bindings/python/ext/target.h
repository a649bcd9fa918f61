/* SPDX-License-Identifier: MIT */
/* The destination memory of dense records. */
#ifndef LXPY_TARGET_H
#define LXPY_TARGET_H

#include "schema.h"

/** Memory to fill: a new array, or the caller's buffer. */
typedef struct lxpy_target {
    PyObject *object; /**< Returned to the caller. */
    Py_buffer view;
} lxpy_target;

/** Creates an uninitialized array of @p shape. If @p shape is NULL, fails with the exception that
 * is already set. */
int lxpy_target_make(lxpy_target *target, lxpy_state *state, PyObject *shape, lx_dtype dtype);

/** Like lxpy_target_make(), for a numpy.dtype. */
int lxpy_target_make_as(lxpy_target *target, lxpy_state *state, PyObject *shape, PyObject *dtype);

/** Gets the caller's buffer, which must fit @p count records of the field; errors name the
 * field. */
int lxpy_target_take(lxpy_target *target, lxpy_state *state, const lxpy_field *field,
                     PyObject *object, size_t count);

void lxpy_target_drop(lxpy_target *target);

/** Raises @p type with a message that begins with "out['field']". Returns -1. */
int lxpy_fail_out(PyObject *type, const lxpy_field *field, const char *format, ...);

#endif
