/* SPDX-License-Identifier: MIT */
/* Functions that create orders based on a property of each index, and that split indices. */
#include "objects.h"
#include "order-arguments.h"

#include <stdlib.h>

#include <loaderx/batching.h>
#include <loaderx/split.h>
#include <loaderx/weighted.h>

static PyObject *balanced(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"n", "seed", NULL};
    lxpy_array64 classes;
    uint64_t values[2];
    lx_order_options *options;
    lx_order *handle = NULL;
    lx_error error = LX_ERROR_INIT;
    if (!lxpy_check_count(count, 4) || lxpy_numbers(args + 1, 2, names, values) < 0 ||
        lxpy_uint64_array_get(args[0], "classes", &classes) < 0)
        return NULL;
    if ((options = lxpy_order_options(values[0], values[1], args[3])) != NULL)
        LXPY_WITHOUT_GIL(
            lx_order_new_balanced(classes.view.buf, classes.count, options, &handle, &error));
    lx_order_options_free(options);
    PyBuffer_Release(&classes.view);
    if (options == NULL)
        return NULL;
    return lxpy_order_wrap(lxpy_state_get(module), handle, &error);
}

static PyObject *bucketed(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"batch", "bucket", "seed", NULL};
    lxpy_array64 lengths;
    uint64_t values[3];
    lx_order_options *options;
    lx_order *handle = NULL;
    lx_error error = LX_ERROR_INIT;
    if (!lxpy_check_count(count, 5) || lxpy_numbers(args + 1, 3, names, values) < 0 ||
        lxpy_uint64_array_get(args[0], "lengths", &lengths) < 0)
        return NULL;
    if ((options = lxpy_order_options(LX_NONE, values[2], args[4])) != NULL) {
        lx_order_options_set_bucket_size(options, values[1], &error);
        LXPY_WITHOUT_GIL(lx_order_new_bucketed(lengths.view.buf, lengths.count, values[0], options,
                                               &handle, &error));
    }
    lx_order_options_free(options);
    PyBuffer_Release(&lengths.view);
    if (options == NULL)
        return NULL;
    return lxpy_order_wrap(lxpy_state_get(module), handle, &error);
}

/** Returns an array of the indices whose hashes are in the range. @p keys can be NULL. */
static PyObject *find(lxpy_state *state, const uint64_t *keys, uint64_t count, uint64_t seed,
                      double from, double until)
{
    uint64_t found = 0, *smaller,
             *indices = count < SIZE_MAX / sizeof *indices
                            ? malloc(((size_t)count + 1) * sizeof *indices)
                            : NULL;
    lx_error error = LX_ERROR_INIT;
    lx_status status;
    if (indices == NULL) {
        PyErr_Format(PyExc_MemoryError, "not enough memory for %llu indices",
                     (unsigned long long)count);
        return NULL;
    }
    lx_split_options *options = lx_split_options_new();
    if (options == NULL) {
        free(indices);
        return PyErr_NoMemory();
    }
    lx_split_options_set_seed(options, seed, &error);
    status = lx_split_options_set_range(options, from, until, &error);
    if (status == LX_OK)
        LXPY_WITHOUT_GIL(status = lx_split_indices(keys, count, options, indices, &found, &error));
    lx_split_options_free(options);
    if (status != LX_OK) {
        free(indices);
        return lxpy_raise(state, &error);
    }
    smaller = realloc(indices, ((size_t)found + 1) * sizeof *indices);
    return lxpy_order_numbers(state, smaller != NULL ? smaller : indices, found);
}

static PyObject *split(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"n", "seed", NULL};
    lxpy_state *state = lxpy_state_get(module);
    lxpy_array64 keys = {.count = 0};
    uint64_t values[2];
    if (!lxpy_check_count(count, 5) || lxpy_numbers(args + 1, 2, names, values) < 0)
        return NULL;
    double from = PyFloat_AsDouble(args[3]), until = PyFloat_AsDouble(args[4]);
    if (PyErr_Occurred() != NULL)
        return NULL;
    if (args[0] == Py_None)
        return find(state, NULL, values[0], values[1], from, until);
    if (lxpy_uint64_array_get(args[0], "keys", &keys) < 0)
        return NULL;
    PyObject *found = find(state, keys.view.buf, keys.count, values[1], from, until);
    PyBuffer_Release(&keys.view);
    return found;
}

static PyMethodDef functions[] = {
    {"balanced", (PyCFunction)balanced, METH_FASTCALL, "balanced(classes, n, seed, tables)"},
    {"bucketed", (PyCFunction)bucketed, METH_FASTCALL,
     "bucketed(lengths, batch, bucket, seed, tables)"},
    {"split", (PyCFunction)split, METH_FASTCALL, "split(keys, n, seed, from, until)"},
    {NULL},
};

int lxpy_add_grouped(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
