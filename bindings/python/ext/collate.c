/* SPDX-License-Identifier: MIT */
/* What torch's collation does most often: items of one kind, one behind the other. Whatever is of
 * another kind than it looks is left to torch, which has rules for it. */
#include "lxpy.h"

#include <stdlib.h>
#include <string.h>

/** The items as they lie, and where they go. */
typedef struct stack {
    Py_buffer out;
    Py_buffer *items;
    Py_ssize_t count;
} stack;

static void release(stack *self)
{
    for (Py_ssize_t i = 0; i < self->count; i++)
        PyBuffer_Release(&self->items[i]);
    free(self->items);
    PyBuffer_Release(&self->out);
}

static bool is_like(const Py_buffer *one, const Py_buffer *other)
{
    /* The items of an array of objects would have to be counted. */
    return strchr(one->format, 'O') == NULL && one->itemsize == other->itemsize &&
           one->ndim == other->ndim && strcmp(one->format, other->format) == 0 &&
           (one->ndim == 0 ||
            memcmp(one->shape, other->shape, (size_t)one->ndim * sizeof *one->shape) == 0);
}

/** 1 where all are arrays like the first, contiguous, and fill the target; 0; -1 and raised. */
static int look(lxpy_state *state, PyObject *items, PyObject *out, stack *self)
{
    PyTypeObject *array = (PyTypeObject *)LXPY(state, NDARRAY);
    Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
    self->items = calloc((size_t)count + 1, sizeof *self->items);
    if (self->items == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    if (PyObject_GetBuffer(out, &self->out, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0)
        return -1;
    for (; self->count < count; self->count++) {
        PyObject *item = PySequence_Fast_GET_ITEM(items, self->count);
        Py_buffer *view = &self->items[self->count];
        if (Py_TYPE(item) != array)
            return 0;
        if (PyObject_GetBuffer(item, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) {
            PyErr_Clear();
            return 0;
        }
        if (!is_like(view, &self->items[0])) {
            PyBuffer_Release(view);
            return 0;
        }
    }
    return count != 0 && self->items[0].len == self->out.len / count;
}

static PyObject *collate_arrays(PyObject *module, PyObject *args)
{
    PyObject *items, *out;
    stack self = {0};
    if (!PyArg_ParseTuple(args, "OO", &items, &out))
        return NULL;
    if (!PyList_CheckExact(items) && !PyTuple_CheckExact(items))
        Py_RETURN_FALSE;
    int alike = look(lxpy_state_get(module), items, out, &self);
    if (alike > 0) {
        Py_BEGIN_ALLOW_THREADS
        char *to = self.out.buf;
        for (Py_ssize_t i = 0; i < self.count; i++, to += self.items[0].len)
            memcpy(to, self.items[i].buf, (size_t)self.items[0].len);
        Py_END_ALLOW_THREADS
    }
    release(&self);
    return alike < 0 ? NULL : PyBool_FromLong(alike);
}

/** One of them; false where it is of another type, or does not fit. */
static bool put(PyObject *item, bool whole, void *to)
{
    if (whole) {
        int overflow = 1;
        int64_t value = 0;
        if (PyLong_CheckExact(item))
            value = PyLong_AsLongLongAndOverflow(item, &overflow);
        memcpy(to, &value, sizeof value);
        return overflow == 0;
    }
    double value = PyFloat_CheckExact(item) ? PyFloat_AS_DOUBLE(item) : 0;
    memcpy(to, &value, sizeof value);
    return PyFloat_CheckExact(item);
}

static PyObject *collate_numbers(PyObject *module, PyObject *args)
{
    PyObject *items, *out;
    Py_buffer view;
    int whole;
    (void)module;
    if (!PyArg_ParseTuple(args, "OpO", &items, &whole, &out))
        return NULL;
    if (!PyList_CheckExact(items) && !PyTuple_CheckExact(items))
        Py_RETURN_FALSE;
    if (PyObject_GetBuffer(out, &view, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0)
        return NULL;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(items), i = 0;
    char *to = view.buf;
    if (view.len / 8 == count)
        while (i < count && put(PySequence_Fast_GET_ITEM(items, i), whole, to + 8 * i))
            i++;
    PyBuffer_Release(&view);
    return PyBool_FromLong(i == count && count != 0);
}

static PyMethodDef functions[] = {
    {"collate_arrays", collate_arrays, METH_VARARGS, NULL},
    {"collate_numbers", collate_numbers, METH_VARARGS, NULL},
    {NULL},
};

int lxpy_add_collate(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
