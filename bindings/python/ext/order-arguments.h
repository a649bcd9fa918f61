/* SPDX-License-Identifier: MIT */
/* Arguments of the functions that make orders. */
#ifndef LXPY_ORDER_ARGUMENTS_H
#define LXPY_ORDER_ARGUMENTS_H

#include "lxpy.h"

/** Checks the number of arguments; raises an error if it is wrong. */
bool lxpy_are(Py_ssize_t count, Py_ssize_t wanted);

/** Converts the numbers of a call; @p names ends with NULL; -1 with an exception raised. */
int lxpy_numbers(PyObject *const *args, Py_ssize_t count, const char *const *names,
                 uint64_t *values);

/** An array of uint64 or of double, to be released with PyBuffer_Release(). */
typedef struct lxpy_words {
    Py_buffer view;
    uint64_t count;
} lxpy_words;

/** Takes an array of uint64; anything else is a TypeError that names @p argument. */
int lxpy_words_take(PyObject *object, const char *argument, lxpy_words *words);

/** The same of float64. */
int lxpy_reals_take(PyObject *object, const char *argument, lxpy_words *words);

/** The folder that keeps an order's tables: bytes, in whose object it stays, or None, which is
 * NULL; -1 with an exception raised. */
int lxpy_tables(PyObject *object, const char **tables);

/** Options of an order with a directory of tables, as for lxpy_tables(), to be freed with
 * lx_order_options_free(). NULL with an exception raised. */
lx_order_options *lxpy_order_tables(PyObject *tables);

/** The same, also with a seed, and with the length of an epoch unless that is LX_NONE. */
lx_order_options *lxpy_order_options(uint64_t length, uint64_t seed, PyObject *tables);

#endif
