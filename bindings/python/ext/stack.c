/* SPDX-License-Identifier: MIT */
#include "stack.h"

#include <stdlib.h>
#include <string.h>

/* ---- numbers */

/** Stores one number. Returns false if the number has a different type or does not fit. */
static bool store_number(PyObject *item, bool is_int, char *to)
{
    if (is_int) {
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

int lxpy_stack_numbers(lxpy_state *state, PyObject *items, lxpy_target *target)
{
    Py_ssize_t count = PyTuple_GET_SIZE(items), i = 0;
    bool is_int = PyLong_CheckExact(PyTuple_GET_ITEM(items, 0));
    PyObject *shape = Py_BuildValue("(n)", count);
    int made = lxpy_target_make(target, state, shape, is_int ? LX_INT64 : LX_FLOAT64);
    Py_XDECREF(shape);
    if (made < 0)
        return -1;
    char *to = target->view.buf;
    while (i < count && store_number(PyTuple_GET_ITEM(items, i), is_int, to + 8 * i))
        i++;
    return i == count;
}

/* ---- arrays */

/** The buffers of the items. */
typedef struct stack {
    Py_buffer *items;
    Py_ssize_t count;
} stack;

static void release(stack *self)
{
    for (Py_ssize_t i = 0; i < self->count; i++)
        PyBuffer_Release(&self->items[i]);
    free(self->items);
}

/** Returns whether @p format is the format of a number in native byte order. */
static bool is_number(const char *format)
{
    static const char *const formats[] = {"?", "b", "B", "h", "H", "i",  "I",  "l", "L",
                                          "q", "Q", "e", "f", "d", "Zf", "Zd", NULL};
    for (size_t i = 0; formats[i] != NULL; i++)
        if (strcmp(formats[i], format) == 0)
            return true;
    return false;
}

static bool same_layout(const Py_buffer *one, const Py_buffer *other)
{
    return one->itemsize == other->itemsize && one->ndim == other->ndim &&
           strcmp(one->format, other->format) == 0 &&
           (one->ndim == 0 ||
            memcmp(one->shape, other->shape, (size_t)one->ndim * sizeof *one->shape) == 0);
}

/** Gets the buffers. Returns 1 if all items are contiguous arrays with the format and shape of the
 * first array, 0 if not, or -1 with an exception. */
static int get_buffers(lxpy_state *state, PyObject *items, stack *self)
{
    Py_ssize_t count = PyTuple_GET_SIZE(items);
    self->items = calloc((size_t)count, sizeof *self->items);
    if (self->items == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (; self->count < count; self->count++) {
        PyObject *item = PyTuple_GET_ITEM(items, self->count);
        Py_buffer *view = &self->items[self->count];
        if (!Py_IS_TYPE(item, (PyTypeObject *)LXPY(state, NDARRAY)))
            return 0;
        if (PyObject_GetBuffer(item, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) {
            PyErr_Clear();
            return 0;
        }
        if (self->count == 0 ? !is_number(view->format) : !same_layout(view, &self->items[0])) {
            PyBuffer_Release(view);
            return 0;
        }
    }
    return 1;
}

static int make_target(lxpy_state *state, PyObject *first, const stack *self, lxpy_target *target)
{
    const Py_buffer *view = &self->items[0];
    PyObject *shape = PyTuple_New(view->ndim + 1);
    PyObject *dtype = shape != NULL ? PyObject_GetAttrString(first, "dtype") : NULL;
    int result = dtype != NULL ? 0 : -1;
    for (int i = 0; result == 0 && i <= view->ndim; i++) {
        PyObject *extent = PyLong_FromSsize_t(i == 0 ? self->count : view->shape[i - 1]);
        if (extent == NULL)
            result = -1;
        else
            PyTuple_SET_ITEM(shape, i, extent);
    }
    if (result == 0)
        result = lxpy_target_make_as(target, state, shape, dtype);
    Py_XDECREF(shape);
    Py_XDECREF(dtype);
    return result;
}

int lxpy_stack_arrays(lxpy_state *state, PyObject *items, lxpy_target *target)
{
    stack self = {0};
    int made = get_buffers(state, items, &self);
    if (made > 0 && make_target(state, PyTuple_GET_ITEM(items, 0), &self, target) < 0)
        made = -1;
    if (made > 0) {
        Py_BEGIN_ALLOW_THREADS
        char *to = target->view.buf;
        for (Py_ssize_t i = 0; i < self.count; i++, to += self.items[0].len)
            memcpy(to, self.items[i].buf, (size_t)self.items[0].len);
        Py_END_ALLOW_THREADS
    }
    release(&self);
    return made;
}
