/* SPDX-License-Identifier: MIT */
#include "order-arguments.h"

#include <string.h>

bool lxpy_check_count(Py_ssize_t count, Py_ssize_t expected)
{
    if (count != expected)
        PyErr_Format(PyExc_TypeError, "the function takes %zd arguments, not %zd", expected, count);
    return count == expected;
}

int lxpy_numbers(PyObject *const *args, Py_ssize_t count, const char *const *names,
                 uint64_t *values)
{
    Py_ssize_t expected = 0;
    while (names[expected] != NULL)
        expected++;
    if (!lxpy_check_count(count, expected))
        return -1;
    for (Py_ssize_t i = 0; i < expected; i++)
        if (lxpy_uint64(args[i], names[i], 0, UINT64_MAX, &values[i]) < 0)
            return -1;
    return 0;
}

/** Gets the buffer of an array that has 8-byte elements and one of the given format letters. */
static int get_array(PyObject *object, const char *argument, const char *formats, const char *what,
                     lxpy_array64 *array)
{
    if (!PyObject_CheckBuffer(object) ||
        PyObject_GetBuffer(object, &array->view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s must be an array of %s", argument, what);
        return -1;
    }
    const char *format = array->view.format;
    if (array->view.itemsize != 8 || strlen(format) != 1 || strchr(formats, *format) == NULL) {
        PyBuffer_Release(&array->view);
        PyErr_Format(PyExc_TypeError, "%s must be an array of %s", argument, what);
        return -1;
    }
    array->count = (uint64_t)array->view.len / 8;
    return 0;
}

int lxpy_uint64_array_get(PyObject *object, const char *argument, lxpy_array64 *array)
{
    return get_array(object, argument, "LQ", "uint64", array);
}

int lxpy_float64_array_get(PyObject *object, const char *argument, lxpy_array64 *array)
{
    return get_array(object, argument, "d", "float64", array);
}

int lxpy_tables(PyObject *object, const char **tables)
{
    char *path = NULL;
    if (object != Py_None && PyBytes_AsStringAndSize(object, &path, NULL) < 0)
        return -1;
    *tables = path;
    return 0;
}

lx_order_options *lxpy_order_tables(PyObject *tables)
{
    const char *directory;
    if (lxpy_tables(tables, &directory) < 0)
        return NULL;
    lx_order_options *options = lx_order_options_new();
    if (options == NULL || lx_order_options_set_tables(options, directory, NULL) != LX_OK) {
        lx_order_options_free(options);
        PyErr_NoMemory();
        return NULL;
    }
    return options;
}

lx_order_options *lxpy_order_options(uint64_t length, uint64_t seed, PyObject *tables)
{
    lx_order_options *options = lxpy_order_tables(tables);
    if (options == NULL)
        return NULL;
    lx_order_options_set_seed(options, seed, NULL); /* cannot fail */
    if (length != LX_NONE)
        lx_order_options_set_length(options, length, NULL);
    return options;
}
