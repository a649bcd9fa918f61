/* SPDX-License-Identifier: MIT */
/* The reference-counted handles of a Dataset, and the calls that read one snapshot. */
#include "dataset.h"

/* -------------------------------------------------------------------- handles */

lxpy_handle *lxpy_handle_new(lx_dataset *dataset)
{
    lxpy_handle *handle = PyMem_Malloc(sizeof *handle);
    if (handle == NULL) {
        LXPY_WITHOUT_GIL(lx_dataset_close(dataset));
        return (lxpy_handle *)PyErr_NoMemory();
    }
    *handle = (lxpy_handle){1, dataset};
    return handle;
}

/** Closes a handle and keeps its count of damaged values; all pins of the Dataset share one
 * count. */
static void close_handle(lxpy_dataset *self, lx_dataset *dataset)
{
    lx_dataset_stats stats;
    lx_dataset_get_stats(dataset, &stats);
    self->damaged = stats.damaged;
    LXPY_WITHOUT_GIL(lx_dataset_close(dataset));
}

lxpy_handle *lxpy_dataset_enter(lxpy_dataset *self)
{
    if (self->current == NULL)
        return (lxpy_handle *)lxpy_raise_closed(self->state, "dataset", self->path);
    self->current->references++;
    return self->current;
}

void lxpy_dataset_leave(lxpy_dataset *self, lxpy_handle *handle)
{
    if (handle == NULL || --handle->references != 0)
        return;
    close_handle(self, handle->dataset);
    PyMem_Free(handle);
}

int lxpy_dataset_install(lxpy_dataset *self, lx_dataset *dataset)
{
    lxpy_handle *before = self->current, *handle = lxpy_handle_new(dataset);
    if (handle == NULL)
        return -1;
    self->current = handle;
    lxpy_dataset_leave(self, before);
    return 0;
}

int lxpy_dataset_check(lxpy_state *state, PyObject *object, const char *argument)
{
    if (PyObject_TypeCheck(object, (PyTypeObject *)LXPY(state, DATASET_TYPE)))
        return 0;
    PyErr_Format(PyExc_TypeError, "%s must be a loaderx.Dataset, not %.100s", argument,
                 Py_TYPE(object)->tp_name);
    return -1;
}

/* ------------------------------------------------------------------- reading calls */

int lxpy_reading_begin(lxpy_reading *reading, PyObject *object)
{
    lxpy_dataset *self = (lxpy_dataset *)object;
    lx_error error = LX_ERROR_INIT;
    lxpy_handle *current = lxpy_dataset_enter(self);
    if (current == NULL)
        return -1;
    *reading = (lxpy_reading){self->state, current->dataset, self->schema,
                              self,        current,          self->live};
    if (!self->live)
        return 0;
    LXPY_WITHOUT_GIL(lx_dataset_pin(current->dataset, &reading->handle, &error));
    if (error.status == LX_OK)
        return 0;
    lxpy_dataset_leave(self, current);
    lxpy_raise(self->state, &error);
    return -1;
}

void lxpy_reading_end(lxpy_reading *reading)
{
    if (reading->pinned)
        close_handle(reading->dataset, reading->handle);
    lxpy_dataset_leave(reading->dataset, reading->current);
}

/** Returns the positions of the named fields, or of all fields for None. Free the result with
 * PyMem_Free(). */
static size_t *take_fields(const lxpy_schema *schema, PyObject *object, size_t *count)
{
    bool all = object == NULL || object == Py_None;
    if (!all && (PyUnicode_Check(object) || PyBytes_Check(object))) {
        PyErr_SetString(PyExc_TypeError, "fields must be a sequence of names, not a single name");
        return NULL;
    }
    PyObject *names = all ? NULL : PySequence_Fast(object, "fields must be a sequence of names");
    /* The comparison with a str subclass may run code that changes a list. */
    if (names != NULL && PyList_Check(names))
        Py_SETREF(names, PyList_AsTuple(names));
    if (!all && names == NULL)
        return NULL;
    *count = all ? schema->count : (size_t)PySequence_Fast_GET_SIZE(names);
    size_t *positions = PyMem_Malloc((*count + 1) * sizeof *positions);
    if (positions == NULL)
        PyErr_NoMemory();
    for (size_t i = 0; positions != NULL && i < *count; i++) {
        Py_ssize_t position =
            all ? (Py_ssize_t)i
                : lxpy_schema_find(schema, PySequence_Fast_GET_ITEM(names, (Py_ssize_t)i));
        positions[i] = (size_t)position;
        if (position < 0) {
            PyMem_Free(positions);
            positions = NULL;
        }
    }
    Py_XDECREF(names);
    return positions;
}

static PyObject *select_entered(lxpy_reading *self, PyObject *which, PyObject *fields,
                                lxpy_select *select, void *user)
{
    lxpy_indices indices;
    size_t count;
    PyObject *result = NULL;
    size_t *positions = take_fields(self->schema, fields, &count);
    if (positions == NULL)
        return NULL;
    if (which == NULL) {
        result = select(self, NULL, positions, count, user);
    } else if (lxpy_indices_take(&indices, self->state, which, lx_dataset_get_length(self->handle),
                                 "indices") == 0) {
        result = select(self, &indices, positions, count, user);
        lxpy_indices_clear(&indices);
    }
    PyMem_Free(positions);
    return result;
}

PyObject *lxpy_reading_call(PyObject *dataset, PyObject *which, PyObject *fields,
                            lxpy_select *select, void *user)
{
    lxpy_reading reading;
    if (lxpy_reading_begin(&reading, dataset) < 0)
        return NULL;
    PyObject *result = select_entered(&reading, which, fields, select, user);
    lxpy_reading_end(&reading);
    return result;
}
