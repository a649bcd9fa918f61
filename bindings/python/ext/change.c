/* SPDX-License-Identifier: MIT */
/* Modifies one or many records, and truncates the dataset. */
#include "indices.h"
#include "writer.h"

/* ------------------------------------------------------------------- one record */

static int modify_record(lxpy_writer *self, uint64_t index, const lxpy_field_values *parsed)
{
    lx_error error = LX_ERROR_INIT;
    if (lxpy_writer_enter_with(self, parsed->schema) < 0)
        return -1;
    LXPY_WITHOUT_GIL(lx_writer_modify(self->handle, index, parsed->fields, parsed->values,
                                      parsed->count, &error));
    lxpy_writer_leave(self);
    if (error.status == LX_OK)
        return 0;
    lxpy_raise(self->state, &error);
    return -1;
}

static int modify_one(lxpy_writer *self, PyObject *key, PyObject *named, PyObject *casting,
                      uint64_t length)
{
    uint64_t index;
    lxpy_field_values parsed;
    if (lxpy_index_take(key, length, &index) < 0) {
        Py_DECREF(named);
        return -1;
    }
    int result = lxpy_field_values_record(&parsed, self->state, self->schema, named, casting,
                                          LXPY_SOME_FIELDS);
    if (result == 0)
        result = modify_record(self, index, &parsed);
    lxpy_field_values_clear(&parsed);
    return result;
}

/* ----------------------------------------------------------------- many records */

static int modify_columns(lxpy_writer *self, const lxpy_indices *indices,
                          const lxpy_field_values *parsed)
{
    lx_error error = LX_ERROR_INIT;
    if (lxpy_writer_enter_with(self, parsed->schema) < 0)
        return -1;
    LXPY_WITHOUT_GIL(lx_writer_modify_many(self->handle, indices->numbers, indices->count,
                                           parsed->fields, parsed->columns, parsed->count, &error));
    lxpy_writer_leave(self);
    if (error.status == LX_OK)
        return 0;
    lxpy_raise(self->state, &error);
    return -1;
}

static int modify_several(lxpy_writer *self, PyObject *key, PyObject *named, PyObject *casting,
                          uint64_t length)
{
    lxpy_indices indices;
    lxpy_field_values parsed;
    if (lxpy_indices_take(&indices, self->state, key, length, "the records to change") < 0) {
        Py_DECREF(named);
        return -1;
    }
    int result = lxpy_field_values_broadcast(&parsed, self->state, self->schema, named, casting,
                                             indices.count);
    if (result == 0)
        result = modify_columns(self, &indices, &parsed);
    lxpy_field_values_clear(&parsed);
    lxpy_indices_clear(&indices);
    return result;
}

/** Modifies the records that @p key selects. Takes the reference to @p named. */
static int modify(lxpy_writer *self, PyObject *key, PyObject *named, PyObject *casting)
{
    uint64_t length;
    if (lxpy_writer_check_change(self) < 0 || lxpy_writer_length(self, &length) < 0) {
        Py_DECREF(named);
        return -1;
    }
    return lxpy_is_index(self->state, key) ? modify_one(self, key, named, casting, length)
                                           : modify_several(self, key, named, casting, length);
}

int lxpy_writer_assign(PyObject *object, PyObject *key, PyObject *values)
{
    if (values == NULL) {
        PyObject *moved = lxpy_writer_delete(object, key);
        Py_XDECREF(moved);
        return moved != NULL ? 0 : -1;
    }
    if (!PyDict_Check(values)) {
        PyErr_Format(PyExc_TypeError,
                     "the values of a record must be a dict of values by field, not %.100s",
                     Py_TYPE(values)->tp_name);
        return -1;
    }
    PyObject *named = PyDict_Copy(values);
    return named != NULL ? modify((lxpy_writer *)object, key, named, Py_None) : -1;
}

PyObject *lxpy_writer_modify(PyObject *object, PyObject *args, PyObject *kwargs)
{
    if (PyTuple_GET_SIZE(args) == 0) {
        PyErr_SetString(PyExc_TypeError, "modify() requires one or more indices");
        return NULL;
    }
    lxpy_writer *self = (lxpy_writer *)object;
    PyObject *casting;
    if (lxpy_casting_take(self->state, self->schema, args, 1, &kwargs, &casting) < 0)
        return NULL;
    PyObject *named = lxpy_field_values_names("modify", args, 1, kwargs);
    int result = named != NULL ? modify(self, PyTuple_GET_ITEM(args, 0), named, casting) : -1;
    Py_DECREF(casting);
    Py_XDECREF(kwargs);
    return result == 0 ? Py_NewRef(Py_None) : NULL;
}

/* --------------------------------------------------------------------- truncate */

PyObject *lxpy_writer_truncate(PyObject *object, PyObject *number)
{
    lxpy_writer *self = (lxpy_writer *)object;
    lx_error error = LX_ERROR_INIT;
    uint64_t length;
    if (lxpy_writer_check_change(self) < 0 ||
        lxpy_uint64(number, "length", 0, LX_NONE - 1, &length) < 0 || lxpy_writer_enter(self) < 0)
        return NULL;
    LXPY_WITHOUT_GIL(lx_writer_truncate(self->handle, length, &error));
    lxpy_writer_leave(self);
    if (error.status == LX_ERR_RANGE) /* the length is an argument, not an index */
        error.status = LX_ERR_ARGUMENT;
    if (error.status != LX_OK)
        return lxpy_raise(self->state, &error);
    Py_RETURN_NONE;
}
