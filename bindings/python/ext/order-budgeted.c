/* SPDX-License-Identifier: MIT */
/* Orders that are cut into batches by a budget. The function that takes a batch is in order.c. */
#include "objects.h"
#include "order-arguments.h"

#include <loaderx/batching.h>

static PyObject *budgeted(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"budget", "rows", NULL};
    uint64_t values[2];
    lx_order *part, *handle = NULL;
    lx_error error = LX_ERROR_INIT;
    lxpy_array64 costs;
    if (!lxpy_check_count(count, 5) ||
        (part = lxpy_order_get(lxpy_state_get(module), args[0], "order")) == NULL ||
        lxpy_numbers(args + 2, 2, names, values) < 0)
        return NULL;
    int padded = PyObject_IsTrue(args[4]);
    if (padded < 0 || lxpy_uint64_array_get(args[1], "costs", &costs) < 0)
        return NULL;
    lx_order_options *options = lx_order_options_new();
    if (options != NULL) {
        lx_order_options_set_max_batch_size(options, values[1], &error);
        lx_order_options_set_padded(options, padded == 1, &error);
        LXPY_WITHOUT_GIL(lx_order_new_budgeted(part, costs.view.buf, costs.count, values[0],
                                               options, &handle, &error));
    }
    lx_order_options_free(options);
    PyBuffer_Release(&costs.view);
    if (options == NULL)
        return PyErr_NoMemory();
    return lxpy_order_wrap(lxpy_state_get(module), handle, &error);
}

static PyObject *count_batches(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"epoch", NULL};
    lxpy_state *state = lxpy_state_get(module);
    uint64_t epoch, batches;
    lx_status status;
    lx_order *order;
    lx_error error = LX_ERROR_INIT;
    if (!lxpy_check_count(count, 2) || (order = lxpy_order_get(state, args[0], "order")) == NULL ||
        lxpy_numbers(args + 1, 1, names, &epoch) < 0)
        return NULL;
    LXPY_WITHOUT_GIL(status = lx_order_get_batch_count(order, epoch, &batches, &error));
    return status == LX_OK ? PyLong_FromUnsignedLongLong(batches) : lxpy_raise(state, &error);
}

/** Returns the number, the start and the end of the batch at a position, or None past the end. */
static PyObject *find_batch(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"position", NULL};
    lxpy_state *state = lxpy_state_get(module);
    uint64_t position, number, begin, end;
    lx_status status;
    lx_order *order;
    lx_error error = LX_ERROR_INIT;
    if (!lxpy_check_count(count, 2) || (order = lxpy_order_get(state, args[0], "order")) == NULL ||
        lxpy_numbers(args + 1, 1, names, &position) < 0)
        return NULL;
    LXPY_WITHOUT_GIL(status = lx_order_find_batch(order, position, &number, &begin, &end, &error));
    if (status == LX_END)
        Py_RETURN_NONE;
    return status == LX_OK ? Py_BuildValue("(KKK)", (unsigned long long)number,
                                           (unsigned long long)begin, (unsigned long long)end)
                           : lxpy_raise(state, &error);
}

static PyMethodDef functions[] = {
    {"budgeted", (PyCFunction)budgeted, METH_FASTCALL,
     "budgeted(order, costs, budget, rows, padded)"},
    {"count_batches", (PyCFunction)count_batches, METH_FASTCALL, "count_batches(order, epoch)"},
    {"find_batch", (PyCFunction)find_batch, METH_FASTCALL, "find_batch(order, position)"},
    {NULL},
};

int lxpy_add_budgeted(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
