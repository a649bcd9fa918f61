/* SPDX-License-Identifier: MIT */
/* Reads byte strings of a source on demand, or only their sizes. */
#include "indices.h"
#include "source.h"

#include <stdlib.h>

/** Finds a column of byte strings; returns its position, or -1 with an exception set. */
static Py_ssize_t find_column(const lx_source *source, const char *name)
{
    for (size_t i = 0; i < lx_source_get_column_count(source); i++) {
        const lx_column_info *column = lx_source_get_column(source, i);
        if (strcmp(column->name, name) == 0 && lx_dtype_is_bytes(column->dtype))
            return (Py_ssize_t)i;
    }
    PyErr_Format(PyExc_TypeError, "field '%s' does not contain byte strings", name);
    return -1;
}

/** The arguments (indices, name) of a call. */
typedef struct request {
    size_t column;
    lxpy_indices indices;
} request;

static int take_request(request *r, lxpy_source *self, PyObject *args)
{
    const char *name;
    PyObject *given;
    if (!PyArg_ParseTuple(args, "Os", &given, &name))
        return -1;
    Py_ssize_t column = find_column(self->handle, name);
    r->column = (size_t)column;
    return column < 0 ? -1
                      : lxpy_indices_take(&r->indices, self->state, given,
                                          lx_source_get_length(self->handle), "indices");
}

/** Gets the offsets of the values, one more than there are, in memory that free() releases. */
static uint64_t *get_offsets(lxpy_source *self, const request *r)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t *offsets = calloc(r->indices.count + 1, sizeof *offsets);
    if (offsets == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    LXPY_WITHOUT_GIL(lx_source_get_sizes(self->handle, r->column, r->indices.numbers,
                                         r->indices.count, offsets, &error));
    if (error.status == LX_OK)
        return offsets;
    free(offsets);
    lxpy_raise(self->state, &error);
    return NULL;
}

/** Reads the values, one after the other, into memory that free() releases. */
static char *read_values(lxpy_source *self, const request *r, const uint64_t *offsets)
{
    lx_error error = LX_ERROR_INIT;
    char *values = malloc((size_t)offsets[r->indices.count] + 1);
    if (values == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    LXPY_WITHOUT_GIL(lx_source_fill_bytes(self->handle, r->column, r->indices.numbers,
                                          r->indices.count, offsets, values, &error));
    if (error.status == LX_OK)
        return values;
    free(values);
    lxpy_raise(self->state, &error);
    return NULL;
}

static PyObject *make_list(const char *values, const uint64_t *offsets, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *value = PyBytes_FromStringAndSize(values + offsets[i],
                                                    (Py_ssize_t)(offsets[i + 1] - offsets[i]));
        if (value == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)i, value);
    }
    return list;
}

PyObject *lxpy_source_gather_bytes(PyObject *object, PyObject *args)
{
    lxpy_source *self = (lxpy_source *)object;
    request r;
    PyObject *list = NULL;
    if (take_request(&r, self, args) < 0)
        return NULL;
    uint64_t *offsets = get_offsets(self, &r);
    char *values = offsets != NULL ? read_values(self, &r, offsets) : NULL;
    if (values != NULL)
        list = make_list(values, offsets, r.indices.count);
    free(values);
    free(offsets);
    lxpy_indices_clear(&r.indices);
    return list;
}

PyObject *lxpy_source_get_offsets(PyObject *object, PyObject *args)
{
    lxpy_source *self = (lxpy_source *)object;
    request r;
    if (take_request(&r, self, args) < 0)
        return NULL;
    uint64_t *offsets = get_offsets(self, &r);
    PyObject *array = offsets != NULL
                          ? lxpy_order_numbers(self->state, offsets, r.indices.count + 1)
                          : NULL;
    lxpy_indices_clear(&r.indices);
    return array;
}
