/* SPDX-License-Identifier: MIT */
#include "field-values.h"

PyObject *lxpy_field_values_names(const char *function, PyObject *args, Py_ssize_t first,
                                  PyObject *kwargs)
{
    Py_ssize_t count = PyTuple_GET_SIZE(args) - first;
    bool named = kwargs != NULL && PyDict_GET_SIZE(kwargs) != 0;
    if (count > 1 || (count == 1 && named)) {
        PyErr_Format(PyExc_TypeError, "%s() takes one dict or the fields by name", function);
        return NULL;
    }
    if (count == 0)
        return kwargs != NULL ? Py_NewRef(kwargs) : PyDict_New();
    PyObject *values = PyTuple_GET_ITEM(args, first);
    if (!PyDict_Check(values)) {
        PyErr_Format(PyExc_TypeError, "%s() takes a dict of fields, not %.100s", function,
                     Py_TYPE(values)->tp_name);
        return NULL;
    }
    return PyDict_Copy(values); /* what converts the values may be the caller's code */
}

/* --------------------------------------------------------------------- memory */

void lxpy_field_values_clear(lxpy_field_values *g)
{
    for (size_t i = 0; g->held != NULL && i < g->count; i++)
        lxpy_held_drop(&g->held[i]);
    PyMem_Free(g->held); /* one block with all other arrays */
    Py_CLEAR(g->named);
    lxpy_schema_unref(g->schema);
    *g = (lxpy_field_values){.records = LX_NONE};
}

/** Room for values of @p count fields: one block, which is zeros. */
static int reserve(lxpy_field_values *g, size_t count)
{
    size_t each = sizeof *g->held + sizeof(union {
                      lx_value one;
                      lx_values many;
                  }) +
                  sizeof *g->fields;
    g->held = PyMem_Calloc(count + 1, each);
    if (g->held == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    g->count = count;
    g->columns = (lx_values *)(void *)(g->held + count);
    g->values = (lx_value *)(void *)g->columns;
    g->fields = (size_t *)(void *)(g->columns + count);
    return 0;
}

static int begin(lxpy_field_values *g, lxpy_schema *schema, PyObject *named, lxpy_which which)
{
    *g = (lxpy_field_values){.schema = lxpy_schema_ref(schema), .named = named, .records = LX_NONE};
    if (named == NULL)
        return -1;
    return reserve(g, which == LXPY_ALL_FIELDS ? schema->count : (size_t)PyDict_GET_SIZE(named));
}

/* --------------------------------------------------------------------- fields */

/** Raises an error for a name that is not a field. */
static int check_names(const lxpy_field_values *g)
{
    PyObject *name, *value;
    Py_ssize_t place = 0;
    while (PyDict_Next(g->named, &place, &name, &value))
        if (lxpy_schema_find(g->schema, name) < 0)
            return -1;
    return 0;
}

/** Checks that all fields have values, in the order of the schema. */
static int find_all(lxpy_field_values *g)
{
    if ((size_t)PyDict_GET_SIZE(g->named) > g->count && check_names(g) < 0)
        return -1;
    for (size_t i = 0; i < g->count; i++) {
        PyObject *name = g->schema->fields[i].name;
        g->fields[i] = i;
        if (PyDict_GetItemWithError(g->named, name) != NULL)
            continue;
        if (!PyErr_Occurred() && check_names(g) == 0) /* a wrong name says more */
            PyErr_Format(PyExc_TypeError, "field %R has no value: pass None to store it as missing",
                         name);
        return -1;
    }
    return 0;
}

static int find_some(lxpy_field_values *g)
{
    PyObject *name, *value;
    Py_ssize_t place = 0;
    for (size_t i = 0; PyDict_Next(g->named, &place, &name, &value); i++) {
        Py_ssize_t position = lxpy_schema_find(g->schema, name);
        if (position < 0)
            return -1;
        g->fields[i] = (size_t)position;
    }
    return 0;
}

static int find_fields(lxpy_field_values *g, lxpy_schema *schema, PyObject *named, lxpy_which which)
{
    if (begin(g, schema, named, which) < 0)
        return -1;
    return which == LXPY_ALL_FIELDS ? find_all(g) : find_some(g);
}

/** The value that was given for a field, borrowed; NULL with an exception where a key that said it
 * was the field's name no longer does. */
static PyObject *value_of(const lxpy_field_values *g, size_t i)
{
    PyObject *name = g->schema->fields[g->fields[i]].name;
    PyObject *value = PyDict_GetItemWithError(g->named, name);
    if (value == NULL && !PyErr_Occurred())
        PyErr_Format(PyExc_KeyError, "field %R has no value", name);
    return value;
}

/* --------------------------------------------------------------------- values */

int lxpy_field_values_record(lxpy_field_values *g, lxpy_state *state, lxpy_schema *schema,
                             PyObject *named, lxpy_which which)
{
    int result = find_fields(g, schema, named, which);
    for (size_t i = 0; result == 0 && i < g->count; i++) {
        PyObject *value = value_of(g, i);
        result = value != NULL ? lxpy_value_take(&g->values[i], &g->held[i], state,
                                                 &g->schema->fields[g->fields[i]], value)
                               : -1;
    }
    return result;
}

static int take_columns(lxpy_field_values *g, lxpy_state *state)
{
    int result = 0;
    for (size_t i = 0; result == 0 && i < g->count; i++) {
        PyObject *value = value_of(g, i);
        result = value != NULL
                     ? lxpy_values_take(&g->columns[i], &g->held[i], state,
                                        &g->schema->fields[g->fields[i]], value, &g->records)
                     : -1;
    }
    return result;
}

int lxpy_field_values_columns(lxpy_field_values *g, lxpy_state *state, lxpy_schema *schema,
                              PyObject *named, lxpy_which which)
{
    return find_fields(g, schema, named, which) == 0 ? take_columns(g, state) : -1;
}

/** Repeats the value of one record for a column, by loaderx.values. */
static int spread(lxpy_field_values *g, lxpy_state *state, uint64_t records)
{
    for (size_t i = 0; i < g->count; i++) {
        const lxpy_field *field = &g->schema->fields[g->fields[i]];
        PyObject *value = value_of(g, i);
        PyObject *column = value != NULL
                               ? PyObject_CallFunction(LXPY(state, SPREAD_RECORD), "OOOOK", value,
                                                       field->dtype, field->shape, field->name,
                                                       (unsigned long long)records)
                               : NULL;
        int result = column != NULL ? PyDict_SetItem(g->named, field->name, column) : -1;
        Py_XDECREF(column);
        if (result < 0)
            return -1;
    }
    return 0;
}

int lxpy_field_values_spread(lxpy_field_values *g, lxpy_state *state, lxpy_schema *schema,
                             PyObject *named, uint64_t records)
{
    if (find_fields(g, schema, named, LXPY_SOME_FIELDS) < 0 || spread(g, state, records) < 0 ||
        take_columns(g, state) < 0)
        return -1;
    if (g->records == LX_NONE || g->records == records)
        return 0;
    PyErr_Format(PyExc_ValueError,
                 "the number of values is %llu, but the number of indices is %llu",
                 (unsigned long long)g->records, (unsigned long long)records);
    return -1;
}
