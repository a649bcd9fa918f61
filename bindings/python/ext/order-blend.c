/* SPDX-License-Identifier: MIT */
/* Functions that create mixture orders, and count the positions of their parts. */
#include "objects.h"
#include "order-arguments.h"

#include <stdlib.h>

#include <loaderx/mixture.h>
#include <loaderx/parity/megatron.h>

/** Reads the weights from a tuple of floats. Returns -1 with an exception on failure. */
static int take_weights(PyObject *tuple, Py_ssize_t count, double *weights)
{
    if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) != count) {
        PyErr_SetString(PyExc_TypeError, "weights must be a tuple with one float per order");
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        weights[i] = PyFloat_AsDouble(PyTuple_GET_ITEM(tuple, i));
        if (weights[i] == -1.0 && PyErr_Occurred() != NULL)
            return -1;
    }
    return 0;
}

/** Raises the library's error, if @p status is an error. */
static int check(lxpy_state *state, lx_status status, const lx_error *error)
{
    if (status == LX_OK)
        return 0;
    lxpy_raise(state, error);
    return -1;
}

/** Adds the parts, with the weights of the first schedule entry. */
static int add_sets(lxpy_state *state, lx_mixture *mixture, PyObject *orders, PyObject *offsets,
                    const double *weights)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(orders); i++) {
        lx_error error = LX_ERROR_INIT;
        uint64_t offset = 0;
        lx_order *order = lxpy_order_get(state, PyTuple_GET_ITEM(orders, i), "parts");
        if (order == NULL ||
            (offsets != Py_None &&
             lxpy_uint64(PyTuple_GET_ITEM(offsets, i), "offsets", 0, UINT64_MAX, &offset) < 0) ||
            check(state, lx_mixture_add_part(mixture, order, offset, weights[i], &error), &error) <
                0)
            return -1;
    }
    return 0;
}

/** Adds one schedule entry, (offset, weights). Offsets must ascend from call to call. */
static int add_weighting(lxpy_state *state, lx_mixture *mixture, PyObject *weighting,
                         double *weights, Py_ssize_t count)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t begin;
    if (!PyTuple_Check(weighting) || PyTuple_GET_SIZE(weighting) != 2) {
        PyErr_SetString(PyExc_TypeError, "schedule must be a tuple of pairs");
        return -1;
    }
    if (lxpy_uint64(PyTuple_GET_ITEM(weighting, 0), "schedule", 1, UINT64_MAX, &begin) < 0 ||
        take_weights(PyTuple_GET_ITEM(weighting, 1), count, weights) < 0)
        return -1;
    return check(state, lx_mixture_add_phase(mixture, begin, weights, (size_t)count, &error),
                 &error);
}

/** The arguments of blend(), in order. */
enum { ORDERS, OFFSETS, WEIGHTS, SCHEDULE, LENGTH, EXHAUSTED, GREEDY, TABLES, ARGUMENTS };

static int fill(lxpy_state *state, lx_mixture *mixture, PyObject *const *args, double *weights)
{
    static const char *const choices[] = {"repeat", "stop", "redistribute", NULL};
    PyObject *orders = args[ORDERS], *schedule = args[SCHEDULE];
    Py_ssize_t count = PyTuple_GET_SIZE(orders);
    lx_error error = LX_ERROR_INIT;
    uint64_t length;
    int exhausted;
    if (take_weights(args[WEIGHTS], count, weights) < 0 ||
        add_sets(state, mixture, orders, args[OFFSETS], weights) < 0)
        return -1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(schedule); i++)
        if (add_weighting(state, mixture, PyTuple_GET_ITEM(schedule, i), weights, count) < 0)
            return -1;
    if (lxpy_uint64(args[LENGTH], "n", 0, UINT64_MAX, &length) < 0 ||
        lxpy_choice(args[EXHAUSTED], "exhausted", choices, &exhausted) < 0 ||
        check(state, lx_mixture_set_length(mixture, length, &error), &error) < 0)
        return -1;
    return check(state,
                 lx_mixture_set_exhausted_policy(mixture, (lx_exhausted_policy)exhausted, &error),
                 &error);
}

static PyObject *blend(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    lxpy_state *state = lxpy_state_get(module);
    lx_order *handle = NULL;
    lx_error error = LX_ERROR_INIT;
    if (count != ARGUMENTS || !PyTuple_Check(args[ORDERS]) || !PyTuple_Check(args[SCHEDULE]) ||
        (args[OFFSETS] != Py_None &&
         (!PyTuple_Check(args[OFFSETS]) ||
          PyTuple_GET_SIZE(args[OFFSETS]) != PyTuple_GET_SIZE(args[ORDERS])))) {
        PyErr_SetString(PyExc_TypeError, "orders and offsets must be tuples of equal length");
        return NULL;
    }
    lx_mixture *mixture = lx_mixture_new();
    double *weights = calloc((size_t)PyTuple_GET_SIZE(args[ORDERS]) + 1, sizeof *weights);
    int filled = -1;
    bool greedy = false;
    lx_order_options *options = NULL;
    if (mixture == NULL || weights == NULL)
        PyErr_NoMemory();
    else
        filled = fill(state, mixture, args, weights);
    free(weights);
    if (filled == 0)
        filled = lxpy_bool(args[GREEDY], "greedy", &greedy);
    if (filled == 0)
        filled = (options = lxpy_order_tables(args[TABLES])) != NULL ? 0 : -1;
    if (filled == 0 && greedy)
        LXPY_WITHOUT_GIL(lx_order_new_greedy(mixture, options, &handle, &error));
    else if (filled == 0)
        LXPY_WITHOUT_GIL(lx_order_new_blend(mixture, &handle, &error));
    lx_order_options_free(options);
    lx_mixture_free(mixture);
    return filled == 0 ? lxpy_order_wrap(state, handle, &error) : NULL;
}

static PyObject *count_sets(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    lxpy_state *state = lxpy_state_get(module);
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    uint64_t first, end;
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "count_sets() takes the arguments order, first and end");
        return NULL;
    }
    if ((order = lxpy_order_get(state, args[0], "order")) == NULL ||
        lxpy_uint64(args[1], "first", 0, UINT64_MAX, &first) < 0 ||
        lxpy_uint64(args[2], "end", 0, UINT64_MAX, &end) < 0)
        return NULL;
    size_t sets = lx_order_get_part_count(order);
    uint64_t *counts = calloc(sets + 1, sizeof *counts);
    if (counts == NULL)
        return PyErr_NoMemory();
    if (lx_order_get_part_lengths(order, first, end, counts, &error) != LX_OK) {
        free(counts);
        return lxpy_raise(state, &error);
    }
    return lxpy_order_numbers(state, counts, sets);
}

static PyMethodDef functions[] = {
    {"blend", (PyCFunction)blend, METH_FASTCALL,
     "blend(orders, offsets, weights, schedule, n, exhausted, greedy, tables)"},
    {"count_sets", (PyCFunction)count_sets, METH_FASTCALL, "count_sets(order, first, end)"},
    {NULL},
};

int lxpy_add_blend(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
