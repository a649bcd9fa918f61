/* SPDX-License-Identifier: MIT */
/* Datasets that are elsewhere: loaderx._remote opens them. */
#include "dataset.h"

#include "capsule.h"
#include "progress.h"

static const lxpy_opener *opener_of(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, LXPY_OPENER);
}

static PyObject *or_none(PyObject *argument)
{
    return argument != NULL ? argument : Py_None;
}

int lxpy_opener_make(PyObject *path, const lxpy_elsewhere *arguments, PyObject **opener)
{
    PyObject *module = PyImport_ImportModule("loaderx._elsewhere");
    PyObject *made =
        module != NULL
            ? PyObject_CallMethod(module, "make_opener", "OOOOOOOOOOO", path,
                                  or_none(arguments->cache), or_none(arguments->limit),
                                  or_none(arguments->memory), or_none(arguments->connections),
                                  or_none(arguments->patience), or_none(arguments->tier),
                                  or_none(arguments->endpoint), or_none(arguments->region),
                                  or_none(arguments->anonymous), or_none(arguments->credentials))
            : NULL;
    Py_XDECREF(module);
    *opener = made != Py_None ? made : NULL;
    if (made == Py_None)
        Py_DECREF(made);
    else if (made != NULL && opener_of(made) == NULL)
        Py_CLEAR(*opener);
    return made != NULL && !PyErr_Occurred() ? 0 : -1;
}

void lxpy_opener_open(PyObject *opener, const char *path, const lx_dataset_options *options,
                      lx_dataset **dataset, lx_error *error)
{
    const lxpy_opener *self = opener != NULL ? opener_of(opener) : NULL;
    Py_BEGIN_ALLOW_THREADS
    if (self != NULL)
        self->open(self, path, options, dataset, error);
    else
        lx_dataset_open(path, options, dataset, error);
    Py_END_ALLOW_THREADS
}

int lxpy_add_remote_stats(const lxpy_dataset *self, lx_dataset *dataset, PyObject *found)
{
    if (self->opener == NULL)
        return 0;
    const lxpy_opener *opener = opener_of(self->opener);
    PyObject *key = PyLong_FromVoidPtr(self->opener), *stats = opener->get_stats(opener, dataset);
    int result = key != NULL && stats != NULL ? PyDict_SetItem(found, key, stats) : -1;
    Py_XDECREF(stats);
    Py_XDECREF(key);
    return result;
}

PyObject *lxpy_dataset_remote_stats(PyObject *object, PyObject *ignored)
{
    lxpy_dataset *self = (lxpy_dataset *)object;
    (void)ignored;
    if (self->current == NULL)
        return lxpy_raise_closed(self->state, "dataset", self->path);
    if (self->opener == NULL)
        Py_RETURN_NONE;
    const lxpy_opener *opener = opener_of(self->opener);
    return opener->get_stats(opener, self->current->dataset);
}

PyObject *lxpy_dataset_push(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"url", "opener", "replace", "progress", NULL};
    lxpy_reading reading;
    lx_error error = LX_ERROR_INIT;
    lxpy_callbacks callbacks;
    PyObject *values[4];
    uint64_t sent = 0;
    if (lxpy_arguments("_push", names, 4, 4, args, count, NULL, values) < 0 ||
        lxpy_callbacks_init(&callbacks, ((lxpy_dataset *)object)->state, values[3], Py_None) < 0)
        return NULL;
    const lxpy_opener *opener = opener_of(values[1]);
    PyObject *url = opener != NULL ? lxpy_path(values[0], names[0]) : NULL;
    if (url == NULL || lxpy_reading_begin(&reading, object) < 0) {
        Py_XDECREF(url);
        return NULL;
    }
    lxpy_callbacks_begin(&callbacks);
    opener->push(opener, reading.handle, PyBytes_AS_STRING(url), values[2] == Py_True,
                 lxpy_report_progress, &callbacks, &sent, &error);
    lxpy_callbacks_end(&callbacks);
    lxpy_reading_end(&reading);
    Py_DECREF(url);
    if (callbacks.raised)
        return NULL;
    if (error.status != LX_OK)
        return lxpy_raise(reading.state, &error);
    return PyLong_FromUnsignedLongLong(sent);
}

static PyObject *show_path(PyObject *module, PyObject *object)
{
    PyObject *path = lxpy_path(object, "path");
    PyObject *shown = path != NULL ? lxpy_path_show(path) : NULL;
    (void)module;
    Py_XDECREF(path);
    return shown;
}

static PyMethodDef functions[] = {
    {"show_path", show_path, METH_O,
     "show_path(path)\n--\n\nReturn a path or URL as a str for people, without its secrets."},
    {NULL},
};

int lxpy_add_elsewhere(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
