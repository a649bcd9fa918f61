/* SPDX-License-Identifier: MIT */
/* Functions that create sources of tokens. */
#include "source.h"

lxpy_source *lxpy_source_alloc_of_tokens(PyObject *module, PyObject *tokens, lx_tokens **handle)
{
    *handle = lxpy_tokens_get(lxpy_state_get(module), tokens, "tokens");
    return *handle != NULL ? lxpy_source_alloc(module) : NULL;
}

/** Creates options with the dtype and the vocabulary. Returns NULL with an exception on failure. */
static lx_token_options *make_options(int wide, uint64_t vocabulary)
{
    lx_token_options *options = lx_token_options_new();
    if (options == NULL)
        return (void *)PyErr_NoMemory();
    lx_token_options_set_dtype(options, wide ? LX_INT64 : LX_INT32, NULL); /* these cannot fail */
    lx_token_options_set_vocabulary(options, vocabulary, NULL);
    return options;
}

static PyObject *source_tokens(PyObject *module, PyObject *args)
{
    PyObject *tokens, *sequence, *vocabulary_object;
    uint64_t length, vocabulary;
    int wide, overlap;
    lx_error error = LX_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOpOp", &tokens, &sequence, &wide, &vocabulary_object, &overlap) ||
        lxpy_uint64(sequence, "sequence_length", 1, UINT64_MAX - 1, &length) < 0 ||
        lxpy_uint64(vocabulary_object, "vocabulary", 0, UINT64_MAX, &vocabulary) < 0)
        return NULL;
    lx_tokens *handle;
    lx_token_options *options = make_options(wide, vocabulary);
    lxpy_source *self = options != NULL ? lxpy_source_alloc_of_tokens(module, tokens, &handle)
                                        : NULL;
    if (self == NULL) {
        lx_token_options_free(options);
        return NULL;
    }
    lx_status status =
        overlap ? lx_source_new_tokens(handle, length, options, &self->handle, &error)
                : lx_source_new_token_blocks(handle, length + 1, options, &self->handle, &error);
    lx_token_options_free(options);
    return lxpy_source_finish(self, status, &error);
}

/** The library function that creates a source of documents. */
typedef lx_status (*documents_maker)(lx_tokens *tokens, uint64_t size,
                                     const lx_token_options *options, lx_source **source,
                                     lx_error *error);

/** The library function that sets the padding or the separator. */
typedef lx_status (*number_setter)(lx_token_options *options, int64_t number, lx_error *error);

/** Creates a source of documents. @p argument is the name of the size argument. */
static PyObject *of_documents(PyObject *module, PyObject *args, const char *argument,
                              documents_maker make, number_setter set_number)
{
    PyObject *tokens, *number, *vocabulary_object;
    uint64_t size, vocabulary;
    long long written; /* the padding or the separator, which need not be a token */
    unsigned columns;
    int wide;
    lx_status status;
    lx_error error = LX_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOpOLI", &tokens, &number, &wide, &vocabulary_object, &written,
                          &columns) ||
        lxpy_uint64(number, argument, 1, UINT64_MAX, &size) < 0 ||
        lxpy_uint64(vocabulary_object, "vocabulary", 0, UINT64_MAX, &vocabulary) < 0)
        return NULL;
    lx_tokens *handle;
    lx_token_options *options = make_options(wide, vocabulary);
    lxpy_source *self = options != NULL ? lxpy_source_alloc_of_tokens(module, tokens, &handle)
                                        : NULL;
    if (self == NULL) {
        lx_token_options_free(options);
        return NULL;
    }
    set_number(options, written, NULL);
    lx_token_options_set_columns(options, columns, NULL);
    LXPY_WITHOUT_GIL(status = make(handle, size, options, &self->handle, &error));
    lx_token_options_free(options);
    return lxpy_source_finish(self, status, &error);
}

static PyObject *source_packed(PyObject *module, PyObject *args)
{
    return of_documents(module, args, "capacity", lx_source_new_packed_tokens,
                        lx_token_options_set_pad);
}

static PyObject *source_joined(PyObject *module, PyObject *args)
{
    return of_documents(module, args, "sequence_length", lx_source_new_joined_tokens,
                        lx_token_options_set_separator);
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
