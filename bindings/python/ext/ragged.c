/* SPDX-License-Identifier: MIT */
/* Checks the offsets of joined values, and splits joined byte strings into objects. */
#include "objects.h"

int lxpy_check_offsets(const Py_buffer *view, uint64_t items, uint64_t *rows)
{
    const int64_t *offsets = view->buf;
    uint64_t count = (uint64_t)view->len / sizeof *offsets;
    if (count == 0) {
        PyErr_SetString(PyExc_ValueError,
                        "offsets is empty: n values have n + 1 offsets, so there is at least one");
        return -1;
    }
    for (uint64_t i = 0; i < count; i++)
        if (offsets[i] < (i == 0 ? 0 : offsets[i - 1]) || (uint64_t)offsets[i] > items) {
            PyErr_Format(PyExc_ValueError,
                         "offsets[%llu] is %lld, but offsets must ascend from 0 to at most the "
                         "number of items, %llu",
                         (unsigned long long)i, (long long)offsets[i], (unsigned long long)items);
            return -1;
        }
    *rows = count - 1;
    return 0;
}

static PyObject *check_offsets(PyObject *module, PyObject *args)
{
    PyObject *object;
    Py_ssize_t items;
    Py_buffer offsets;
    uint64_t rows;
    (void)module;
    if (!PyArg_ParseTuple(args, "On", &object, &items) ||
        PyObject_GetBuffer(object, &offsets, PyBUF_SIMPLE) < 0)
        return NULL;
    int result = lxpy_check_offsets(&offsets, (uint64_t)items, &rows);
    PyBuffer_Release(&offsets);
    return result == 0 ? Py_NewRef(Py_None) : NULL;
}

static PyObject *make_list(const Py_buffer *values, const int64_t *offsets, uint64_t rows,
                           bool text)
{
    PyObject *list = PyList_New((Py_ssize_t)rows);
    for (Py_ssize_t i = 0; list != NULL && i < (Py_ssize_t)rows; i++) {
        const char *start = (const char *)values->buf + offsets[i];
        Py_ssize_t size = (Py_ssize_t)(offsets[i + 1] - offsets[i]);
        PyObject *value = text ? PyUnicode_DecodeUTF8(start, size, NULL)
                               : PyBytes_FromStringAndSize(start, size);
        if (value == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, value);
    }
    return list;
}

static PyObject *split_bytes(PyObject *module, PyObject *args)
{
    PyObject *values_object, *offsets_object, *list = NULL;
    Py_buffer values = {0}, offsets = {0};
    uint64_t rows;
    int text;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOp", &values_object, &offsets_object, &text))
        return NULL;
    if (PyObject_GetBuffer(values_object, &values, PyBUF_SIMPLE) == 0 &&
        PyObject_GetBuffer(offsets_object, &offsets, PyBUF_SIMPLE) == 0 &&
        lxpy_check_offsets(&offsets, (uint64_t)values.len, &rows) == 0)
        list = make_list(&values, offsets.buf, rows, text != 0);
    PyBuffer_Release(&values);
    PyBuffer_Release(&offsets);
    return list;
}

static PyMethodDef functions[] = {
    {"check_offsets", check_offsets, METH_VARARGS, "check_offsets(offsets, items)"},
    {"split_bytes", split_bytes, METH_VARARGS, "split_bytes(values, offsets, text)"},
    {NULL, NULL, 0, NULL},
};

int lxpy_add_ragged(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
