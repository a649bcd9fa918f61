/* SPDX-License-Identifier: MIT */
/* Appending of one record, and of many. */
#include "writer.h"

/* Fields of a record whose values lie on the stack. */
#define FEW 16

/* --------------------------------------------------------------------- append */

/** The values by name: the only argument, a dict, or the keywords. */
static PyObject *named_values(const char *function, PyObject *args, PyObject *kwargs)
{
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    bool named = kwargs != NULL && PyDict_GET_SIZE(kwargs) != 0;
    if (count > 1 || (count == 1 && named)) {
        PyErr_Format(PyExc_TypeError, "%s() takes one dict or the fields by name", function);
        return NULL;
    }
    if (count == 0)
        return kwargs != NULL ? Py_NewRef(kwargs) : PyDict_New();
    PyObject *values = PyTuple_GET_ITEM(args, 0);
    if (!PyDict_Check(values)) {
        PyErr_Format(PyExc_TypeError, "%s() takes a dict of fields, not %.100s", function,
                     Py_TYPE(values)->tp_name);
        return NULL;
    }
    return PyDict_Copy(values); /* what converts the values may be the caller's code */
}

/** Refuses names that are no field. */
static int check_names(const lxpy_writer *self, PyObject *values)
{
    PyObject *name, *value;
    Py_ssize_t place = 0;
    if ((size_t)PyDict_GET_SIZE(values) == self->schema.count)
        return 0; /* then one of the fields is not there, which is told */
    while (PyDict_Next(values, &place, &name, &value))
        if (lxpy_schema_find(&self->schema, name) < 0)
            return -1;
    return 0;
}

/** The value of a field, borrowed. */
static PyObject *value_of(const lxpy_writer *self, PyObject *values, size_t i)
{
    PyObject *name = self->schema.fields[i].name;
    PyObject *value = PyDict_GetItemWithError(values, name);
    if (value != NULL || PyErr_Occurred())
        return value;
    PyObject *other;
    Py_ssize_t place = 0;
    while (PyDict_Next(values, &place, &other, &value)) /* a wrong name says more */
        if (lxpy_schema_find(&self->schema, other) < 0)
            return NULL;
    PyErr_Format(PyExc_TypeError, "field %R is not given; None stores it as missing", name);
    return NULL;
}

static PyObject *append_values(lxpy_writer *self, const lx_value *values)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t index;
    if (lxpy_writer_enter(self) < 0)
        return NULL;
    LXPY_WITHOUT_GIL(lx_writer_append(self->handle, values, &index, &error));
    lxpy_writer_leave(self);
    return error.status == LX_OK ? PyLong_FromUnsignedLongLong(index)
                                 : lxpy_raise(self->state, &error);
}

PyObject *lxpy_writer_append(PyObject *object, PyObject *args, PyObject *kwargs)
{
    lxpy_writer *self = (lxpy_writer *)object;
    size_t count = self->schema.count, taken = 0;
    lx_value few[FEW], *values = count <= FEW ? few : PyMem_Malloc(count * sizeof *values);
    lxpy_held *held = PyMem_Calloc(count, sizeof *held);
    PyObject *named = named_values("append", args, kwargs), *result = NULL;
    if (values == NULL || held == NULL)
        PyErr_NoMemory();
    else if (named != NULL && check_names(self, named) == 0)
        for (; taken < count; taken++) {
            PyObject *value = value_of(self, named, taken);
            if (value == NULL || lxpy_value_take(&values[taken], &held[taken], self->state,
                                                 &self->schema.fields[taken], value) < 0)
                break;
        }
    if (taken == count)
        result = append_values(self, values);
    for (size_t i = 0; held != NULL && i < count; i++)
        lxpy_held_drop(&held[i]);
    PyMem_Free(held);
    if (values != few)
        PyMem_Free(values);
    Py_XDECREF(named);
    return result;
}

/* --------------------------------------------------------------------- extend */

static PyObject *extend_columns(lxpy_writer *self, uint64_t count, const lx_values *columns)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t first;
    if (count == LX_NONE) {
        PyErr_SetString(PyExc_ValueError, "extend() needs the values of at least one field: None "
                                          "does not tell how many records there are");
        return NULL;
    }
    if (lxpy_writer_enter(self) < 0)
        return NULL;
    LXPY_WITHOUT_GIL(lx_writer_extend(self->handle, count, columns, &first, &error));
    lxpy_writer_leave(self);
    return error.status == LX_OK ? PyLong_FromUnsignedLongLong(first)
                                 : lxpy_raise(self->state, &error);
}

PyObject *lxpy_writer_extend(PyObject *object, PyObject *args, PyObject *kwargs)
{
    lxpy_writer *self = (lxpy_writer *)object;
    size_t fields = self->schema.count, taken = 0;
    uint64_t count = LX_NONE;
    lx_values *columns = PyMem_Calloc(fields, sizeof *columns);
    lxpy_held *held = PyMem_Calloc(fields, sizeof *held);
    PyObject *named = named_values("extend", args, kwargs), *result = NULL;
    if (columns == NULL || held == NULL)
        PyErr_NoMemory();
    else if (named != NULL && check_names(self, named) == 0)
        for (; taken < fields; taken++) {
            PyObject *value = value_of(self, named, taken);
            if (value == NULL ||
                lxpy_values_take(&columns[taken], &held[taken], self->state,
                                 &self->schema.fields[taken], value, &count) < 0)
                break;
        }
    if (taken == fields)
        result = extend_columns(self, count, columns);
    for (size_t i = 0; held != NULL && i < fields; i++)
        lxpy_held_drop(&held[i]);
    PyMem_Free(held);
    PyMem_Free(columns);
    Py_XDECREF(named);
    return result;
}
