/* SPDX-License-Identifier: MIT */
/* Appends one record, many records, or records of a different dataset. */
#include "arrow.h"
#include "dataset.h"
#include "writer.h"

/* --------------------------------------------------------------------- append */

static PyObject *append_values(lxpy_writer *self, const lxpy_field_values *parsed)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t index;
    if (lxpy_writer_enter_with(self, parsed->schema) < 0)
        return NULL;
    LXPY_WITHOUT_GIL(lx_writer_append(self->handle, parsed->values, parsed->count, &index, &error));
    lxpy_writer_leave(self);
    return error.status == LX_OK ? PyLong_FromUnsignedLongLong(index)
                                 : lxpy_raise(self->state, &error);
}

PyObject *lxpy_writer_append(PyObject *object, PyObject *args, PyObject *kwargs)
{
    lxpy_writer *self = (lxpy_writer *)object;
    lxpy_field_values parsed;
    PyObject *casting, *result = NULL;
    if (lxpy_casting_take(self->state, self->schema, args, 0, &kwargs, &casting) < 0)
        return NULL;
    PyObject *named = lxpy_field_values_names("append", args, 0, kwargs);
    if (lxpy_field_values_record(&parsed, self->state, self->schema, named, casting,
                                 LXPY_ALL_FIELDS) == 0)
        result = append_values(self, &parsed);
    lxpy_field_values_clear(&parsed);
    Py_DECREF(casting);
    Py_XDECREF(kwargs);
    return result;
}

/* --------------------------------------------------------------------- extend */

static PyObject *extend_values(lxpy_writer *self, const lxpy_field_values *parsed)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t first;
    if (parsed->records == LX_NONE) {
        PyErr_SetString(PyExc_ValueError, "extend() requires values for at least one field: None "
                                          "does not determine the number of records");
        return NULL;
    }
    if (lxpy_writer_enter_with(self, parsed->schema) < 0)
        return NULL;
    LXPY_WITHOUT_GIL(lx_writer_extend(self->handle, parsed->records, parsed->columns, parsed->count,
                                      &first, &error));
    lxpy_writer_leave(self);
    return error.status == LX_OK ? PyLong_FromUnsignedLongLong(first)
                                 : lxpy_raise(self->state, &error);
}

/** Returns the arguments of extend(); a table that is not a dict is replaced with a dict of its
 * columns. */
static PyObject *columns_of(const lxpy_writer *self, PyObject *args)
{
    PyObject *table = PyTuple_GET_SIZE(args) == 1 ? PyTuple_GET_ITEM(args, 0) : NULL;
    if (table == NULL || PyDict_Check(table))
        return Py_NewRef(args);
    PyObject *fields = lxpy_schema_describe(self->schema);
    PyObject *columns = fields != NULL
                            ? PyObject_CallFunction(LXPY(self->state, COLUMNS_OF), "OsN", table,
                                                    "the argument of extend()", fields)
                            : NULL;
    return columns != NULL ? Py_BuildValue("(N)", columns) : NULL;
}

/** Returns what lxpy_arrow_export() returns for the argument of extend(). */
static PyObject *exported_of(lxpy_state *state, PyObject *args)
{
    PyObject *table = PyTuple_GET_SIZE(args) == 1 ? PyTuple_GET_ITEM(args, 0) : NULL;
    return table != NULL && !PyDict_Check(table) ? lxpy_arrow_export(state, table)
                                                 : Py_NewRef(Py_None);
}

/** Appends an Arrow table, of which lxpy_arrow_export() returned @p exported. */
static PyObject *extend_arrow(lxpy_writer *self, PyObject *exported, PyObject *kwargs)
{
    if (kwargs == NULL || PyDict_GET_SIZE(kwargs) == 0)
        return lxpy_arrow_extend(self, exported);
    PyErr_SetString(PyExc_TypeError,
                    "extend() takes no keyword arguments with an Arrow table: cast "
                    "its columns if necessary");
    return NULL;
}

PyObject *lxpy_writer_extend(PyObject *object, PyObject *args, PyObject *kwargs)
{
    lxpy_writer *self = (lxpy_writer *)object;
    lxpy_field_values parsed;
    PyObject *casting, *result = NULL;
    PyObject *exported = exported_of(self->state, args);
    if (exported == NULL)
        return NULL;
    if (exported != Py_None)
        result = extend_arrow(self, exported, kwargs);
    Py_DECREF(exported);
    if (exported != Py_None ||
        lxpy_casting_take(self->state, self->schema, args, 0, &kwargs, &casting) < 0)
        return result;
    PyObject *columns = columns_of(self, args);
    PyObject *named = columns != NULL ? lxpy_field_values_names("extend", columns, 0, kwargs)
                                      : NULL;
    Py_XDECREF(columns);
    if (lxpy_field_values_columns(&parsed, self->state, self->schema, named, casting,
                                  LXPY_ALL_FIELDS) == 0)
        result = extend_values(self, &parsed);
    lxpy_field_values_clear(&parsed);
    Py_DECREF(casting);
    Py_XDECREF(kwargs);
    return result;
}

/* ----------------------------------------------------------------------- copy */

static PyObject *copy_selected(lxpy_reading *from, const lxpy_indices *indices,
                               const size_t *positions, size_t count, void *user)
{
    lxpy_writer *self = user;
    lx_error error = LX_ERROR_INIT;
    uint64_t first;
    if (lxpy_writer_enter(self) < 0)
        return NULL;
    LXPY_WITHOUT_GIL(lx_writer_copy(self->handle, from->handle, positions, count,
                                    indices != NULL ? indices->numbers : NULL,
                                    indices != NULL ? indices->count : LX_NONE, &first, &error));
    lxpy_writer_leave(self);
    return error.status == LX_OK ? PyLong_FromUnsignedLongLong(first)
                                 : lxpy_raise(self->state, &error);
}

PyObject *lxpy_writer_copy(PyObject *object, PyObject *const *args, Py_ssize_t count,
                           PyObject *kwnames)
{
    static const char *const names[] = {"dataset", "indices", "fields", NULL};
    lxpy_writer *self = (lxpy_writer *)object;
    PyObject *values[3];
    if (lxpy_arguments("copy", names, 2, 1, args, count, kwnames, values) < 0 ||
        lxpy_dataset_check(self->state, values[0], names[0]) < 0)
        return NULL;
    PyObject *which = values[1] != Py_None ? values[1] : NULL;
    PyObject *fields = values[2] != NULL ? values[2] : Py_None;
    return lxpy_reading_call(values[0], which, fields, copy_selected, self);
}
