/* SPDX-License-Identifier: MIT */
/* Functions that create sources of Megatron samples and read their tables. */
#include "order-arguments.h"
#include "source.h"

#include <loaderx/parity/megatron.h>

static lx_status set_wide(lx_megatron_options *options, bool wide, lx_error *error)
{
    return lx_megatron_options_set_dtype(options, wide ? LX_INT64 : LX_INT32, error);
}

/** Parses the arguments that follow the tokens. The setters of numbers cannot fail. */
static int take_megatron(PyObject *const *args, lx_megatron_options *options)
{
    static const char *const names[] = {"first",       "count",       "sequence_length",
                                        "num_samples", "random_seed", "vocabulary",
                                        "columns",     NULL};
    static const struct {
        const char *name;
        lx_status (*set)(lx_megatron_options *options, bool value, lx_error *error);
    } flags[] = {{"extra_token", lx_megatron_options_set_extra_token},
                 {"drop_last_partial", lx_megatron_options_set_drop_last_partial},
                 {"wide", set_wide},
                 {"split_at_eod", lx_megatron_options_set_split_at_eod},
                 {"mask_eod", lx_megatron_options_set_mask_eod}};
    const char *tables;
    uint64_t numbers[7];
    if (lxpy_numbers(args, 7, names, numbers) < 0)
        return -1;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        bool value;
        if (lxpy_bool(args[7 + i], flags[i].name, &value) < 0)
            return -1;
        flags[i].set(options, value, NULL);
    }
    long long pad = PyLong_AsLongLong(args[13]);
    long long eod = PyErr_Occurred() ? 0 : PyLong_AsLongLong(args[14]);
    if (PyErr_Occurred() || lxpy_tables(args[12], &tables) < 0)
        return -1;
    lx_megatron_options_set_documents(options, numbers[0], numbers[1], NULL);
    lx_megatron_options_set_sequence_length(options, numbers[2], NULL);
    lx_megatron_options_set_num_samples(options, numbers[3], NULL);
    lx_megatron_options_set_seed(options, numbers[4], NULL);
    lx_megatron_options_set_vocabulary(options, numbers[5], NULL);
    lx_megatron_options_set_columns(options, (unsigned)numbers[6], NULL);
    lx_megatron_options_set_pad(options, pad, NULL);
    lx_megatron_options_set_eod(options, eod, NULL);
    if (lx_megatron_options_set_tables(options, tables, NULL) == LX_OK)
        return 0;
    PyErr_NoMemory();
    return -1;
}

static PyObject *source_megatron(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    lx_status status;
    lx_tokens *handle;
    lxpy_source *self = NULL;
    lx_error error = LX_ERROR_INIT;
    if (!lxpy_check_count(count, 16))
        return NULL;
    lx_megatron_options *options = lx_megatron_options_new();
    if (options == NULL)
        return PyErr_NoMemory();
    if (take_megatron(args + 1, options) == 0)
        self = lxpy_source_alloc_of_tokens(module, args[0], &handle);
    if (self != NULL)
        LXPY_WITHOUT_GIL(status = lx_source_new_megatron(handle, options, &self->handle, &error));
    lx_megatron_options_free(options);
    if (self == NULL)
        return NULL;
    return lxpy_source_finish(self, status, &error);
}

/** Reads a part of a table into an array of uint64, and returns the length of the whole table. */
static PyObject *source_megatron_index(PyObject *module, PyObject *args)
{
    PyObject *object, *array;
    unsigned index;
    unsigned long long first;
    uint64_t length;
    Py_buffer view;
    lx_status status;
    lx_error error = LX_ERROR_INIT;
    lxpy_state *state = lxpy_state_get(module);
    if (!PyArg_ParseTuple(args, "OIKO", &object, &index, &first, &array))
        return NULL;
    lx_source *handle = lxpy_source_get(state, object, "source");
    if (handle == NULL || PyObject_GetBuffer(array, &view, PyBUF_WRITABLE) < 0)
        return NULL;
    LXPY_WITHOUT_GIL(status = lx_source_read_megatron_index(handle, (lx_megatron_index)index, first,
                                                            (uint64_t)view.len / 8, view.buf,
                                                            &length, &error));
    PyBuffer_Release(&view);
    return status == LX_OK ? PyLong_FromUnsignedLongLong(length) : lxpy_raise(state, &error);
}

static PyMethodDef functions[] = {
    {"source_megatron", (PyCFunction)(void (*)(void))source_megatron, METH_FASTCALL,
     "source_megatron(tokens, ..): called by loaderx.megatron"},
    {"source_megatron_index", source_megatron_index, METH_VARARGS,
     "source_megatron_index(source, index, first, numbers)"},
    {NULL},
};

int lxpy_add_source_megatron(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
