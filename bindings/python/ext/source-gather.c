/* SPDX-License-Identifier: MIT */
/* Reads the records of a source on demand. */
#include "indices.h"
#include "source.h"
#include "target.h"

#include <stdlib.h>
#include <string.h>

/** Returns whether the column is one of @p fields, a tuple of str, or -1 with an exception. */
static int is_wanted(PyObject *fields, const char *name)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(fields); i++) {
        const char *field = lxpy_text(PyTuple_GET_ITEM(fields, i), "fields");
        if (field == NULL)
            return -1;
        if (strcmp(field, name) == 0)
            return 1;
    }
    return 0;
}

/** Adds an array to @p arrays, which owns the array, and makes it the destination @p target. */
static int add_target(lxpy_state *state, PyObject *arrays, const lx_column_info *column,
                      size_t rows, lx_target *target)
{
    lxpy_target made = {NULL, {0}};
    if (column->size == LX_NONE) {
        PyErr_Format(PyExc_TypeError,
                     "field '%s' is a bytes field, whose records vary in length: read it through "
                     "the Dataset",
                     column->name);
        return -1;
    }
    PyObject *shape = lxpy_shape_new(rows, column->shape, column->ndim);
    int result = lxpy_target_make(&made, state, shape, state->dtypes[column->dtype]);
    Py_XDECREF(shape);
    if (result < 0)
        return -1;
    *target = (lx_target){made.view.buf, (size_t)column->size};
    result = PyDict_SetItemString(arrays, column->name, made.object);
    lxpy_target_drop(&made);
    return result;
}

static PyObject *gather_taken(lxpy_source *self, const lxpy_indices *indices, PyObject *fields)
{
    lx_error error = LX_ERROR_INIT;
    size_t count = lx_source_get_column_count(self->handle);
    PyObject *arrays = PyDict_New();
    lx_target *targets = calloc(count + 1, sizeof *targets);
    int result = arrays != NULL ? 0 : -1;
    if (targets == NULL) {
        PyErr_NoMemory();
        result = -1;
    }
    for (size_t i = 0; result == 0 && i < count; i++) {
        const lx_column_info *column = lx_source_get_column(self->handle, i);
        int wanted = fields == Py_None ? 1 : is_wanted(fields, column->name);
        result = wanted <= 0 ? wanted
                             : add_target(self->state, arrays, column, indices->count, &targets[i]);
    }
    if (result == 0) {
        LXPY_WITHOUT_GIL(
            lx_source_fill(self->handle, indices->numbers, indices->count, targets, &error));
        if (error.status != LX_OK) {
            lxpy_raise(self->state, &error);
            result = -1;
        }
    }
    free(targets);
    if (result < 0)
        Py_CLEAR(arrays);
    return arrays;
}

PyObject *lxpy_source_gather(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    lxpy_source *self = (lxpy_source *)object;
    lxpy_indices indices;
    if (count != 2 || (args[1] != Py_None && !PyTuple_Check(args[1]))) {
        PyErr_SetString(PyExc_TypeError, "gather() takes indices, and a tuple of names or None");
        return NULL;
    }
    if (lxpy_indices_take(&indices, self->state, args[0], lx_source_get_length(self->handle),
                          "indices") < 0)
        return NULL;
    PyObject *result = gather_taken(self, &indices, args[1]);
    lxpy_indices_clear(&indices);
    return result;
}
