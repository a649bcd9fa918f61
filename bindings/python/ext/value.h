/* SPDX-License-Identifier: MIT */
/* Values of Python objects as the writer of the library takes them. */
#ifndef LXPY_VALUE_H
#define LXPY_VALUE_H

#include "schema.h"

/** Keeps the memory of one field's values while they are written. Zeros are an empty one. */
typedef struct lxpy_held {
    Py_buffer view;    /**< Of the caller's object, or of what it was converted to. */
    Py_buffer present; /**< The mask of present values. */
    void *block;       /**< Memory of ours. */
    uint8_t number[8]; /**< A scalar. */
} lxpy_held;

void lxpy_held_drop(lxpy_held *held);

/** The value of one record; None is missing. Errors name the field. */
int lxpy_value_take(lx_value *value, lxpy_held *held, lxpy_state *state, const lxpy_field *field,
                    PyObject *object);

/**
 * The values of many records; None are as many missing ones.
 *
 * @param[in,out] count  How many records; #LX_NONE while that is not known yet.
 */
int lxpy_values_take(lx_values *values, lxpy_held *held, lxpy_state *state, const lxpy_field *field,
                     PyObject *object, uint64_t *count);

#endif
