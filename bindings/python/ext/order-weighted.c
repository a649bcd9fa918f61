/* SPDX-License-Identifier: MIT */
/* Functions that create orders based on weights. */
#include "objects.h"
#include "order-arguments.h"

#include <loaderx/weighted.h>

typedef lx_status (*maker)(const double *weights, uint64_t count, const lx_order_options *options,
                           lx_order **order, lx_error *error);

static PyObject *make(PyObject *module, PyObject *const *args, Py_ssize_t count, maker new_order)
{
    static const char *const names[] = {"n", "seed", NULL};
    lxpy_array64 weights;
    uint64_t values[2];
    lx_order_options *options;
    lx_order *handle = NULL;
    lx_error error = LX_ERROR_INIT;
    if (!lxpy_check_count(count, 4) || lxpy_numbers(args + 1, 2, names, values) < 0 ||
        lxpy_float64_array_get(args[0], "weights", &weights) < 0)
        return NULL;
    if ((options = lxpy_order_options(values[0], values[1], args[3])) != NULL)
        LXPY_WITHOUT_GIL(new_order(weights.view.buf, weights.count, options, &handle, &error));
    lx_order_options_free(options);
    PyBuffer_Release(&weights.view);
    if (options == NULL)
        return NULL;
    return lxpy_order_wrap(lxpy_state_get(module), handle, &error);
}

static PyObject *weighted(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    return make(module, args, count, lx_order_new_weighted);
}

static PyObject *weighted_shuffle(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    return make(module, args, count, lx_order_new_weighted_shuffle);
}

static PyMethodDef functions[] = {
    {"weighted", (PyCFunction)weighted, METH_FASTCALL, "weighted(weights, n, seed, tables)"},
    {"weighted_shuffle", (PyCFunction)weighted_shuffle, METH_FASTCALL,
     "weighted_shuffle(weights, n, seed, tables)"},
    {NULL},
};

int lxpy_add_weighted(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
