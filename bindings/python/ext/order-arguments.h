/* SPDX-License-Identifier: MIT */
/* Arguments of the functions that create orders. */
#ifndef LXPY_ORDER_ARGUMENTS_H
#define LXPY_ORDER_ARGUMENTS_H

#include "lxpy.h"

/** Checks the number of arguments; raises TypeError if it is wrong. */
bool lxpy_check_count(Py_ssize_t count, Py_ssize_t expected);

/** Converts the numbers of a call; @p names is terminated by NULL; -1 with an exception. */
int lxpy_numbers(PyObject *const *args, Py_ssize_t count, const char *const *names,
                 uint64_t *values);

/** An array of uint64 or double, to be released with PyBuffer_Release(). */
typedef struct lxpy_array64 {
    Py_buffer view;
    uint64_t count;
} lxpy_array64;

/** Gets an array of uint64; another object is a TypeError that names @p argument. */
int lxpy_uint64_array_get(PyObject *object, const char *argument, lxpy_array64 *array);

/** Gets an array of float64 in the same way. */
int lxpy_float64_array_get(PyObject *object, const char *argument, lxpy_array64 *array);

/** Gets the directory of an order's tables from bytes, which own the text, or NULL for None; -1
 * with an exception. */
int lxpy_tables(PyObject *object, const char **tables);

/** Creates options of an order with a directory of tables, as for lxpy_tables(); free them with
 * lx_order_options_free(). NULL with an exception. */
lx_order_options *lxpy_order_tables(PyObject *tables);

/** Creates the same with a seed, and with the length of an epoch unless that is LX_NONE. */
lx_order_options *lxpy_order_options(uint64_t length, uint64_t seed, PyObject *tables);

#endif
