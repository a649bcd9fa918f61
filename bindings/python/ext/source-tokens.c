/* SPDX-License-Identifier: MIT */
/* Sources of tokens. */
#include "source.h"

lxpy_source *lxpy_source_alloc_of_tokens(PyObject *module, PyObject *tokens, lx_tokens **handle)
{
    *handle = lxpy_tokens_get(lxpy_state_get(module), tokens, "tokens");
    return *handle != NULL ? lxpy_source_alloc(module) : NULL;
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
    lx_tokens *handle;
    lxpy_source *self = lxpy_source_alloc_of_tokens(module, given, &handle);
    if (self == NULL)
        return NULL;
    lx_dtype dtype = wide ? LX_INT64 : LX_INT32;
    lx_status status = overlap ? lx_source_new_tokens(handle, length, dtype, vocabulary,
                                                      &self->handle, &error)
                               : lx_source_new_token_blocks(handle, length + 1, dtype, vocabulary,
                                                            &self->handle, &error);
    return lxpy_source_finish(self, status, &error);
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
    lx_tokens *handle;
    lxpy_source *self = lxpy_source_alloc_of_tokens(module, given, &handle);
    if (self == NULL)
        return NULL;
    LXPY_WITHOUT_GIL(status = make(handle, size, wide ? LX_INT64 : LX_INT32, vocabulary, written,
                                   columns, &self->handle, &error));
    return lxpy_source_finish(self, status, &error);
}

static PyObject *source_packed(PyObject *module, PyObject *args)
{
    return of_documents(module, args, "capacity", lx_source_new_packed_tokens);
}

static PyObject *source_joined(PyObject *module, PyObject *args)
{
    return of_documents(module, args, "sequence_length", lx_source_new_joined_tokens);
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

static PyMethodDef functions[] = {
    {"source_tokens", source_tokens, METH_VARARGS,
     "source_tokens(tokens, sequence_length, wide, vocabulary, overlap)"},
    {"source_packed", source_packed, METH_VARARGS,
     "source_packed(tokens, capacity, wide, vocabulary, pad, columns)"},
    {"source_joined", source_joined, METH_VARARGS,
     "source_joined(tokens, sequence_length, wide, vocabulary, separator, columns)"},
    {"source_padding", source_padding, METH_O, "source_padding(source)"},
    {NULL},
};

int lxpy_add_source_tokens(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
