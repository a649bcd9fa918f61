/* SPDX-License-Identifier: MIT */
/* Functions for creating orders that reproduce those of other libraries. */
#include "objects.h"
#include "order-arguments.h"

#include <loaderx/parity/nanoset.h>
#include <loaderx/parity/torch.h>

static PyObject *torch_random(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"n", "num_samples", "seed", NULL};
    uint64_t values[3];
    bool replacement;
    lx_order *handle = NULL;
    lx_error error = LX_ERROR_INIT;
    if (!lxpy_check_count(count, 5) || lxpy_numbers(args, 3, names, values) < 0 ||
        lxpy_bool(args[3], "replacement", &replacement) < 0)
        return NULL;
    lx_order_options *options = lxpy_order_options(values[1], values[2], args[4]);
    if (options == NULL)
        return NULL;
    LXPY_WITHOUT_GIL(lx_order_new_torch_random(values[0], replacement, options, &handle, &error));
    lx_order_options_free(options);
    return lxpy_order_wrap(lxpy_state_get(module), handle, &error);
}

static PyObject *torch_subset(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"seed", NULL};
    lxpy_array64 indices;
    uint64_t seed;
    lx_order *handle = NULL;
    lx_error error = LX_ERROR_INIT;
    if (!lxpy_check_count(count, 3) || lxpy_numbers(args + 1, 1, names, &seed) < 0 ||
        lxpy_uint64_array_get(args[0], "indices", &indices) < 0)
        return NULL;
    lx_order_options *options = lxpy_order_options(LX_NONE, seed, args[2]);
    if (options != NULL)
        LXPY_WITHOUT_GIL(
            lx_order_new_torch_subset(indices.view.buf, indices.count, options, &handle, &error));
    lx_order_options_free(options);
    PyBuffer_Release(&indices.view);
    if (options == NULL)
        return NULL;
    return lxpy_order_wrap(lxpy_state_get(module), handle, &error);
}

static PyObject *torch_distributed(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"n", "world", "seed", NULL};
    uint64_t values[3];
    bool shuffle, drop_last;
    lx_order *handle = NULL;
    lx_error error = LX_ERROR_INIT;
    if (!lxpy_check_count(count, 6) || lxpy_numbers(args, 3, names, values) < 0 ||
        lxpy_bool(args[3], "shuffle", &shuffle) < 0 ||
        lxpy_bool(args[4], "drop_last", &drop_last) < 0)
        return NULL;
    lx_order_options *options = lxpy_order_options(LX_NONE, values[2], args[5]);
    if (options == NULL)
        return NULL;
    unsigned flags = (shuffle ? LX_TORCH_SHUFFLE : 0) | (drop_last ? LX_TORCH_DROP_LAST : 0);
    LXPY_WITHOUT_GIL(
        lx_order_new_torch_distributed(values[0], values[1], flags, options, &handle, &error));
    lx_order_options_free(options);
    return lxpy_order_wrap(lxpy_state_get(module), handle, &error);
}

/** Gets the weights from @p object, an array with one element per set, or None. */
static int take_weights(PyObject *object, uint64_t sets, lxpy_array64 *weights)
{
    if (object == Py_None)
        return 0;
    if (lxpy_float64_array_get(object, "weights", weights) < 0)
        return -1;
    if (weights->count == sets)
        return 0;
    PyBuffer_Release(&weights->view);
    PyErr_SetString(PyExc_ValueError, "weights and lengths must have the same number of elements");
    return -1;
}

static PyObject *nanoset(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"seed", NULL};
    lxpy_array64 lengths, weights = {.count = 0};
    uint64_t seed;
    bool divide;
    lx_order *handle = NULL;
    lx_error error = LX_ERROR_INIT;
    if (!lxpy_check_count(count, 5) || lxpy_numbers(args + 2, 1, names, &seed) < 0 ||
        lxpy_bool(args[3], "divide", &divide) < 0 ||
        lxpy_uint64_array_get(args[0], "lengths", &lengths) < 0)
        return NULL;
    if (take_weights(args[1], lengths.count, &weights) < 0) {
        PyBuffer_Release(&lengths.view);
        return NULL;
    }
    lx_order_options *options = lxpy_order_options(LX_NONE, seed, args[4]);
    if (options != NULL)
        LXPY_WITHOUT_GIL(lx_order_new_nanoset(lengths.view.buf, weights.view.buf,
                                              (size_t)lengths.count, divide, options, &handle,
                                              &error));
    lx_order_options_free(options);
    if (args[1] != Py_None)
        PyBuffer_Release(&weights.view);
    PyBuffer_Release(&lengths.view);
    if (options == NULL)
        return NULL;
    return lxpy_order_wrap(lxpy_state_get(module), handle, &error);
}

static PyMethodDef functions[] = {
    {"torch_random", (PyCFunction)torch_random, METH_FASTCALL,
     "torch_random(n, num_samples, seed, replacement, tables)"},
    {"torch_subset", (PyCFunction)torch_subset, METH_FASTCALL,
     "torch_subset(indices, seed, tables)"},
    {"torch_distributed", (PyCFunction)torch_distributed, METH_FASTCALL,
     "torch_distributed(n, world, seed, shuffle, drop_last, tables)"},
    {"nanoset", (PyCFunction)nanoset, METH_FASTCALL,
     "nanoset(lengths, weights, seed, divide, tables)"},
    {NULL},
};

int lxpy_add_parity_orders(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
