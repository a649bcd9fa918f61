/* SPDX-License-Identifier: MIT */
/* Reads values of a source that vary in length on demand, or only their sizes. */
#include "indices.h"
#include "source.h"

#include <stdlib.h>

/** Finds a column whose values vary in length; returns its position, or -1 with an exception
 * set. */
static Py_ssize_t find_column(const lx_source *source, const char *name)
{
    for (size_t i = 0; i < lx_source_get_column_count(source); i++) {
        const lx_column_info *column = lx_source_get_column(source, i);
        if (strcmp(column->name, name) == 0 && column->size == LX_NONE)
            return (Py_ssize_t)i;
    }
    PyErr_Format(PyExc_TypeError, "the values of field '%s' do not vary in length", name);
    return -1;
}

/** The arguments (indices, name, place) of a call. */
typedef struct request {
    size_t column;
    lxpy_indices indices;
    lxpy_place place;
} request;

static void drop_request(request *r)
{
    lxpy_indices_clear(&r->indices);
    lxpy_place_clear(&r->place);
}

static int take_request(request *r, lxpy_source *self, PyObject *args)
{
    const char *name;
    PyObject *given, *place = Py_None;
    if (!PyArg_ParseTuple(args, "Os|O", &given, &name, &place))
        return -1;
    Py_ssize_t column = find_column(self->handle, name);
    r->column = (size_t)column;
    r->place = (lxpy_place){0};
    if (column < 0 || lxpy_indices_take(&r->indices, self->state, given,
                                        lx_source_get_length(self->handle), "indices") < 0)
        return -1;
    if (lxpy_place_take(&r->place, place, r->indices.count) == 0)
        return 0;
    drop_request(r);
    return -1;
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

/* How often values are read again because a writer changed their sizes in the meantime. */
#define TRIES 100

/** Reads the values, one after the other, into memory that free() releases. Sets @p changed instead
 * of raising an error if the sizes have changed. */
static char *read_values(lxpy_source *self, const request *r, const uint64_t *offsets,
                         bool *changed)
{
    const lx_samples samples = lxpy_samples_at(&r->indices, &r->place);
    lx_error error = LX_ERROR_INIT;
    char *values = malloc((size_t)offsets[r->indices.count] + 1);
    if (values == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    LXPY_WITHOUT_GIL(
        lx_source_fill_sample_bytes(self->handle, r->column, &samples, offsets, values, &error));
    if (error.status == LX_OK)
        return values;
    free(values);
    if (changed != NULL && error.status == LX_ERR_MISMATCH)
        *changed = true;
    else
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
    uint64_t *offsets = NULL;
    char *values = NULL;
    bool changed = true;
    if (take_request(&r, self, args) < 0)
        return NULL;
    for (int left = TRIES; changed; left--) {
        free(offsets);
        changed = false;
        offsets = get_offsets(self, &r);
        if (offsets != NULL)
            values = read_values(self, &r, offsets, left != 0 ? &changed : NULL);
    }
    if (values != NULL)
        list = make_list(values, offsets, r.indices.count);
    free(values);
    free(offsets);
    drop_request(&r);
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
    drop_request(&r);
    return array;
}
