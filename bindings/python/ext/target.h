/* SPDX-License-Identifier: MIT */
/* Memory that dense records are read to. */
#ifndef LXPY_TARGET_H
#define LXPY_TARGET_H

#include "schema.h"

/** Memory that is to be filled: an array of ours, or what the caller gave. */
typedef struct lxpy_target {
    PyObject *object; /**< What the caller gets. */
    Py_buffer view;
} lxpy_target;

/** A new array of @p shape; its memory is not yet anything. NULL for @p shape is a failure. */
int lxpy_target_make(lxpy_target *target, lxpy_state *state, PyObject *shape, PyObject *dtype);

/** The caller's own: @p count records of the field fit into it, or it is refused by name. */
int lxpy_target_take(lxpy_target *target, lxpy_state *state, const lxpy_field *field,
                     PyObject *object, size_t count);

void lxpy_target_drop(lxpy_target *target);

/** Raises @p type with a text that begins with "out['field']". Returns -1. */
int lxpy_fail_out(PyObject *type, const lxpy_field *field, const char *format, ...);

#endif
