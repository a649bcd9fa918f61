/* SPDX-License-Identifier: MIT */
/* Joining datasets. */
#include "dataset.h"
#include "progress.h"

/** The parts of a join, each with a reading that is under way. */
typedef struct joining {
    Py_ssize_t count, begun;
    lxpy_reading *readings;
    lx_dataset **parts;
    PyObject **names; /**< bytes */
    const char **paths;
} joining;

static int take_part(joining *self, lxpy_state *state, PyObject *pair)
{
    PyObject *dataset, *path;
    Py_ssize_t i = self->begun;
    if (!PyArg_ParseTuple(pair, "OO", &dataset, &path) ||
        lxpy_dataset_check(state, dataset, "a part") < 0)
        return -1;
    /* which may be empty, unlike for lxpy_path() */
    if (!PyUnicode_FSConverter(path, &self->names[i]) ||
        lxpy_reading_begin(&self->readings[i], dataset) < 0) {
        Py_CLEAR(self->names[i]);
        return -1;
    }
    self->begun++;
    self->parts[i] = self->readings[i].handle;
    self->paths[i] = PyBytes_AS_STRING(self->names[i]);
    return 0;
}

/** Takes a list of pairs of a Dataset and its path. */
static int take_parts(joining *self, lxpy_state *state, PyObject *list)
{
    if (!PyList_Check(list)) {
        PyErr_SetString(PyExc_TypeError, "parts must be a list");
        return -1;
    }
    self->count = PyList_GET_SIZE(list);
    size_t count = (size_t)self->count + 1;
    self->readings = PyMem_Calloc(count, sizeof *self->readings);
    self->parts = PyMem_Calloc(count, sizeof *self->parts);
    self->names = PyMem_Calloc(count, sizeof *self->names);
    self->paths = PyMem_Calloc(count, sizeof *self->paths);
    if (self->readings == NULL || self->parts == NULL || self->names == NULL ||
        self->paths == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < self->count; i++)
        if (take_part(self, state, PyList_GET_ITEM(list, i)) < 0)
            return -1;
    return 0;
}

static void end(joining *self)
{
    for (Py_ssize_t i = 0; i < self->begun; i++) {
        lxpy_reading_end(&self->readings[i]);
        Py_DECREF(self->names[i]);
    }
    PyMem_Free(self->paths);
    PyMem_Free(self->names);
    PyMem_Free(self->parts);
    PyMem_Free(self->readings);
}

static PyObject *join(joining *self, lxpy_state *state, PyObject *path, lxpy_callbacks *callbacks)
{
    lx_error error = LX_ERROR_INIT;
    lxpy_callbacks_begin(callbacks);
    lx_dataset_join(PyBytes_AS_STRING(path), self->parts, self->paths, (uint64_t)self->count,
                    lxpy_report_progress, callbacks, &error);
    lxpy_callbacks_end(callbacks);
    if (callbacks->raised)
        return NULL;
    if (error.status != LX_OK)
        return lxpy_raise(state, &error);
    Py_RETURN_NONE;
}

PyObject *lxpy_dataset_join(PyObject *type, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"path", "parts", "progress", NULL};
    lxpy_state *state = lxpy_state_find((PyTypeObject *)type);
    PyObject *values[3], *result = NULL;
    lxpy_callbacks callbacks;
    joining parts = {0};
    if (state == NULL || lxpy_arguments("_join", names, 3, 3, args, count, NULL, values) < 0 ||
        lxpy_callbacks_init(&callbacks, state, values[2], Py_None) < 0)
        return NULL;
    PyObject *path = lxpy_path(values[0], names[0]);
    if (path != NULL && take_parts(&parts, state, values[1]) == 0)
        result = join(&parts, state, path, &callbacks);
    end(&parts);
    Py_XDECREF(path);
    return result;
}
