/* SPDX-License-Identifier: MIT */
/* The counted handles of a Dataset, and calls that read one snapshot. */
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

/** Closes a handle of the library's, and keeps what it has counted: with all others of the Dataset,
 * which are its pins. */
static void close_handle(lxpy_dataset *self, lx_dataset *dataset)
{
    lx_dataset_stats stats;
    lx_dataset_get_stats(dataset, &stats);
    self->damaged = stats.damaged;
    LXPY_WITHOUT_GIL(lx_dataset_close(dataset));
}

lxpy_handle *lxpy_dataset_enter(lxpy_dataset *self)
{
    if (self->shown == NULL)
        return (lxpy_handle *)lxpy_raise_closed(self->state, "dataset", self->path);
    self->shown->users++;
    return self->shown;
}

void lxpy_dataset_leave(lxpy_dataset *self, lxpy_handle *handle)
{
    if (handle == NULL || --handle->users != 0)
        return;
    close_handle(self, handle->dataset);
    PyMem_Free(handle);
}

int lxpy_dataset_show(lxpy_dataset *self, lx_dataset *dataset)
{
    lxpy_handle *before = self->shown, *handle = lxpy_handle_new(dataset);
    if (handle == NULL)
        return -1;
    self->shown = handle;
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

/* ------------------------------------------------------------------- readings */

int lxpy_reading_begin(lxpy_reading *reading, PyObject *object)
{
    lxpy_dataset *self = (lxpy_dataset *)object;
    lx_error error = LX_ERROR_INIT;
    lxpy_handle *shown = lxpy_dataset_enter(self);
    if (shown == NULL)
        return -1;
    *reading = (lxpy_reading){self->state, shown->dataset, self->schema, self, shown, self->live};
    if (!self->live)
        return 0;
    LXPY_WITHOUT_GIL(lx_dataset_pin(shown->dataset, &reading->handle, &error));
    if (error.status == LX_OK)
        return 0;
    lxpy_dataset_leave(self, shown);
    lxpy_raise(self->state, &error);
    return -1;
}

void lxpy_reading_end(lxpy_reading *reading)
{
    if (reading->pinned)
        close_handle(reading->dataset, reading->handle);
    lxpy_dataset_leave(reading->dataset, reading->shown);
}

static PyObject *select_entered(lxpy_reading *self, PyObject *which, PyObject *fields,
                                lxpy_select *select, void *user)
{
    lxpy_indices indices;
    size_t count;
    PyObject *result = NULL;
    size_t *positions = lxpy_take_fields(self->schema, fields, &count);
    if (positions == NULL)
        return NULL;
    if (lxpy_indices_take(&indices, self->state, which, lx_dataset_get_length(self->handle),
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
