/* SPDX-License-Identifier: MIT */
/* Reads the records of a source on demand. */
#include "log.h"
#include "missing.h"
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
                     "the records of field '%s' vary in length: index the column, "
                     "ds['%s'][...], or use a Loader",
                     column->name, column->name);
        return -1;
    }
    PyObject *shape = lxpy_shape_new(rows, column->shape, column->ndim);
    int result = lxpy_target_make(&made, state, shape, column->dtype);
    Py_XDECREF(shape);
    if (result < 0)
        return -1;
    *target = (lx_target){made.view.buf, (size_t)column->size};
    result = PyDict_SetItemString(arrays, column->name, made.object);
    lxpy_target_drop(&made);
    return result;
}

/** What a call to gather() reads: for each column, the destination and the marks of its records. */
typedef struct gathering {
    size_t columns;
    lx_target *targets;
    uint8_t **present; /**< Pointers into @ref marks. */
    uint8_t *marks;
    PyObject *arrays;
    lxpy_place place;
} gathering;

static int start(gathering *g, const lxpy_source *self, size_t rows)
{
    g->columns = lx_source_get_column_count(self->handle);
    g->targets = calloc(g->columns + 1, sizeof *g->targets);
    g->present = calloc(g->columns + 1, sizeof *g->present);
    g->marks = calloc(g->columns + 1, rows + 1);
    if (g->targets == NULL || g->present == NULL || g->marks == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    g->arrays = PyDict_New();
    return g->arrays != NULL ? 0 : -1;
}

static void end(gathering *g)
{
    free(g->targets);
    free(g->present);
    free(g->marks);
    lxpy_place_clear(&g->place);
    Py_CLEAR(g->arrays);
}

static int read_records(gathering *g, const lxpy_source *self, const lxpy_indices *indices,
                        PyObject *lacking)
{
    const lx_samples samples = lxpy_samples_at(indices, &g->place);
    lx_error error = LX_ERROR_INIT;
    int result = 0;
    LXPY_WITHOUT_GIL(
        lx_source_fill_present(self->handle, &samples, g->targets, g->present, &error));
    if (error.status != LX_OK) {
        lxpy_raise(self->state, &error);
        return -1;
    }
    for (size_t i = 0; result == 0 && i < g->columns; i++)
        if (g->present[i] != NULL)
            result = lxpy_lacking_add(self->state, lacking,
                                      lx_source_get_column(self->handle, i)->name, g->present[i],
                                      indices);
    return result;
}

/** Reads the columns named in @p fields. */
static PyObject *gather_taken(lxpy_source *self, const lxpy_indices *indices, PyObject *fields,
                              PyObject *lacking, PyObject *place)
{
    gathering g = {0};
    int result = start(&g, self, indices->count);
    if (result == 0)
        result = lxpy_place_take(&g.place, place, indices->count);
    for (size_t i = 0; result == 0 && i < g.columns; i++) {
        const lx_column_info *column = lx_source_get_column(self->handle, i);
        int wanted = fields == Py_None ? 1 : is_wanted(fields, column->name);
        if (wanted > 0 && lacking != Py_None)
            g.present[i] = g.marks + i * indices->count;
        result = wanted <= 0
                     ? wanted
                     : add_target(self->state, g.arrays, column, indices->count, &g.targets[i]);
    }
    if (result == 0)
        result = read_records(&g, self, indices, lacking);
    PyObject *arrays = result == 0 ? Py_NewRef(g.arrays) : NULL;
    end(&g);
    return arrays;
}

PyObject *lxpy_source_gather(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    lxpy_source *self = (lxpy_source *)object;
    lxpy_indices indices;
    if (count < 3 || count > 4 || (args[1] != Py_None && !PyTuple_Check(args[1])) ||
        (args[2] != Py_None && args[2] != Py_True && !PyDict_Check(args[2]))) {
        PyErr_SetString(PyExc_TypeError, "gather() takes indices, a tuple of names or None, a "
                                         "dict, True or None, and a place");
        return NULL;
    }
    if (lxpy_indices_take(&indices, self->state, args[0], lx_source_get_length(self->handle),
                          "indices") < 0)
        return NULL;
    PyObject *result = gather_taken(self, &indices, args[1], args[2],
                                    count == 4 ? args[3] : Py_None);
    lxpy_indices_clear(&indices);
    lxpy_log_pass_on(self->state);
    return result;
}
