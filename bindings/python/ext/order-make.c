/* SPDX-License-Identifier: MIT */
/* Functions that create Orders, one function for each kind. Typed Python code has checked the
 * arguments. */
#include "objects.h"
#include "order-arguments.h"

#include <stdlib.h>

/** Wraps the library's order, and takes the reference to it. */
static PyObject *wrap(PyObject *module, lx_order *handle, const lx_error *error)
{
    return lxpy_order_wrap(lxpy_state_get(module), handle, error);
}

/** Wraps an order that computes the index at any position quickly. */
static PyObject *wrap_quick(PyObject *module, lx_order *handle, const lx_error *error)
{
    PyObject *self = wrap(module, handle, error);
    if (self != NULL)
        lxpy_order_set_quick(self);
    return self;
}

static PyObject *sequential(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"n", "window", "stride", NULL};
    uint64_t values[3];
    lx_order *handle = NULL;
    lx_error error = LX_ERROR_INIT;
    if (lxpy_numbers(args, count, names, values) < 0)
        return NULL;
    lx_order_new_sequential(values[0], values[1], values[2], &handle, &error);
    return wrap_quick(module, handle, &error);
}

static const char *const seeded[] = {"n", "seed", NULL};

static PyObject *draw(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    uint64_t values[2];
    lx_order *handle = NULL;
    lx_error error = LX_ERROR_INIT;
    if (lxpy_numbers(args, count, seeded, values) < 0)
        return NULL;
    lx_order_new_random(values[0], values[1], &handle, &error);
    return wrap_quick(module, handle, &error);
}

static PyObject *shuffle(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    uint64_t values[2];
    lx_order *handle = NULL;
    lx_error error = LX_ERROR_INIT;
    if (lxpy_numbers(args, count, seeded, values) < 0)
        return NULL;
    lx_order_new_shuffle(values[0], values[1], &handle, &error);
    return wrap_quick(module, handle, &error);
}

static PyObject *blocks(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"n", "block", "seed", NULL};
    uint64_t values[3];
    lx_order *handle = NULL;
    lx_error error = LX_ERROR_INIT;
    if (lxpy_numbers(args, count, names, values) < 0)
        return NULL;
    lx_order_new_blocks(values[0], values[1], values[2], &handle, &error);
    return wrap_quick(module, handle, &error);
}

static PyObject *lanes(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"n", "lanes", "block", "seed", NULL};
    uint64_t values[4];
    lx_order *handle = NULL;
    lx_error error = LX_ERROR_INIT;
    if (lxpy_numbers(args, count, names, values) < 0)
        return NULL;
    lx_order_new_lanes(values[0], values[1], values[2], values[3], &handle, &error);
    return wrap_quick(module, handle, &error);
}

/* ---- orders made of other orders, to which the library keeps references */

static PyObject *slice(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"first", "length", NULL};
    uint64_t values[2];
    lx_order *part, *handle = NULL;
    lx_error error = LX_ERROR_INIT;
    if (!lxpy_check_count(count, 3) ||
        (part = lxpy_order_get(lxpy_state_get(module), args[0], "order")) == NULL ||
        lxpy_numbers(args + 1, 2, names, values) < 0)
        return NULL;
    lx_order_new_slice(part, values[0], values[1], &handle, &error);
    return wrap(module, handle, &error);
}

/** Creates an order from another order and a number, whose name is @p name. */
static PyObject *make_of_part(PyObject *module, PyObject *const *args, Py_ssize_t count,
                              const char *name,
                              lx_status (*new_order)(lx_order *part, uint64_t number,
                                                     lx_order **order, lx_error *error))
{
    const char *const names[] = {name, NULL};
    uint64_t number;
    lx_order *part, *handle = NULL;
    lx_error error = LX_ERROR_INIT;
    if (!lxpy_check_count(count, 2) ||
        (part = lxpy_order_get(lxpy_state_get(module), args[0], "order")) == NULL ||
        lxpy_numbers(args + 1, 1, names, &number) < 0)
        return NULL;
    new_order(part, number, &handle, &error);
    return wrap(module, handle, &error);
}

static PyObject *repeat(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    return make_of_part(module, args, count, "times", lx_order_new_repeat);
}

static PyObject *padded(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    return make_of_part(module, args, count, "multiple", lx_order_new_padded);
}

/** Fills the lists for lx_order_new_concat(). The tuple owns the orders. */
static int take_parts(lxpy_state *state, PyObject *orders, PyObject *offsets, lx_order **parts,
                      uint64_t *added)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(orders); i++) {
        parts[i] = lxpy_order_get(state, PyTuple_GET_ITEM(orders, i), "orders");
        if (parts[i] == NULL)
            return -1;
        if (offsets != Py_None &&
            lxpy_uint64(PyTuple_GET_ITEM(offsets, i), "offsets", 0, UINT64_MAX, &added[i]) < 0)
            return -1;
    }
    return 0;
}

static PyObject *concat(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    lx_order *handle = NULL;
    lx_error error = LX_ERROR_INIT;
    if (!lxpy_check_count(count, 2))
        return NULL;
    PyObject *orders = args[0], *offsets = args[1];
    if (!PyTuple_Check(orders) || (offsets != Py_None && !PyTuple_Check(offsets)) ||
        (offsets != Py_None && PyTuple_GET_SIZE(offsets) != PyTuple_GET_SIZE(orders))) {
        PyErr_SetString(PyExc_TypeError, "orders and offsets must be tuples of equal length");
        return NULL;
    }
    size_t many = (size_t)PyTuple_GET_SIZE(orders);
    lx_order **parts = calloc(many + 1, sizeof *parts);
    uint64_t *added = calloc(many + 1, sizeof *added);
    int taken = -1;
    if (parts == NULL || added == NULL)
        PyErr_NoMemory();
    else
        taken = take_parts(lxpy_state_get(module), orders, offsets, parts, added);
    if (taken == 0)
        lx_order_new_concat(parts, offsets != Py_None ? added : NULL, many, &handle, &error);
    free(parts);
    free(added);
    return taken == 0 ? wrap(module, handle, &error) : NULL;
}

static PyObject *subset(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    lx_order *part, *handle = NULL;
    lx_error error = LX_ERROR_INIT;
    lxpy_array64 indices;
    if (!lxpy_check_count(count, 3) ||
        (part = lxpy_order_get(lxpy_state_get(module), args[0], "order")) == NULL ||
        lxpy_uint64_array_get(args[1], "indices", &indices) < 0)
        return NULL;
    lx_order_options *options = lxpy_order_tables(args[2]);
    if (options != NULL)
        LXPY_WITHOUT_GIL(
            lx_order_new_subset(part, indices.view.buf, indices.count, options, &handle, &error));
    lx_order_options_free(options);
    PyBuffer_Release(&indices.view);
    if (options == NULL)
        return NULL;
    return wrap(module, handle, &error);
}

static PyMethodDef functions[] = {
    {"sequential", (PyCFunction)sequential, METH_FASTCALL, "sequential(n, window, stride)"},
    {"random", (PyCFunction)draw, METH_FASTCALL, "random(n, seed)"},
    {"shuffle", (PyCFunction)shuffle, METH_FASTCALL, "shuffle(n, seed)"},
    {"blocks", (PyCFunction)blocks, METH_FASTCALL, "blocks(n, block, seed)"},
    {"lanes", (PyCFunction)lanes, METH_FASTCALL, "lanes(n, lanes, block, seed)"},
    {"slice", (PyCFunction)slice, METH_FASTCALL, "slice(order, first, length)"},
    {"repeat", (PyCFunction)repeat, METH_FASTCALL, "repeat(order, times)"},
    {"padded", (PyCFunction)padded, METH_FASTCALL, "padded(order, multiple)"},
    {"concat", (PyCFunction)concat, METH_FASTCALL, "concat(orders, offsets)"},
    {"subset", (PyCFunction)subset, METH_FASTCALL, "subset(order, indices, tables)"},
    {NULL},
};

int lxpy_add_order_makers(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
