/* SPDX-License-Identifier: MIT */
#include "target.h"

#include <stdarg.h>
#include <string.h>

void lxpy_target_drop(lxpy_target *t)
{
    PyBuffer_Release(&t->view);
    Py_CLEAR(t->object);
}

int lxpy_target_make_as(lxpy_target *t, lxpy_state *state, PyObject *shape, PyObject *dtype)
{
    PyObject *args[] = {shape, dtype};
    t->object = shape != NULL ? PyObject_Vectorcall(LXPY(state, EMPTY), args, 2, NULL) : NULL;
    if (t->object == NULL)
        return -1;
    if (PyObject_GetBuffer(t->object, &t->view, PyBUF_WRITABLE | PyBUF_STRIDES) < 0) {
        Py_CLEAR(t->object);
        return -1;
    }
    return 0;
}

int lxpy_target_make(lxpy_target *t, lxpy_state *state, PyObject *shape, lx_dtype dtype)
{
    PyObject *own = lxpy_dtype(state, dtype);
    return own != NULL ? lxpy_target_make_as(t, state, shape, own) : -1;
}

int lxpy_fail_out(PyObject *type, const lxpy_field *field, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    PyObject *what = PyUnicode_FromFormatV(format, args);
    va_end(args);
    if (what != NULL)
        PyErr_Format(type, "out[%R] %U", field->name, what);
    Py_XDECREF(what);
    return -1;
}

/** Returns whether the elements have the field's type, possibly with a different format letter. */
static int same_dtype(lxpy_state *state, const lxpy_field *field, PyObject *object)
{
    PyObject *wanted = lxpy_dtype(state, field->type);
    PyObject *array = wanted != NULL ? PyObject_CallOneArg(LXPY(state, ASARRAY), object) : NULL;
    PyObject *dtype = array != NULL ? PyObject_GetAttrString(array, "dtype") : NULL;
    int same = dtype != NULL ? PyObject_RichCompareBool(dtype, wanted, Py_EQ) : -1;
    if (same == 0)
        same = lxpy_fail_out(PyExc_TypeError, field, "has dtype %S, but must have %S", dtype,
                             wanted);
    Py_XDECREF(dtype);
    Py_XDECREF(array);
    return same < 0 ? -1 : 0;
}

static PyObject *shape_of(const Py_buffer *view)
{
    PyObject *shape = PyTuple_New(view->ndim);
    for (int i = 0; shape != NULL && i < view->ndim; i++) {
        PyObject *extent = PyLong_FromSsize_t(view->shape[i]);
        if (extent == NULL)
            Py_CLEAR(shape);
        else
            PyTuple_SET_ITEM(shape, i, extent);
    }
    return shape;
}

static int fail_shape(const lxpy_field *field, const Py_buffer *view, size_t count)
{
    PyObject *got = shape_of(view), *rows = Py_BuildValue("(n)", (Py_ssize_t)count);
    PyObject *wanted = rows != NULL ? PySequence_Concat(rows, field->shape) : NULL;
    if (got != NULL && wanted != NULL)
        lxpy_fail_out(PyExc_ValueError, field, "has shape %S, but must have %S", got, wanted);
    Py_XDECREF(got);
    Py_XDECREF(rows);
    Py_XDECREF(wanted);
    return -1;
}

static bool same_shape(const lxpy_field *field, const Py_buffer *view, size_t count)
{
    Py_ssize_t ndim = PyTuple_GET_SIZE(field->shape);
    if (view->ndim != ndim + 1 || (size_t)view->shape[0] != count)
        return false;
    for (Py_ssize_t i = 0; i < ndim; i++)
        if (view->shape[i + 1] != PyLong_AsSsize_t(PyTuple_GET_ITEM(field->shape, i)))
            return false;
    return true;
}

/** Checks that @p count records of the field can be copied to the caller's memory. */
static int check_out(const lxpy_target *t, lxpy_state *state, const lxpy_field *field, size_t count)
{
    const Py_buffer *view = &t->view;
    if ((view->format == NULL || strcmp(view->format, state->formats[field->type]) != 0) &&
        same_dtype(state, field, t->object) < 0)
        return -1;
    if (!same_shape(field, view, count))
        return fail_shape(field, view, count);
    if (!PyBuffer_IsContiguous(view, 'C'))
        return lxpy_fail_out(PyExc_ValueError, field, "is not C-contiguous");
    if (view->readonly)
        return lxpy_fail_out(PyExc_ValueError, field, "is read-only");
    return 0;
}

int lxpy_target_take(lxpy_target *t, lxpy_state *state, const lxpy_field *field, PyObject *object,
                     size_t count)
{
    if (!PyObject_CheckBuffer(object))
        return lxpy_fail_out(PyExc_TypeError, field, "must be a writable buffer, not %.100s",
                             Py_TYPE(object)->tp_name);
    bool has_format = state->formats[field->type][0] != '\0';
    int flags = (has_format ? PyBUF_FORMAT : 0) | PyBUF_STRIDES;
    if (PyObject_GetBuffer(object, &t->view, flags) < 0) {
        PyErr_Clear();
        return lxpy_fail_out(PyExc_TypeError, field, "does not support the buffer protocol");
    }
    t->object = Py_NewRef(object);
    if (check_out(t, state, field, count) == 0)
        return 0;
    lxpy_target_drop(t);
    return -1;
}
