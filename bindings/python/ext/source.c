/* SPDX-License-Identifier: MIT */
/* Source: an lx_source, and the Python objects whose memory it reads. */
#include "array.h"
#include "dataset.h"
#include "endless.h"
#include "indices.h"
#include "objects.h"
#include "schema.h"

#include <stdlib.h>

typedef struct source {
    PyObject_HEAD
    lxpy_state *state;
    lx_source *handle;  /**< Batches may keep it longer than this object lives, and not read it. */
    PyObject *reads;    /**< Other sources that it reads of; or NULL. */
    PyObject *dataset;  /**< The dataset that it reads; or NULL. */
    lxpy_handle *shown; /**< The state of it that it reads. */
    Py_buffer view;     /**< Of the array that it reads; obj is NULL where there is none. */
} source;

static source *source_alloc(PyObject *module)
{
    lxpy_state *state = lxpy_state_get(module);
    PyTypeObject *type = (PyTypeObject *)LXPY(state, SOURCE_TYPE);
    source *self = (source *)type->tp_alloc(type, 0);
    if (self != NULL)
        self->state = state;
    return self;
}

/** The object, if its handle could be made; else raises why not. */
static PyObject *finish(source *self, lx_status status, lx_error *error)
{
    if (status == LX_OK)
        return (PyObject *)self;
    if (error->status >= 0)
        PyErr_NoMemory(); /* our own kinds of source fail of nothing else */
    else
        lxpy_raise(self->state, error);
    Py_DECREF(self);
    return NULL;
}

static void source_dealloc(PyObject *object)
{
    source *self = (source *)object;
    PyTypeObject *type = Py_TYPE(object);
    lx_source *handle = self->handle;
    if (handle != NULL) /* it may close files */
        LXPY_WITHOUT_GIL(lx_source_unref(handle));
    if (self->view.obj != NULL)
        PyBuffer_Release(&self->view);
    if (self->dataset != NULL)
        lxpy_dataset_leave((lxpy_dataset *)self->dataset, self->shown);
    Py_XDECREF(self->dataset);
    Py_XDECREF(self->reads);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *source_get_length(PyObject *object, void *ignored)
{
    (void)ignored;
    return PyLong_FromUnsignedLongLong(lx_source_get_length(((source *)object)->handle));
}

static PyObject *describe_column(lxpy_state *state, const lx_column_info *column)
{
    PyObject *shape = lxpy_shape_new(LX_NONE, column->shape, column->ndim);
    if (shape == NULL)
        return NULL;
    return Py_BuildValue("(sON)", column->name, state->dtypes[column->dtype], shape);
}

static PyObject *source_get_columns(PyObject *object, void *ignored)
{
    source *self = (source *)object;
    size_t count = lx_source_get_column_count(self->handle);
    PyObject *columns = PyTuple_New((Py_ssize_t)count);
    (void)ignored;
    for (size_t i = 0; columns != NULL && i < count; i++) {
        PyObject *one = describe_column(self->state, lx_source_get_column(self->handle, i));
        if (one == NULL)
            Py_CLEAR(columns);
        else
            PyTuple_SET_ITEM(columns, (Py_ssize_t)i, one);
    }
    return columns;
}

static PyGetSetDef source_getset[] = {
    {"length", source_get_length, NULL, "Number of records.", NULL},
    {"columns", source_get_columns, NULL, "(name, dtype, shape of a record) of each column.",
     NULL},
    {NULL},
};

static PyType_Slot source_slots[] = {
    {Py_tp_doc, "What a loader reads."},
    {Py_tp_dealloc, source_dealloc},
    {Py_tp_getset, source_getset},
    {0, NULL},
};

static PyType_Spec source_spec = {
    .name = "loaderx._core.Source",
    .basicsize = sizeof(source),
    .flags = Py_TPFLAGS_DEFAULT | LXPY_NO_INSTANTIATION,
    .slots = source_slots,
};

/* ---- making them */

static PyObject *source_open(PyObject *module, PyObject *argument)
{
    lx_error error = LX_ERROR_INIT;
    lx_status status;
    PyObject *path = lxpy_path(argument, "source");
    source *self = path != NULL ? source_alloc(module) : NULL;
    PyObject *result = NULL;
    if (self != NULL) {
        const char *name = PyBytes_AS_STRING(path);
        LXPY_WITHOUT_GIL(status = lx_source_open(name, NULL, &self->handle, &error));
        result = finish(self, status, &error);
    }
    Py_XDECREF(path);
    return result;
}

static PyObject *source_dataset(PyObject *module, PyObject *dataset)
{
    lx_error error = LX_ERROR_INIT;
    source *self = source_alloc(module);
    if (self == NULL)
        return NULL;
    if (lxpy_dataset_check(self->state, dataset, "source") == 0)
        self->shown = lxpy_dataset_enter((lxpy_dataset *)dataset);
    if (self->shown == NULL) {
        Py_DECREF(self);
        return NULL;
    }
    self->dataset = Py_NewRef(dataset);
    return finish(self, lx_source_from_dataset(self->shown->dataset, &self->handle, &error),
                  &error);
}

/** The array's records must be contiguous, which typed Python has looked at. */
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
    source *self = source_alloc(module);
    if (self == NULL)
        return NULL;
    if (PyObject_GetBuffer(array, &self->view, PyBUF_STRIDED_RO) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    lx_status status = lxpy_array_source_new(&self->view, dtype, &self->handle, &error);
    return finish(self, status, &error);
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
        PyErr_SetString(PyExc_ValueError, "there must be a name, or None, for each source");
        return NULL;
    }
    lx_source **parts = calloc(count + 1, sizeof *parts);
    const char **texts = calloc(count + 1, sizeof *texts);
    source *self = source_alloc(module);
    if (parts == NULL || texts == NULL) {
        PyErr_NoMemory();
        Py_CLEAR(self);
    } else if (self != NULL && (take_parts(self->state, sources, parts) < 0 ||
                                take_names(names, texts) < 0)) {
        Py_CLEAR(self);
    }
    if (self != NULL) {
        self->reads = Py_NewRef(sources);
        lx_status status = lx_source_zip(parts, texts, count, &self->handle, &error);
        result = finish(self, status, &error);
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
    source *self = take_parts(lxpy_state_get(module), sources, parts) == 0 ? source_alloc(module)
                                                                           : NULL;
    if (self != NULL) {
        self->reads = Py_NewRef(sources);
        lx_status status = lx_source_concat(parts, count, &self->handle, &error);
        result = finish(self, status, &error);
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
    if (handle == NULL || lxpy_indices_take(&indices, state, numbers,
                                            lx_source_get_length(handle), "indices") < 0)
        return NULL;
    source *self = source_alloc(module);
    if (self != NULL) {
        self->reads = Py_NewRef(part);
        lx_status status =
            lx_source_subset(handle, indices.numbers, indices.count, &self->handle, &error);
        result = finish(self, status, &error);
    }
    lxpy_indices_clear(&indices);
    return result;
}

/** It keeps nothing of the source, which may go now. */
static PyObject *source_null(PyObject *module, PyObject *argument)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *handle = lxpy_source_get(lxpy_state_get(module), argument, "source");
    source *self = handle != NULL ? source_alloc(module) : NULL;
    return self != NULL ? finish(self, lx_source_new_null(handle, &self->handle, &error), &error)
                        : NULL;
}

static PyObject *source_flat(PyObject *module, PyObject *args)
{
    PyObject *given, *description, *number, *result = NULL;
    lxpy_description column;
    uint64_t offset;
    lx_error error = LX_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OO!O", &given, &PyTuple_Type, &description, &number) ||
        lxpy_uint64(number, "offset", 0, UINT64_MAX, &offset) < 0 ||
        lxpy_description_take(&column, lxpy_state_get(module), description) < 0)
        return NULL;
    const lx_column_info info = {
        .name = column.name, .dtype = column.type, .ndim = column.ndim, .shape = column.shape};
    PyObject *path = lxpy_path(given, "path");
    source *self = path != NULL ? source_alloc(module) : NULL;
    if (self != NULL) {
        lx_status status;
        const char *name = PyBytes_AS_STRING(path);
        LXPY_WITHOUT_GIL(status =
                             lx_source_open_flat(name, &info, offset, &self->handle, &error));
        result = finish(self, status, &error);
    }
    Py_XDECREF(path);
    return result;
}

static PyObject *source_tokens(PyObject *module, PyObject *args)
{
    PyObject *given, *sequence, *words;
    uint64_t length, vocabulary;
    int wide, overlap;
    lx_error error = LX_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOpOp", &given, &sequence, &wide, &words, &overlap) ||
        lxpy_uint64(sequence, "sequence_length", 1, UINT64_MAX - 1, &length) < 0 ||
        lxpy_uint64(words, "vocabulary", 0, UINT64_MAX, &vocabulary) < 0)
        return NULL;
    lx_tokens *handle = lxpy_tokens_get(lxpy_state_get(module), given, "tokens");
    source *self = handle != NULL ? source_alloc(module) : NULL;
    if (self == NULL)
        return NULL;
    lx_dtype dtype = wide ? LX_INT64 : LX_INT32;
    lx_status status =
        overlap ? lx_source_from_tokens(handle, length, dtype, vocabulary, &self->handle, &error)
                : lx_source_from_token_blocks(handle, length + 1, dtype, vocabulary, &self->handle,
                                              &error);
    return finish(self, status, &error);
}

/** Makes a source of the documents of tokens, in one way or the other. */
typedef lx_status (*documents_maker)(lx_tokens *tokens, uint64_t size, lx_dtype dtype,
                                     uint64_t vocabulary, int64_t number, unsigned columns,
                                     lx_source **source, lx_error *error);

/** @p argument is what the size is called. */
static PyObject *of_documents(PyObject *module, PyObject *args, const char *argument,
                              documents_maker make)
{
    PyObject *given, *number, *words;
    uint64_t size, vocabulary;
    long long written; /* among the tokens */
    unsigned columns;
    int wide;
    lx_status status;
    lx_error error = LX_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOpOLI", &given, &number, &wide, &words, &written, &columns) ||
        lxpy_uint64(number, argument, 1, UINT64_MAX, &size) < 0 ||
        lxpy_uint64(words, "vocabulary", 0, UINT64_MAX, &vocabulary) < 0)
        return NULL;
    lx_tokens *handle = lxpy_tokens_get(lxpy_state_get(module), given, "tokens");
    source *self = handle != NULL ? source_alloc(module) : NULL;
    if (self == NULL)
        return NULL;
    LXPY_WITHOUT_GIL(status = make(handle, size, wide ? LX_INT64 : LX_INT32, vocabulary, written,
                                   columns, &self->handle, &error));
    return finish(self, status, &error);
}

static PyObject *source_packed(PyObject *module, PyObject *args)
{
    return of_documents(module, args, "capacity", lx_source_pack_tokens);
}

static PyObject *source_joined(PyObject *module, PyObject *args)
{
    return of_documents(module, args, "sequence_length", lx_source_join_tokens);
}

static PyObject *source_padding(PyObject *module, PyObject *object)
{
    lxpy_state *state = lxpy_state_get(module);
    uint64_t padding, total;
    lx_error error = LX_ERROR_INIT;
    lx_source *handle = lxpy_source_get(state, object, "source");
    if (handle == NULL)
        return NULL;
    if (lx_source_get_padding(handle, &padding, &total, &error) != LX_OK)
        return lxpy_raise(state, &error);
    return Py_BuildValue("KK", (unsigned long long)padding, (unsigned long long)total);
}

static PyObject *source_endless(PyObject *module, PyObject *args)
{
    lxpy_state *state = lxpy_state_get(module);
    PyObject *inner, *order;
    lx_error error = LX_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OO", &inner, &order))
        return NULL;
    lx_source *source_handle = lxpy_source_get(state, inner, "source");
    lx_order *order_handle = source_handle != NULL ? lxpy_order_get(state, order, "order") : NULL;
    source *self = order_handle != NULL ? source_alloc(module) : NULL;
    if (self == NULL)
        return NULL;
    self->reads = Py_NewRef(inner);
    lx_status status = lxpy_endless_new(source_handle, order_handle, &self->handle, &error);
    return finish(self, status, &error);
}

static PyMethodDef functions[] = {
    {"source_open", source_open, METH_O, "source_open(path)"},
    {"source_dataset", source_dataset, METH_O, "source_dataset(dataset)"},
    {"source_array", source_array, METH_VARARGS, "source_array(array, dtype)"},
    {"source_zip", source_zip, METH_VARARGS, "source_zip(sources, names)"},
    {"source_concat", source_concat, METH_O, "source_concat(sources)"},
    {"source_subset", source_subset, METH_VARARGS, "source_subset(source, indices)"},
    {"source_null", source_null, METH_O, "source_null(source)"},
    {"source_flat", source_flat, METH_VARARGS,
     "source_flat(path, (name, dtype, shape, compress), offset)"},
    {"source_tokens", source_tokens, METH_VARARGS,
     "source_tokens(tokens, sequence_length, wide, vocabulary, overlap)"},
    {"source_packed", source_packed, METH_VARARGS,
     "source_packed(tokens, capacity, wide, vocabulary, pad, columns)"},
    {"source_joined", source_joined, METH_VARARGS,
     "source_joined(tokens, sequence_length, wide, vocabulary, separator, columns)"},
    {"source_padding", source_padding, METH_O, "source_padding(source)"},
    {"source_endless", source_endless, METH_VARARGS, "source_endless(source, order)"},
    {NULL},
};

int lxpy_add_source(PyObject *module)
{
    if (lxpy_add_type(module, &source_spec, LXPY_SOURCE_TYPE) < 0)
        return -1;
    return PyModule_AddFunctions(module, functions);
}

lx_source *lxpy_source_get(lxpy_state *state, PyObject *object, const char *argument)
{
    if (Py_TYPE(object) == (PyTypeObject *)LXPY(state, SOURCE_TYPE))
        return ((source *)object)->handle;
    PyErr_Format(PyExc_TypeError, "%s must be a source, not %.100s", argument,
                 Py_TYPE(object)->tp_name);
    return NULL;
}
