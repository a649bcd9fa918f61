/* SPDX-License-Identifier: MIT */
/* Tokens: an lx_tokens over files and fields. */
#include "dataset.h"
#include "objects.h"

typedef struct tokens {
    PyObject_HEAD
    lxpy_state *state;
    lx_tokens *handle;
} tokens;

static tokens *tokens_alloc(lxpy_state *state, lx_tokens *handle)
{
    PyTypeObject *type = (PyTypeObject *)LXPY(state, TOKENS_TYPE);
    tokens *self = (tokens *)type->tp_alloc(type, 0);
    if (self == NULL) {
        lx_tokens_unref(handle);
        return NULL;
    }
    self->state = state;
    self->handle = handle;
    return self;
}

static void tokens_dealloc(PyObject *object)
{
    tokens *self = (tokens *)object;
    PyTypeObject *type = Py_TYPE(object);
    lx_tokens *handle = self->handle;
    if (handle != NULL) /* this may unmap files */
        LXPY_WITHOUT_GIL(lx_tokens_unref(handle));
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *tokens_document(PyObject *object, PyObject *number)
{
    tokens *self = (tokens *)object;
    uint64_t index, first, length;
    lx_error error = LX_ERROR_INIT;
    if (lxpy_uint64(number, "document", 0, UINT64_MAX, &index) < 0)
        return NULL;
    if (lx_tokens_get_document(self->handle, index, &first, &length, &error) != LX_OK)
        return lxpy_raise(self->state, &error);
    return Py_BuildValue("KK", (unsigned long long)first, (unsigned long long)length);
}

/** Reads tokens into a new array of @p dtype. */
static PyObject *read_array(tokens *self, uint64_t first, uint64_t count, lx_dtype dtype)
{
    Py_buffer view;
    lx_status status;
    lx_error error = LX_ERROR_INIT;
    PyObject *array = PyObject_CallFunction(LXPY(self->state, EMPTY), "KO",
                                            (unsigned long long)count, self->state->dtypes[dtype]);
    if (array == NULL || PyObject_GetBuffer(array, &view, PyBUF_WRITABLE) < 0) {
        Py_XDECREF(array);
        return NULL;
    }
    LXPY_WITHOUT_GIL(status = lx_tokens_read(self->handle, first, count, dtype, view.buf, &error));
    PyBuffer_Release(&view);
    if (status == LX_OK)
        return array;
    Py_DECREF(array);
    return lxpy_raise(self->state, &error);
}

static PyObject *tokens_read(PyObject *object, PyObject *args)
{
    tokens *self = (tokens *)object;
    PyObject *start, *number;
    uint64_t first, count, length = lx_tokens_get_length(self->handle);
    int wide;
    if (!PyArg_ParseTuple(args, "OOp", &start, &number, &wide) ||
        lxpy_uint64(start, "first", 0, length, &first) < 0 ||
        lxpy_uint64(number, "count", 0, length - first, &count) < 0)
        return NULL;
    return read_array(self, first, count, wide ? LX_INT64 : LX_INT32);
}

static PyObject *tokens_get_number(PyObject *object, void *getter)
{
    uint64_t (*get)(const lx_tokens *) = (uint64_t(*)(const lx_tokens *))getter;
    return PyLong_FromUnsignedLongLong(get(((tokens *)object)->handle));
}

static PyObject *tokens_get_dtype(PyObject *object, void *ignored)
{
    tokens *self = (tokens *)object;
    (void)ignored;
    return Py_NewRef(self->state->dtypes[lx_tokens_get_dtype(self->handle)]);
}

static PyMethodDef tokens_methods[] = {
    {"document", tokens_document, METH_O, "document(number)"},
    {"read", tokens_read, METH_VARARGS, "read(first, count, wide)"},
    {NULL},
};

static PyGetSetDef tokens_getset[] = {
    {"length", tokens_get_number, NULL, "The number of tokens.", (void *)lx_tokens_get_length},
    {"documents", tokens_get_number, NULL, "The number of documents.",
     (void *)lx_tokens_get_document_count},
    {"dtype", tokens_get_dtype, NULL, "The dtype of the stored tokens.", NULL},
    {NULL},
};

static PyType_Slot tokens_slots[] = {
    {Py_tp_doc, "A sequence of tokens in files and fields."},
    {Py_tp_dealloc, tokens_dealloc},
    {Py_tp_methods, tokens_methods},
    {Py_tp_getset, tokens_getset},
    {0, NULL},
};

static PyType_Spec tokens_spec = {
    .name = "loaderx._core.Tokens",
    .basicsize = sizeof(tokens),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = tokens_slots,
};

/** Stores the dtype named @p name, which can be NULL. Returns -1 with an exception on failure. */
static int parse_dtype(lxpy_state *state, const char *name, lx_dtype *dtype)
{
    lx_error error = LX_ERROR_INIT;
    *dtype = LX_BYTES;
    if (name == NULL || lx_dtype_parse(name, dtype, &error) == LX_OK)
        return 0;
    lxpy_raise(state, &error);
    return -1;
}

static PyObject *tokens_open(PyObject *module, PyObject *args)
{
    lxpy_state *state = lxpy_state_get(module);
    PyObject *path_argument;
    const char *name;
    lx_dtype dtype;
    lx_tokens *handle;
    lx_status status;
    int raw;
    lx_error error = LX_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "Ozp", &path_argument, &name, &raw) ||
        parse_dtype(state, name, &dtype) < 0)
        return NULL;
    PyObject *path = lxpy_path(path_argument, "path");
    if (path == NULL)
        return NULL;
    LXPY_WITHOUT_GIL(status = (raw ? lx_tokens_open_raw : lx_tokens_open)(PyBytes_AS_STRING(path),
                                                                          dtype, &handle, &error));
    Py_DECREF(path);
    return status == LX_OK ? (PyObject *)tokens_alloc(state, handle) : lxpy_raise(state, &error);
}

static PyObject *tokens_from_field(PyObject *module, PyObject *args)
{
    lxpy_state *state = lxpy_state_get(module);
    PyObject *dataset, *field;
    const char *name;
    lx_dtype dtype;
    lx_tokens *handle;
    lx_status status;
    lx_error error = LX_ERROR_INIT;
    lxpy_reading reading;
    if (!PyArg_ParseTuple(args, "OOz", &dataset, &field, &name) ||
        parse_dtype(state, name, &dtype) < 0 || lxpy_dataset_check(state, dataset, "dataset") < 0 ||
        lxpy_reading_begin(&reading, dataset) < 0)
        return NULL;
    Py_ssize_t position = lxpy_schema_find(reading.schema, field);
    if (position >= 0)
        LXPY_WITHOUT_GIL(
            status = lx_tokens_new_field(reading.handle, (size_t)position, dtype, &handle, &error));
    lxpy_reading_end(&reading);
    if (position < 0)
        return NULL;
    return status == LX_OK ? (PyObject *)tokens_alloc(state, handle) : lxpy_raise(state, &error);
}

static PyObject *tokens_concat(PyObject *module, PyObject *parts)
{
    lxpy_state *state = lxpy_state_get(module);
    lx_tokens *handle;
    lx_error error = LX_ERROR_INIT;
    if (!PyTuple_Check(parts)) {
        PyErr_SetString(PyExc_TypeError, "tokens must be a tuple");
        return NULL;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(parts);
    lx_tokens **handles = PyMem_New(lx_tokens *, count + 1);
    if (handles == NULL)
        return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count; i++) {
        handles[i] = lxpy_tokens_get(state, PyTuple_GET_ITEM(parts, i), "tokens");
        if (handles[i] == NULL) {
            PyMem_Free(handles);
            return NULL;
        }
    }
    lx_status status = lx_tokens_new_concat(handles, (size_t)count, &handle, &error);
    PyMem_Free(handles);
    return status == LX_OK ? (PyObject *)tokens_alloc(state, handle) : lxpy_raise(state, &error);
}

/** Creates an int32 array, and gets its buffer in @p view. */
static PyObject *new_numbers(lxpy_state *state, size_t count, Py_buffer *view)
{
    PyObject *array = PyObject_CallFunction(LXPY(state, EMPTY), "nO", (Py_ssize_t)count,
                                            state->dtypes[LX_INT32]);
    if (array == NULL || PyObject_GetBuffer(array, view, PyBUF_WRITABLE) < 0)
        Py_CLEAR(array);
    return array;
}

/** Measures the segments twice: the first pass only counts them. */
static PyObject *measure(lxpy_state *state, const lx_column *segments, bool padding)
{
    Py_buffer view;
    lx_segment_sizes sizes;
    lx_status status;
    lx_error error = LX_ERROR_INIT;
    LXPY_WITHOUT_GIL(status = lx_segments_get_sizes(segments, padding, NULL, 0, &sizes, &error));
    if (status != LX_OK)
        return lxpy_raise(state, &error);
    PyObject *array = new_numbers(state, sizes.count, &view);
    if (array == NULL)
        return NULL;
    LXPY_WITHOUT_GIL(
        status = lx_segments_get_sizes(segments, padding, view.buf, sizes.count, &sizes, &error));
    PyBuffer_Release(&view);
    if (status == LX_OK) /* otherwise, another thread has changed the segments */
        return Py_BuildValue("Ni", array, (int)sizes.longest);
    Py_DECREF(array);
    return lxpy_raise(state, &error);
}

static PyObject *segments_measure(PyObject *module, PyObject *args)
{
    PyObject *array, *result;
    Py_ssize_t rows, length;
    Py_buffer view;
    int padding;
    if (!PyArg_ParseTuple(args, "Onnp", &array, &rows, &length, &padding) ||
        PyObject_GetBuffer(array, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    if (rows < 0 || length < 0 ||
        (length != 0 && (size_t)view.len / sizeof(int32_t) / (size_t)length < (size_t)rows)) {
        PyErr_SetString(PyExc_ValueError, "segments must contain at least rows * length numbers");
        result = NULL;
    } else {
        const uint64_t shape = (uint64_t)length;
        const lx_column segments = {.dtype = LX_INT32,
                                    .ndim = 1,
                                    .shape = &shape,
                                    .rows = (uint64_t)rows,
                                    .data = view.buf};
        result = measure(lxpy_state_get(module), &segments, padding != 0);
    }
    PyBuffer_Release(&view);
    return result;
}

static PyMethodDef functions[] = {
    {"segments_measure", segments_measure, METH_VARARGS,
     "segments_measure(segments, rows, length, padding)"},
    {"tokens_open", tokens_open, METH_VARARGS, "tokens_open(path, dtype, raw)"},
    {"tokens_from_field", tokens_from_field, METH_VARARGS,
     "tokens_from_field(dataset, field, dtype)"},
    {"tokens_concat", tokens_concat, METH_O, "tokens_concat(tokens)"},
    {NULL},
};

int lxpy_add_tokens(PyObject *module)
{
    if (lxpy_add_type(module, &tokens_spec, LXPY_TOKENS_TYPE) < 0)
        return -1;
    return PyModule_AddFunctions(module, functions);
}

lx_tokens *lxpy_tokens_get(lxpy_state *state, PyObject *object, const char *argument)
{
    if (Py_TYPE(object) == (PyTypeObject *)LXPY(state, TOKENS_TYPE))
        return ((tokens *)object)->handle;
    PyErr_Format(PyExc_TypeError, "%s must be tokens, not %.100s", argument,
                 Py_TYPE(object)->tp_name);
    return NULL;
}
