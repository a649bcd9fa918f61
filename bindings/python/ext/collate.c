/* SPDX-License-Identifier: MIT */
/* The common cases of torch's collation: arrays and numbers, alone and in dicts, tuples and lists.
 * All others are left to torch. */
#include "stack.h"

/** What a collation is made with. */
typedef struct collation {
    lxpy_state *state;
    PyObject *wrap;  /**< Makes a tensor of an array. */
    PyObject *leave; /**< Makes what torch would of a batch. */
} collation;

/** The items as a batch: as they were given; else as torch would have them. */
typedef struct batch {
    PyObject *items; /**< A tuple of ours, of one item at least. */
    PyObject *given; /**< NULL where it is one column of others. */
    bool listed;     /**< It comes from dicts. */
} batch;

static PyObject *collate(const collation *self, const batch *these);

static PyObject *leave(const collation *self, const batch *these)
{
    PyObject *list = these->listed ? PySequence_List(these->items) : Py_NewRef(these->items);
    PyObject *given = these->given != NULL ? these->given : list;
    PyObject *result = list != NULL ? PyObject_CallOneArg(self->leave, given) : NULL;
    Py_XDECREF(list);
    return result;
}

/** Wraps what was made, 1; 0 leaves it; -1 is an exception. */
static PyObject *wrap(const collation *self, const batch *these, int made, lxpy_target *target)
{
    PyObject *result = made > 0    ? PyObject_CallOneArg(self->wrap, target->object)
                       : made == 0 ? leave(self, these)
                                   : NULL;
    if (target->object != NULL)
        lxpy_target_drop(target);
    return result;
}

/** A column of dicts; an empty reference if one of them lacks the key, or is not a dict. */
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

static PyObject *collate_dicts(const collation *self, const batch *these)
{
    PyObject *result = PyDict_New();
    PyObject *keys = result != NULL ? PyDict_Keys(PyTuple_GET_ITEM(these->items, 0)) : NULL;
    if (keys == NULL)
        Py_CLEAR(result);
    for (Py_ssize_t i = 0; result != NULL && i < PyList_GET_SIZE(keys); i++) {
        PyObject *key = PyList_GET_ITEM(keys, i);
        batch column = {.items = column_of_key(these->items, key), .listed = true};
        if (column.items == NULL) {
            Py_CLEAR(result);
            if (!PyErr_Occurred())
                result = leave(self, these);
            break;
        }
        PyObject *made = collate(self, &column);
        Py_DECREF(column.items);
        if (made == NULL || PyDict_SetItem(result, key, made) < 0)
            Py_CLEAR(result);
        Py_XDECREF(made);
    }
    Py_XDECREF(keys);
    return result;
}

/** The length of all of them, if that is one; else, or where one is no tuple or list, -1. */
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

/** A column of tuples and lists; NULL without an exception where a list became shorter. */
static PyObject *column_at(PyObject *sequences, Py_ssize_t place)
{
    Py_ssize_t count = PyTuple_GET_SIZE(sequences);
    PyObject *column = PyTuple_New(count);
    for (Py_ssize_t i = 0; column != NULL && i < count; i++) {
        PyObject *one = PyTuple_GET_ITEM(sequences, i);
        if (place >= PySequence_Fast_GET_SIZE(one))
            Py_CLEAR(column);
        else
            PyTuple_SET_ITEM(column, i, Py_NewRef(PySequence_Fast_GET_ITEM(one, place)));
    }
    return column;
}

static PyObject *collate_sequences(const collation *self, const batch *these)
{
    Py_ssize_t length = common_length(these->items);
    if (length < 0)
        return leave(self, these);
    PyObject *result = PyList_New(0);
    for (Py_ssize_t i = 0; result != NULL && i < length; i++) {
        batch column = {.items = column_at(these->items, i)};
        if (column.items == NULL) {
            Py_CLEAR(result);
            return PyErr_Occurred() ? NULL : leave(self, these);
        }
        PyObject *made = collate(self, &column);
        Py_DECREF(column.items);
        if (made == NULL || PyList_Append(result, made) < 0)
            Py_CLEAR(result);
        Py_XDECREF(made);
    }
    return result;
}

static PyObject *collate_kind(const collation *self, const batch *these)
{
    PyObject *first = PyTuple_GET_ITEM(these->items, 0);
    lxpy_target target = {NULL, {0}};
    if (PyDict_CheckExact(first))
        return collate_dicts(self, these);
    if (PyTuple_CheckExact(first) || PyList_CheckExact(first))
        return collate_sequences(self, these);
    if (PyLong_CheckExact(first) || PyFloat_CheckExact(first)) {
        int made = lxpy_stack_numbers(self->state, these->items, &target);
        return wrap(self, these, made, &target);
    }
    if (Py_IS_TYPE(first, (PyTypeObject *)LXPY(self->state, NDARRAY))) {
        int made = lxpy_stack_arrays(self->state, these->items, &target);
        return wrap(self, these, made, &target);
    }
    return leave(self, these);
}

static PyObject *collate(const collation *self, const batch *these)
{
    if (Py_EnterRecursiveCall(" in default_collate"))
        return NULL;
    PyObject *result = collate_kind(self, these);
    Py_LeaveRecursiveCall();
    return result;
}

static PyObject *collate_given(PyObject *module, PyObject *args)
{
    PyObject *given;
    collation self = {.state = lxpy_state_get(module)};
    if (!PyArg_ParseTuple(args, "OOO", &given, &self.wrap, &self.leave))
        return NULL;
    bool known = PyList_CheckExact(given) || PyTuple_CheckExact(given);
    batch these = {.items = known ? PySequence_Tuple(given) : NULL, .given = given};
    if (known && these.items == NULL)
        return NULL;
    bool empty = !known || PyTuple_GET_SIZE(these.items) == 0;
    PyObject *result = empty ? PyObject_CallOneArg(self.leave, given) : collate(&self, &these);
    Py_XDECREF(these.items);
    return result;
}

static PyMethodDef functions[] = {
    {"collate", collate_given, METH_VARARGS, "collate(batch, wrap, leave)"},
    {NULL},
};

int lxpy_add_collate(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
