/* SPDX-License-Identifier: MIT */
/* Functions that create sources from files, Python arrays, datasets and other sources. */
#include "array.h"
#include "indices.h"
#include "progress.h"
#include "schema.h"
#include "source.h"

#include <stdlib.h>

#include <loaderx/recordio.h>

static PyObject *source_open(PyObject *module, PyObject *argument)
{
    lx_error error = LX_ERROR_INIT;
    lx_status status;
    PyObject *path = lxpy_path(argument, "source");
    lxpy_source *self = path != NULL ? lxpy_source_alloc(module) : NULL;
    PyObject *result = NULL;
    if (self != NULL) {
        const char *name = PyBytes_AS_STRING(path);
        LXPY_WITHOUT_GIL(status = lx_source_open(name, NULL, &self->handle, &error));
        result = lxpy_source_finish(self, status, &error);
    }
    Py_XDECREF(path);
    return result;
}

static PyObject *source_dataset(PyObject *module, PyObject *dataset)
{
    lx_error error = LX_ERROR_INIT;
    lxpy_source *self = lxpy_source_alloc(module);
    if (self == NULL)
        return NULL;
    if (lxpy_dataset_check(self->state, dataset, "source") == 0)
        self->snapshot = lxpy_dataset_enter((lxpy_dataset *)dataset);
    if (self->snapshot == NULL) {
        Py_DECREF(self);
        return NULL;
    }
    self->dataset = Py_NewRef(dataset);
    lx_status status = lx_source_new_dataset(self->snapshot->dataset, &self->handle, &error);
    return lxpy_source_finish(self, status, &error);
}

/** Creates a source from an array; typed Python code has checked that its records are
 * contiguous. */
static PyObject *source_array(PyObject *module, PyObject *args)
{
    PyObject *array;
    const char *name;
    lx_dtype dtype;
    lx_error error = LX_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "Os", &array, &name))
        return NULL;
    if (lx_dtype_parse(name, &dtype, &error) != LX_OK)
        return lxpy_raise(lxpy_state_get(module), &error);
    lxpy_source *self = lxpy_source_alloc(module);
    if (self == NULL)
        return NULL;
    if (PyObject_GetBuffer(array, &self->view, PyBUF_STRIDED_RO) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    lx_status status = lxpy_array_source_new(&self->view, dtype, &self->handle, &error);
    return lxpy_source_finish(self, status, &error);
}

static int take_parts(lxpy_state *state, PyObject *sources, lx_source **parts)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sources); i++) {
        parts[i] = lxpy_source_get(state, PyTuple_GET_ITEM(sources, i), "source");
        if (parts[i] == NULL)
            return -1;
    }
    return 0;
}

static int take_names(PyObject *names, const char **texts)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        texts[i] = name != Py_None ? lxpy_text(name, "the name of a column") : NULL;
        if (texts[i] == NULL && name != Py_None)
            return -1;
    }
    return 0;
}

static PyObject *source_zip(PyObject *module, PyObject *args)
{
    PyObject *sources, *names, *result = NULL;
    lx_error error = LX_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "O!O!", &PyTuple_Type, &sources, &PyTuple_Type, &names))
        return NULL;
    size_t count = (size_t)PyTuple_GET_SIZE(sources);
    if (count != (size_t)PyTuple_GET_SIZE(names)) {
        PyErr_SetString(PyExc_ValueError, "names must contain a name or None for each source");
        return NULL;
    }
    lx_source **parts = calloc(count + 1, sizeof *parts);
    const char **texts = calloc(count + 1, sizeof *texts);
    lxpy_source *self = lxpy_source_alloc(module);
    if (parts == NULL || texts == NULL) {
        PyErr_NoMemory();
        Py_CLEAR(self);
    } else if (self != NULL &&
               (take_parts(self->state, sources, parts) < 0 || take_names(names, texts) < 0)) {
        Py_CLEAR(self);
    }
    if (self != NULL) {
        self->reads = Py_NewRef(sources);
        lx_status status = lx_source_new_zip(parts, texts, count, &self->handle, &error);
        result = lxpy_source_finish(self, status, &error);
    }
    free(parts);
    free(texts);
    return result;
}

static PyObject *source_concat(PyObject *module, PyObject *sources)
{
    PyObject *result = NULL;
    lx_error error = LX_ERROR_INIT;
    if (!PyTuple_Check(sources)) {
        PyErr_SetString(PyExc_TypeError, "sources must be a tuple");
        return NULL;
    }
    size_t count = (size_t)PyTuple_GET_SIZE(sources);
    lx_source **parts = calloc(count + 1, sizeof *parts);
    if (parts == NULL)
        return PyErr_NoMemory();
    lxpy_source *self = NULL;
    if (take_parts(lxpy_state_get(module), sources, parts) == 0)
        self = lxpy_source_alloc(module);
    if (self != NULL) {
        self->reads = Py_NewRef(sources);
        lx_status status = lx_source_new_concat(parts, count, &self->handle, &error);
        result = lxpy_source_finish(self, status, &error);
    }
    free(parts);
    return result;
}

static PyObject *source_subset(PyObject *module, PyObject *args)
{
    PyObject *part, *numbers, *result = NULL;
    lxpy_indices indices;
    lx_error error = LX_ERROR_INIT;
    lxpy_state *state = lxpy_state_get(module);
    if (!PyArg_ParseTuple(args, "OO", &part, &numbers))
        return NULL;
    lx_source *handle = lxpy_source_get(state, part, "source");
    if (handle == NULL ||
        lxpy_indices_take(&indices, state, numbers, lx_source_get_length(handle), "indices") < 0)
        return NULL;
    lxpy_source *self = lxpy_source_alloc(module);
    if (self != NULL) {
        self->reads = Py_NewRef(part);
        lx_status status = lx_source_new_subset(handle, indices.numbers, indices.count,
                                                &self->handle, &error);
        result = lxpy_source_finish(self, status, &error);
    }
    lxpy_indices_clear(&indices);
    return result;
}

/** Creates a null source. It keeps no reference to the other source, which may be released. */
static PyObject *source_null(PyObject *module, PyObject *argument)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *handle = lxpy_source_get(lxpy_state_get(module), argument, "source");
    lxpy_source *self = handle != NULL ? lxpy_source_alloc(module) : NULL;
    if (self == NULL)
        return NULL;
    lx_status status = lx_source_new_null(handle, &self->handle, &error);
    return lxpy_source_finish(self, status, &error);
}

static PyObject *source_flat(PyObject *module, PyObject *args)
{
    PyObject *path_argument, *description, *number, *result = NULL;
    lxpy_description column;
    uint64_t offset;
    lx_error error = LX_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OO!O", &path_argument, &PyTuple_Type, &description, &number) ||
        lxpy_uint64(number, "offset", 0, UINT64_MAX, &offset) < 0 ||
        lxpy_description_take(&column, lxpy_state_get(module), description) < 0)
        return NULL;
    const lx_column_info info = {
        .name = column.name, .dtype = column.type, .ndim = column.ndim, .shape = column.shape};
    PyObject *path = lxpy_path(path_argument, "path");
    lxpy_source *self = path != NULL ? lxpy_source_alloc(module) : NULL;
    if (self != NULL) {
        lx_status status;
        const char *name = PyBytes_AS_STRING(path);
        LXPY_WITHOUT_GIL(status = lx_source_open_flat(name, &info, offset, &self->handle, &error));
        result = lxpy_source_finish(self, status, &error);
    }
    Py_XDECREF(path);
    return result;
}

/** Opens a RecordIO file; an index of None is made in memory. */
static PyObject *source_recordio(PyObject *module, PyObject *args)
{
    PyObject *records_argument, *index_argument, *progress;
    PyObject *records = NULL, *index = NULL, *result = NULL;
    lxpy_callbacks callbacks;
    unsigned label_width;
    lx_error error = LX_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOIO", &records_argument, &index_argument, &label_width,
                          &progress) ||
        lxpy_callbacks_init(&callbacks, lxpy_state_get(module), progress, Py_None) < 0)
        return NULL;
    bool scans = index_argument == Py_None;
    records = lxpy_path(records_argument, "path");
    if (records != NULL && !scans)
        index = lxpy_path(index_argument, "index");
    lxpy_source *self = index != NULL || (records != NULL && scans) ? lxpy_source_alloc(module)
                                                                    : NULL;
    if (self != NULL) {
        const char *names[] = {PyBytes_AS_STRING(records), scans ? NULL : PyBytes_AS_STRING(index)};
        lxpy_callbacks_begin(&callbacks);
        lx_status status = lx_source_open_recordio(names[0], names[1], label_width,
                                                   lxpy_report_progress, &callbacks, &self->handle,
                                                   &error);
        lxpy_callbacks_end(&callbacks);
        if (!callbacks.raised)
            result = lxpy_source_finish(self, status, &error);
        else
            Py_DECREF(self);
    }
    Py_XDECREF(records);
    Py_XDECREF(index);
    return result;
}

/** Creates a source of images in files, whose names are a tuple of bytes. */
static PyObject *source_files(PyObject *module, PyObject *args)
{
    static const lx_column_info image = {.name = "image", .dtype = LX_IMAGE};
    PyObject *folder_argument, *names, *result = NULL;
    lx_error error = LX_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OO!", &folder_argument, &PyTuple_Type, &names))
        return NULL;
    size_t count = (size_t)PyTuple_GET_SIZE(names);
    const char **texts = calloc(count + 1, sizeof *texts);
    if (texts == NULL)
        return PyErr_NoMemory();
    bool taken = true;
    for (size_t i = 0; taken && i < count; i++)
        taken = (texts[i] = PyBytes_AsString(PyTuple_GET_ITEM(names, (Py_ssize_t)i))) != NULL;
    PyObject *folder = taken ? lxpy_path(folder_argument, "folder") : NULL;
    lxpy_source *self = folder != NULL ? lxpy_source_alloc(module) : NULL;
    if (self != NULL) {
        lx_status status;
        const char *path = PyBytes_AS_STRING(folder);
        LXPY_WITHOUT_GIL(
            status = lx_source_open_files(path, texts, count, &image, &self->handle, &error));
        result = lxpy_source_finish(self, status, &error);
    }
    Py_XDECREF(folder);
    free(texts);
    return result;
}

static PyMethodDef functions[] = {
    {"source_open", source_open, METH_O, "source_open(path)"},
    {"source_dataset", source_dataset, METH_O, "source_dataset(dataset)"},
    {"source_array", source_array, METH_VARARGS, "source_array(array, dtype)"},
    {"source_zip", source_zip, METH_VARARGS, "source_zip(sources, names)"},
    {"source_concat", source_concat, METH_O, "source_concat(sources)"},
    {"source_subset", source_subset, METH_VARARGS, "source_subset(source, indices)"},
    {"source_null", source_null, METH_O, "source_null(source)"},
    {"source_files", source_files, METH_VARARGS, "source_files(folder, names)"},
    {"source_flat", source_flat, METH_VARARGS,
     "source_flat(path, (name, dtype, shape, compress), offset)"},
    {"source_recordio", source_recordio, METH_VARARGS,
     "source_recordio(path, index, label_width, progress)"},
    {NULL},
};

int lxpy_add_source_makers(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
