/* SPDX-License-Identifier: MIT */
/* Reads byte strings of a source on demand. */
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

/** Reads the values, one after the other, into memory that free() releases. */
static char *read_values(lxpy_source *self, size_t column, const lxpy_indices *indices,
                         uint64_t *offsets)
{
    lx_error error = LX_ERROR_INIT;
    char *values = NULL;
    LXPY_WITHOUT_GIL({
        if (lx_source_get_sizes(self->handle, column, indices->numbers, indices->count, offsets,
                                &error) == LX_OK)
            values = malloc((size_t)offsets[indices->count] + 1);
        if (values != NULL)
            lx_source_fill_bytes(self->handle, column, indices->numbers, indices->count, offsets,
                                 values, &error);
    });
    if (error.status != LX_OK)
        lxpy_raise(self->state, &error);
    else if (values == NULL)
        PyErr_NoMemory();
    else
        return values;
    free(values);
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
    lxpy_indices indices;
    const char *name;
    PyObject *given, *list = NULL;
    if (!PyArg_ParseTuple(args, "Os", &given, &name))
        return NULL;
    Py_ssize_t column = find_column(self->handle, name);
    if (column < 0 || lxpy_indices_take(&indices, self->state, given,
                                        lx_source_get_length(self->handle), "indices") < 0)
        return NULL;
    uint64_t *offsets = calloc(indices.count + 1, sizeof *offsets);
    char *values = NULL;
    if (offsets == NULL)
        PyErr_NoMemory();
    else
        values = read_values(self, (size_t)column, &indices, offsets);
    if (values != NULL)
        list = make_list(values, offsets, indices.count);
    free(values);
    free(offsets);
    lxpy_indices_clear(&indices);
    return list;
}
