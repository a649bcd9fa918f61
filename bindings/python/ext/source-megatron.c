/* SPDX-License-Identifier: MIT */
/* The functions that make sources of Megatron's samples, and read their tables. */
#include "order-arguments.h"
#include "source.h"

#include <loaderx/parity/megatron.h>

/** What lx_source_new_megatron() takes beside the tokens, in the order of its members. */
static int take_megatron(PyObject *const *args, lx_megatron *how)
{
    static const char *const names[] = {"first", "count", "sequence_length", "num_samples",
                                        "random_seed", "vocabulary", "columns", NULL};
    bool wide;
    uint64_t numbers[7];
    if (lxpy_numbers(args, 7, names, numbers) < 0 ||
        lxpy_bool(args[7], "extra_token", &how->extra_token) < 0 ||
        lxpy_bool(args[8], "drop_last_partial", &how->drop_last_partial) < 0 ||
        lxpy_bool(args[9], "wide", &wide) < 0 ||
        lxpy_bool(args[10], "split_at_eod", &how->split_at_eod) < 0 ||
        lxpy_bool(args[11], "mask_eod", &how->mask_eod) < 0 ||
        lxpy_tables(args[12], &how->tables) < 0)
        return -1;
    how->first_document = numbers[0];
    how->document_count = numbers[1];
    how->sequence_length = numbers[2];
    how->num_samples = numbers[3];
    how->seed = numbers[4];
    how->vocabulary = numbers[5];
    how->columns = (unsigned)numbers[6];
    how->dtype = wide ? LX_INT64 : LX_INT32;
    how->pad = PyLong_AsLongLong(args[13]);
    how->eod = PyErr_Occurred() ? 0 : PyLong_AsLongLong(args[14]);
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *source_megatron(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    lx_megatron how = LX_MEGATRON_INIT;
    lx_status status;
    lx_error error = LX_ERROR_INIT;
    if (!lxpy_are(count, 16) || take_megatron(args + 1, &how) < 0)
        return NULL;
    lx_tokens *handle;
    lxpy_source *self = lxpy_source_alloc_of_tokens(module, args[0], &handle);
    if (self == NULL)
        return NULL;
    LXPY_WITHOUT_GIL(status = lx_source_new_megatron(handle, &how, &self->handle, &error));
    return lxpy_source_finish(self, status, &error);
}

/** Reads into an array of uint64; how many numbers the table has. */
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
     "source_megatron(tokens, ..): as loaderx.megatron calls it"},
    {"source_megatron_index", source_megatron_index, METH_VARARGS,
     "source_megatron_index(source, index, first, numbers)"},
    {NULL},
};

int lxpy_add_source_megatron(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
