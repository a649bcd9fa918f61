/* SPDX-License-Identifier: MIT */
/* Converts Python objects to values for the library's writer. */
#ifndef LXPY_VALUE_H
#define LXPY_VALUE_H

#include "schema.h"

/** Owns the memory of one field's values while they are written. A zeroed struct is empty. */
typedef struct lxpy_value_owner {
    Py_buffer view;    /**< The buffer of the caller's object or of its conversion. */
    Py_buffer present; /**< The mask of present values. */
    Py_buffer offsets; /**< The offsets of values that vary in length. */
    void *block;       /**< Memory allocated for the values. */
    uint8_t number[8]; /**< A scalar. */
} lxpy_value_owner;

void lxpy_value_owner_clear(lxpy_value_owner *owner);

/** Gets the buffers of a tuple of three arrays: the values, their offsets, and the mask. The last
 * two may be None. Returns -1 with an exception set on failure. */
int lxpy_arrays_take(lxpy_value_owner *owner, PyObject *arrays);

/** Converts the value of one record; None means that the value is missing. @p casting is the name
 * of NumPy's rule for converting dtypes, or None. Errors name the field. */
int lxpy_value_take(lx_value *value, lxpy_value_owner *owner, lxpy_state *state,
                    const lxpy_field *field, PyObject *object, PyObject *casting);

/** Converts the values of many records; None means that all values are missing. */
int lxpy_values_take(lx_values *values, lxpy_value_owner *owner, lxpy_state *state,
                     const lxpy_field *field, PyObject *object, PyObject *casting, uint64_t *count);

#endif
