/* SPDX-License-Identifier: MIT */
/* The common cases of torch's default_collate: arrays and numbers, including those in dicts, tuples
 * and lists. Torch collates everything else. */
#include "stack.h"

/** The callbacks of a collation. */
typedef struct collation {
    lxpy_state *state;
    PyObject *wrap;     /**< Converts an array to a tensor. */
    PyObject *fallback; /**< Lets torch collate a batch. */
} collation;

/** A batch of items, and the object to pass to torch if this file cannot collate it. */
typedef struct batch {
    PyObject *items;    /**< Our own tuple of at least one item. */
    PyObject *original; /**< The caller's batch; NULL for a column of an outer batch. */
    bool from_dicts;    /**< The column comes from dicts: torch receives it as a list. */
} batch;

static PyObject *collate(const collation *self, const batch *input);

static PyObject *fallback(const collation *self, const batch *input)
{
    PyObject *list = input->from_dicts ? PySequence_List(input->items) : Py_NewRef(input->items);
    PyObject *original = input->original != NULL ? input->original : list;
    PyObject *result = list != NULL ? PyObject_CallOneArg(self->fallback, original) : NULL;
    Py_XDECREF(list);
    return result;
}

/** Converts the result if @p stacked is 1, falls back to torch if it is 0, and propagates the
 * exception if it is -1. */
static PyObject *wrap(const collation *self, const batch *input, int stacked, lxpy_target *target)
{
    PyObject *result = stacked > 0    ? PyObject_CallOneArg(self->wrap, target->object)
                       : stacked == 0 ? fallback(self, input)
                                      : NULL;
    if (target->object != NULL)
        lxpy_target_drop(target);
    return result;
}

/** Returns the values of @p key, or NULL without an exception if an item is not a dict or lacks the
 * key. */
static PyObject *column_of_key(PyObject *dicts, PyObject *key)
{
    Py_ssize_t count = PyTuple_GET_SIZE(dicts);
    PyObject *column = PyTuple_New(count);
    for (Py_ssize_t i = 0; column != NULL && i < count; i++) {
        PyObject *dict = PyTuple_GET_ITEM(dicts, i);
        PyObject *value = PyDict_CheckExact(dict) ? PyDict_GetItemWithError(dict, key) : NULL;
        if (value == NULL)
            Py_CLEAR(column);
        else
            PyTuple_SET_ITEM(column, i, Py_NewRef(value));
    }
    return column;
}

static PyObject *collate_dicts(const collation *self, const batch *input)
{
    PyObject *result = PyDict_New();
    PyObject *keys = result != NULL ? PyDict_Keys(PyTuple_GET_ITEM(input->items, 0)) : NULL;
    if (keys == NULL)
        Py_CLEAR(result);
    for (Py_ssize_t i = 0; result != NULL && i < PyList_GET_SIZE(keys); i++) {
        PyObject *key = PyList_GET_ITEM(keys, i);
        batch column = {.items = column_of_key(input->items, key), .from_dicts = true};
        if (column.items == NULL) {
            Py_CLEAR(result);
            if (!PyErr_Occurred())
                result = fallback(self, input);
            break;
        }
        PyObject *collated = collate(self, &column);
        Py_DECREF(column.items);
        if (collated == NULL || PyDict_SetItem(result, key, collated) < 0)
            Py_CLEAR(result);
        Py_XDECREF(collated);
    }
    Py_XDECREF(keys);
    return result;
}

/** Returns the common length of the sequences, or -1 if the lengths differ or if an item is neither
 * a tuple nor a list. */
static Py_ssize_t common_length(PyObject *sequences)
{
    Py_ssize_t length = -1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sequences); i++) {
        PyObject *one = PyTuple_GET_ITEM(sequences, i);
        if (!PyTuple_CheckExact(one) && !PyList_CheckExact(one))
            return -1;
        if (i != 0 && PySequence_Fast_GET_SIZE(one) != length)
            return -1;
        length = PySequence_Fast_GET_SIZE(one);
    }
    return length;
}

/** Returns the items at index @p index, or NULL without an exception if a list became shorter. */
static PyObject *column_at(PyObject *sequences, Py_ssize_t index)
{
    Py_ssize_t count = PyTuple_GET_SIZE(sequences);
    PyObject *column = PyTuple_New(count);
    for (Py_ssize_t i = 0; column != NULL && i < count; i++) {
        PyObject *one = PyTuple_GET_ITEM(sequences, i);
        if (index >= PySequence_Fast_GET_SIZE(one))
            Py_CLEAR(column);
        else
            PyTuple_SET_ITEM(column, i, Py_NewRef(PySequence_Fast_GET_ITEM(one, index)));
    }
    return column;
}

static PyObject *collate_sequences(const collation *self, const batch *input)
{
    Py_ssize_t length = common_length(input->items);
    if (length < 0)
        return fallback(self, input);
    PyObject *result = PyList_New(0);
    for (Py_ssize_t i = 0; result != NULL && i < length; i++) {
        batch column = {.items = column_at(input->items, i)};
        if (column.items == NULL) {
            Py_CLEAR(result);
            return PyErr_Occurred() ? NULL : fallback(self, input);
        }
        PyObject *collated = collate(self, &column);
        Py_DECREF(column.items);
        if (collated == NULL || PyList_Append(result, collated) < 0)
            Py_CLEAR(result);
        Py_XDECREF(collated);
    }
    return result;
}

static PyObject *collate_kind(const collation *self, const batch *input)
{
    PyObject *first = PyTuple_GET_ITEM(input->items, 0);
    lxpy_target target = {NULL, {0}};
    if (PyDict_CheckExact(first))
        return collate_dicts(self, input);
    if (PyTuple_CheckExact(first) || PyList_CheckExact(first))
        return collate_sequences(self, input);
    if (PyLong_CheckExact(first) || PyFloat_CheckExact(first)) {
        int stacked = lxpy_stack_numbers(self->state, input->items, &target);
        return wrap(self, input, stacked, &target);
    }
    if (Py_IS_TYPE(first, (PyTypeObject *)LXPY(self->state, NDARRAY))) {
        int stacked = lxpy_stack_arrays(self->state, input->items, &target);
        return wrap(self, input, stacked, &target);
    }
    return fallback(self, input);
}

static PyObject *collate(const collation *self, const batch *input)
{
    if (Py_EnterRecursiveCall(" in default_collate"))
        return NULL;
    PyObject *result = collate_kind(self, input);
    Py_LeaveRecursiveCall();
    return result;
}

static PyObject *collate_batch(PyObject *module, PyObject *args)
{
    PyObject *original;
    collation self = {.state = lxpy_state_get(module)};
    if (!PyArg_ParseTuple(args, "OOO", &original, &self.wrap, &self.fallback))
        return NULL;
    bool known = PyList_CheckExact(original) || PyTuple_CheckExact(original);
    batch input = {.items = known ? PySequence_Tuple(original) : NULL, .original = original};
    if (known && input.items == NULL)
        return NULL;
    bool empty = !known || PyTuple_GET_SIZE(input.items) == 0;
    PyObject *result = empty ? PyObject_CallOneArg(self.fallback, original)
                             : collate(&self, &input);
    Py_XDECREF(input.items);
    return result;
}

static PyMethodDef functions[] = {
    {"collate", collate_batch, METH_VARARGS, "collate(batch, wrap, fallback)"},
    {NULL},
};

int lxpy_add_collate(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
