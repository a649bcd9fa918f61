/* SPDX-License-Identifier: MIT */
#include "order-arguments.h"

#include <string.h>

bool lxpy_are(Py_ssize_t count, Py_ssize_t wanted)
{
    if (count != wanted)
        PyErr_Format(PyExc_TypeError, "the call takes %zd arguments, not %zd", wanted, count);
    return count == wanted;
}

int lxpy_numbers(PyObject *const *args, Py_ssize_t count, const char *const *names,
                 uint64_t *values)
{
    Py_ssize_t wanted = 0;
    while (names[wanted] != NULL)
        wanted++;
    if (!lxpy_are(count, wanted))
        return -1;
    for (Py_ssize_t i = 0; i < wanted; i++)
        if (lxpy_uint64(args[i], names[i], 0, UINT64_MAX, &values[i]) < 0)
            return -1;
    return 0;
}

/** Takes an array whose elements have one of the formats, each a letter, and 8 bytes. */
static int take(PyObject *object, const char *argument, const char *formats, const char *what,
                lxpy_words *words)
{
    if (!PyObject_CheckBuffer(object) ||
        PyObject_GetBuffer(object, &words->view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s must be an array of %s", argument, what);
        return -1;
    }
    const char *format = words->view.format;
    if (words->view.itemsize != 8 || strlen(format) != 1 || strchr(formats, *format) == NULL) {
        PyBuffer_Release(&words->view);
        PyErr_Format(PyExc_TypeError, "%s must be an array of %s", argument, what);
        return -1;
    }
    words->count = (uint64_t)words->view.len / 8;
    return 0;
}

int lxpy_words_take(PyObject *object, const char *argument, lxpy_words *words)
{
    return take(object, argument, "LQ", "uint64", words);
}

int lxpy_reals_take(PyObject *object, const char *argument, lxpy_words *words)
{
    return take(object, argument, "d", "float64", words);
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
    lx_order_options_set_seed(options, seed, NULL); /* it cannot fail */
    if (length != LX_NONE)
        lx_order_options_set_length(options, length, NULL);
    return options;
}
