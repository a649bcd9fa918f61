/* SPDX-License-Identifier: MIT */
/* Arguments of the functions that create orders. */
#ifndef LXPY_ORDER_ARGUMENTS_H
#define LXPY_ORDER_ARGUMENTS_H

#include "lxpy.h"

/** Checks the number of arguments; raises TypeError if it is wrong. */
bool lxpy_check_count(Py_ssize_t count, Py_ssize_t expected);

/** Converts the numbers of a call; @p names is terminated by NULL. Returns -1 with an exception set
 * on failure. */
int lxpy_numbers(PyObject *const *args, Py_ssize_t count, const char *const *names,
                 uint64_t *values);

/** An array of uint64 or double, to be released with PyBuffer_Release(). */
typedef struct lxpy_array64 {
    Py_buffer view;
    uint64_t count;
} lxpy_array64;

/** Gets a uint64 array; any other object raises a TypeError that names @p argument. */
int lxpy_uint64_array_get(PyObject *object, const char *argument, lxpy_array64 *array);

/** Gets a float64 array in the same way. */
int lxpy_float64_array_get(PyObject *object, const char *argument, lxpy_array64 *array);

/** Gets the directory of an order's tables from a bytes object, which owns the text; for None, the
 * directory is NULL. Returns -1 with an exception set on failure. */
int lxpy_tables(PyObject *object, const char **tables);

/** Creates order options with a directory of tables, which is parsed as in lxpy_tables(); free them
 * with lx_order_options_free(). Returns NULL with an exception set on failure. */
lx_order_options *lxpy_order_tables(PyObject *tables);

/** Like lxpy_order_tables(), but the options also contain a seed and, unless @p length is LX_NONE,
 * the length of an epoch. */
lx_order_options *lxpy_order_options(uint64_t length, uint64_t seed, PyObject *tables);

#endif
