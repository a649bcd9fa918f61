/* SPDX-License-Identifier: MIT */
/* Pads values that vary in length. */
#include "objects.h"

#include <string.h>

/** The arrays of a call. */
typedef struct arrays {
    Py_buffer values, offsets, item, padded, mask;
} arrays;

static void release(arrays *a)
{
    PyBuffer_Release(&a->values);
    PyBuffer_Release(&a->offsets);
    PyBuffer_Release(&a->item);
    PyBuffer_Release(&a->padded);
    PyBuffer_Release(&a->mask);
}

/** Gets the buffers; Python code has checked their shapes, and passes contiguous arrays. */
static int take(arrays *a, PyObject *values, PyObject *offsets, PyObject *item, PyObject *padded,
                PyObject *mask)
{
    memset(a, 0, sizeof *a);
    if (PyObject_GetBuffer(values, &a->values, PyBUF_SIMPLE) < 0 ||
        PyObject_GetBuffer(offsets, &a->offsets, PyBUF_SIMPLE) < 0 ||
        PyObject_GetBuffer(item, &a->item, PyBUF_SIMPLE) < 0 ||
        PyObject_GetBuffer(padded, &a->padded, PyBUF_WRITABLE) < 0 ||
        (mask != Py_None && PyObject_GetBuffer(mask, &a->mask, PyBUF_WRITABLE) < 0)) {
        release(a);
        return -1;
    }
    return 0;
}

/** Converts offsets in items to offsets in bytes, which are relative to the first one. Returns NULL
 * with an exception if they are wrong. */
static uint64_t *byte_offsets(const arrays *a, uint64_t *rows)
{
    const int64_t *offsets = a->offsets.buf;
    uint64_t item_size = (uint64_t)a->item.len;
    uint64_t items = item_size != 0 ? (uint64_t)a->values.len / item_size : UINT64_MAX;
    if (lxpy_check_offsets(&a->offsets, items, rows) < 0)
        return NULL;
    uint64_t *made = PyMem_Malloc(((size_t)*rows + 1) * sizeof *made);
    if (made == NULL)
        return (uint64_t *)PyErr_NoMemory();
    for (uint64_t i = 0; i <= *rows; i++)
        made[i] = ((uint64_t)offsets[i] - (uint64_t)offsets[0]) * item_size;
    return made;
}

static int pad_values(const arrays *a, bool left, lxpy_state *state)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t rows, item_size = (uint64_t)a->item.len;
    uint64_t *offsets = byte_offsets(a, &rows);
    if (offsets == NULL)
        return -1;
    const lx_column column = {.name = "values",
                              .dtype = LX_BYTES,
                              .rows = rows,
                              .data = (uint8_t *)a->values.buf +
                                      (size_t) * (int64_t *)a->offsets.buf * item_size,
                              .size = LX_NONE,
                              .offsets = offsets};
    uint64_t size = rows != 0 ? (uint64_t)a->padded.len / rows : 0;
    lx_status status = LX_OK;
    if (item_size != 0) { /* otherwise there is nothing to copy */
        Py_BEGIN_ALLOW_THREADS;
        status = lx_column_pad(&column, size, item_size, a->item.buf, left, a->padded.buf,
                               a->mask.buf, &error);
        Py_END_ALLOW_THREADS;
    }
    PyMem_Free(offsets);
    if (status == LX_OK)
        return 0;
    lxpy_raise(state, &error);
    return -1;
}

static PyObject *pad(PyObject *module, PyObject *args)
{
    PyObject *values, *offsets, *item, *padded, *mask;
    int left;
    arrays a;
    if (!PyArg_ParseTuple(args, "OOOpOO", &values, &offsets, &item, &left, &padded, &mask) ||
        take(&a, values, offsets, item, padded, mask) < 0)
        return NULL;
    int result = pad_values(&a, left != 0, lxpy_state_get(module));
    release(&a);
    return result == 0 ? Py_NewRef(Py_None) : NULL;
}

static PyMethodDef functions[] = {
    {"pad", pad, METH_VARARGS, "pad(values, offsets, item, left, padded, mask)"},
    {NULL, NULL, 0, NULL},
};

int lxpy_add_pad(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
