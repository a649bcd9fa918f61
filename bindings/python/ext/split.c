/* SPDX-License-Identifier: MIT */
/* Splits joined byte strings into objects. */
#include "objects.h"

static PyObject *make_list(const Py_buffer *values, const int64_t *offsets, Py_ssize_t rows,
                           bool text)
{
    PyObject *list = PyList_New(rows);
    for (Py_ssize_t i = 0; list != NULL && i < rows; i++) {
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
    int text;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOp", &values_object, &offsets_object, &text))
        return NULL;
    if (PyObject_GetBuffer(values_object, &values, PyBUF_SIMPLE) == 0 &&
        PyObject_GetBuffer(offsets_object, &offsets, PyBUF_SIMPLE) == 0) {
        Py_ssize_t rows = offsets.len / (Py_ssize_t)sizeof(int64_t) - 1;
        if (lxpy_check_offsets(offsets.buf, (uint64_t)rows, (uint64_t)values.len) == 0)
            list = make_list(&values, offsets.buf, rows, text != 0);
    }
    PyBuffer_Release(&values);
    PyBuffer_Release(&offsets);
    return list;
}

static PyMethodDef functions[] = {
    {"split_bytes", split_bytes, METH_VARARGS, "split_bytes(values, offsets, text)"},
    {NULL, NULL, 0, NULL},
};

int lxpy_add_split(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
