/* SPDX-License-Identifier: MIT */
#include "order-arguments.h"

#include <string.h>

bool lxpy_are(Py_ssize_t count, Py_ssize_t wanted)
{
    if (count != wanted)
        PyErr_Format(PyExc_TypeError, "%zd arguments are needed, not %zd", wanted, count);
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
