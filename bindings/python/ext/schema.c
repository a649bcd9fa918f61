/* SPDX-License-Identifier: MIT */
#include "schema.h"

/* The names, in the order of lx_compression. */
static const char *const compressions[] = {"raw", "flate", "zstd", NULL};
#define COMPRESSIONS (sizeof compressions / sizeof *compressions - 1)

int lxpy_compression_take(PyObject *name, lx_compression *compression)
{
    int choice;
    if (lxpy_choice(name, "compress", compressions, &choice) < 0)
        return -1;
    *compression = (lx_compression)choice;
    return 0;
}

const char *lxpy_compression_name(lx_compression compression)
{
    return (size_t)compression < COMPRESSIONS ? compressions[compression] : "unknown";
}

static int take_field(lxpy_field *field, const lx_field *from)
{
    field->type = from->dtype;
    field->size = from->size;
    field->item_size = from->item_size;
    field->compression = from->compression;
    field->level = from->level;
    field->dictionary = from->dictionary;
    field->type_name = PyUnicode_InternFromString(lx_dtype_get_name(from->dtype));
    field->name = PyUnicode_InternFromString(from->name);
    field->shape = lxpy_shape_new(LX_NONE, from->shape, from->ndim);
    return field->name != NULL && field->type_name != NULL && field->shape != NULL ? 0 : -1;
}

static int note_position(PyObject *positions, PyObject *name, size_t position)
{
    PyObject *number = PyLong_FromSize_t(position);
    int result = number != NULL ? PyDict_SetItem(positions, name, number) : -1;
    Py_XDECREF(number);
    return result;
}

static int take_fields(lxpy_schema *schema, const lx_schema *from)
{
    schema->count = lx_schema_get_field_count(from);
    schema->fields = PyMem_Calloc(schema->count, sizeof *schema->fields);
    schema->positions = PyDict_New();
    if (schema->fields == NULL)
        PyErr_NoMemory();
    if (schema->fields == NULL || schema->positions == NULL)
        return -1;
    for (size_t i = 0; i < schema->count; i++)
        if (take_field(&schema->fields[i], lx_schema_get_field(from, i)) < 0 ||
            note_position(schema->positions, schema->fields[i].name, i) < 0)
            return -1;
    return 0;
}

lxpy_schema *lxpy_schema_new(const lx_schema *from)
{
    lxpy_schema *schema = PyMem_Calloc(1, sizeof *schema);
    if (schema == NULL)
        return (lxpy_schema *)PyErr_NoMemory();
    schema->references = 1;
    if (take_fields(schema, from) == 0)
        return schema;
    lxpy_schema_unref(schema);
    return NULL;
}

lxpy_schema *lxpy_schema_ref(lxpy_schema *schema)
{
    schema->references++;
    return schema;
}

void lxpy_schema_unref(lxpy_schema *schema)
{
    if (schema == NULL || --schema->references != 0)
        return;
    for (size_t i = 0; schema->fields != NULL && i < schema->count; i++) {
        Py_XDECREF(schema->fields[i].name);
        Py_XDECREF(schema->fields[i].type_name);
        Py_XDECREF(schema->fields[i].shape);
    }
    PyMem_Free(schema->fields);
    Py_XDECREF(schema->positions);
    PyMem_Free(schema);
}

Py_ssize_t lxpy_schema_find(const lxpy_schema *schema, PyObject *name)
{
    if (!PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError, "the name of a field must be a str, not %.100s",
                     Py_TYPE(name)->tp_name);
        return -1;
    }
    PyObject *position = PyDict_GetItemWithError(schema->positions, name);
    if (position != NULL)
        return PyLong_AsSsize_t(position);
    if (!PyErr_Occurred()) {
        PyObject *names = PyDict_Keys(schema->positions);
        if (names != NULL)
            PyErr_Format(PyExc_KeyError, "field %R not found: the fields are %S", name, names);
        Py_XDECREF(names);
    }
    return -1;
}

PyObject *lxpy_field_shape(const lxpy_field *field, uint64_t items)
{
    PyObject *shape = PySequence_List(field->shape), *tuple = NULL;
    PyObject *number = shape != NULL ? PyLong_FromUnsignedLongLong(items) : NULL;
    if (number != NULL && PyList_SetItem(shape, 0, number) == 0)
        tuple = PyList_AsTuple(shape);
    Py_XDECREF(shape);
    return tuple;
}

PyObject *lxpy_schema_describe(const lxpy_schema *schema)
{
    PyObject *all = PyTuple_New((Py_ssize_t)schema->count);
    for (size_t i = 0; all != NULL && i < schema->count; i++) {
        const lxpy_field *field = &schema->fields[i];
        PyObject *one = Py_BuildValue("(OOOsiI)", field->name, field->type_name, field->shape,
                                      lxpy_compression_name(field->compression), field->level,
                                      (unsigned)field->dictionary);
        if (one == NULL)
            Py_CLEAR(all);
        else
            PyTuple_SET_ITEM(all, (Py_ssize_t)i, one);
    }
    return all;
}

int lxpy_description_take(lxpy_description *d, lxpy_state *state, PyObject *tuple)
{
    const char *dtype;
    PyObject *name, *shape, *compress;
    unsigned dictionary = 0;
    lx_error error = LX_ERROR_INIT;
    d->level = 0;
    if (!PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError, "a field must be a tuple; use loaderx.Field");
        return -1;
    }
    if (!PyArg_ParseTuple(tuple, "OsO!O|iI", &name, &dtype, &PyTuple_Type, &shape, &compress,
                          &d->level, &dictionary) ||
        (d->name = lxpy_text(name, "the name of a field")) == NULL ||
        lxpy_compression_take(compress, &d->compression) < 0)
        return -1;
    d->dictionary = dictionary;
    d->ndim = (size_t)PyTuple_GET_SIZE(shape);
    if (d->ndim > LX_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "field '%s': the shape has more than %d axes", d->name,
                     LX_MAX_NDIM);
        return -1;
    }
    for (size_t i = 0; i < d->ndim; i++) {
        PyObject *extent = PyTuple_GET_ITEM(shape, (Py_ssize_t)i);
        d->shape[i] = LX_NONE;
        if (extent != Py_None && lxpy_uint64(extent, "shape", 0, LX_MAX_VALUE, &d->shape[i]) < 0)
            return -1;
    }
    if (lx_dtype_parse(dtype, &d->type, &error) == LX_OK)
        return 0;
    lxpy_raise(state, &error);
    return -1;
}

lxpy_schema *lxpy_schema_describing(const lxpy_description *d, lxpy_state *state)
{
    lxpy_schema *made = NULL;
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    if (schema == NULL)
        return (lxpy_schema *)PyErr_NoMemory();
    if (lx_schema_add_field(schema, d->name, d->type, d->shape, d->ndim, d->compression, &error) ==
        LX_OK)
        made = lxpy_schema_new(schema);
    else
        lxpy_raise(state, &error);
    lx_schema_free(schema);
    return made;
}
