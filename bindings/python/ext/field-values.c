/* SPDX-License-Identifier: MIT */
#include "field-values.h"

PyObject *lxpy_field_values_names(const char *function, PyObject *args, Py_ssize_t first,
                                  PyObject *kwargs)
{
    Py_ssize_t count = PyTuple_GET_SIZE(args) - first;
    bool named = kwargs != NULL && PyDict_GET_SIZE(kwargs) != 0;
    if (count > 1 || (count == 1 && named)) {
        PyErr_Format(PyExc_TypeError, "%s() takes either one dict or fields as keyword arguments",
                     function);
        return NULL;
    }
    if (count == 0)
        return kwargs != NULL ? Py_NewRef(kwargs) : PyDict_New();
    PyObject *values = PyTuple_GET_ITEM(args, first);
    if (!PyDict_Check(values)) {
        PyErr_Format(PyExc_TypeError,
                     "the argument of %s() must be a dict of values by field, not %.100s", function,
                     Py_TYPE(values)->tp_name);
        return NULL;
    }
    /* The conversion of values may run the caller's code, which may change the dict. */
    return PyDict_Copy(values);
}

static const char *const castings[] = {"no", "equiv", "safe", "same_kind", "unsafe", NULL};

int lxpy_casting_take(lxpy_state *state, const lxpy_schema *schema, PyObject *args,
                      Py_ssize_t first, PyObject **kwargs, PyObject **casting)
{
    PyObject *name = LXPY(state, CASTING);
    PyObject *given = *kwargs != NULL ? PyDict_GetItemWithError(*kwargs, name) : NULL;
    int ignored;
    *casting = Py_NewRef(Py_None);
    Py_XINCREF(*kwargs);
    if (given == NULL || (PyTuple_GET_SIZE(args) == first &&
                          PyDict_GetItemWithError(schema->positions, name) != NULL))
        return 0;
    Py_SETREF(*casting, Py_NewRef(given));
    Py_SETREF(*kwargs, PyDict_Copy(*kwargs));
    if (*kwargs != NULL && PyDict_DelItem(*kwargs, name) == 0 &&
        (given == Py_None || lxpy_choice(*casting, "casting", castings, &ignored) == 0))
        return 0;
    Py_CLEAR(*casting);
    Py_CLEAR(*kwargs);
    return -1;
}

/* --------------------------------------------------------------------- memory */

void lxpy_field_values_clear(lxpy_field_values *parsed)
{
    for (size_t i = 0; parsed->owner != NULL && i < parsed->count; i++)
        lxpy_value_owner_clear(&parsed->owner[i]);
    PyMem_Free(parsed->owner); /* one block that contains all other arrays */
    Py_CLEAR(parsed->named);
    lxpy_schema_unref(parsed->schema);
    *parsed = (lxpy_field_values){.records = LX_NONE};
}

/** Allocates zeroed memory for the values of @p count fields, in one block. */
static int reserve(lxpy_field_values *parsed, size_t count)
{
    size_t each = sizeof *parsed->owner + sizeof(union {
                      lx_value one;
                      lx_values many;
                  }) +
                  sizeof *parsed->fields;
    parsed->owner = PyMem_Calloc(count + 1, each);
    if (parsed->owner == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    parsed->count = count;
    parsed->columns = (lx_values *)(void *)(parsed->owner + count);
    parsed->values = (lx_value *)(void *)parsed->columns;
    parsed->fields = (size_t *)(void *)(parsed->columns + count);
    return 0;
}

static int begin(lxpy_field_values *parsed, lxpy_schema *schema, PyObject *named, lxpy_which which)
{
    *parsed =
        (lxpy_field_values){.schema = lxpy_schema_ref(schema), .named = named, .records = LX_NONE};
    if (named == NULL)
        return -1;
    return reserve(parsed,
                   which == LXPY_ALL_FIELDS ? schema->count : (size_t)PyDict_GET_SIZE(named));
}

/* --------------------------------------------------------------------- fields */

/** Raises an error for a name that is not a field. */
static int check_names(const lxpy_field_values *parsed)
{
    PyObject *name, *value;
    Py_ssize_t cursor = 0;
    while (PyDict_Next(parsed->named, &cursor, &name, &value))
        if (lxpy_schema_find(parsed->schema, name) < 0)
            return -1;
    return 0;
}

/** Checks, in schema order, that all fields have values. */
static int find_all(lxpy_field_values *parsed)
{
    if ((size_t)PyDict_GET_SIZE(parsed->named) > parsed->count && check_names(parsed) < 0)
        return -1;
    for (size_t i = 0; i < parsed->count; i++) {
        PyObject *name = parsed->schema->fields[i].name;
        parsed->fields[i] = i;
        if (PyDict_GetItemWithError(parsed->named, name) != NULL)
            continue;
        if (!PyErr_Occurred() && check_names(parsed) == 0) /* report an unknown name first */
            PyErr_Format(PyExc_TypeError, "field %R has no value: pass None to store it as missing",
                         name);
        return -1;
    }
    return 0;
}

static int find_some(lxpy_field_values *parsed)
{
    PyObject *name, *value;
    Py_ssize_t cursor = 0;
    for (size_t i = 0; PyDict_Next(parsed->named, &cursor, &name, &value); i++) {
        Py_ssize_t position = lxpy_schema_find(parsed->schema, name);
        if (position < 0)
            return -1;
        parsed->fields[i] = (size_t)position;
    }
    return 0;
}

static int find_fields(lxpy_field_values *parsed, lxpy_schema *schema, PyObject *named,
                       lxpy_which which)
{
    if (begin(parsed, schema, named, which) < 0)
        return -1;
    return which == LXPY_ALL_FIELDS ? find_all(parsed) : find_some(parsed);
}

/** Returns a borrowed reference to the value of a field, or NULL with an exception. The lookup can
 * fail if comparing a key no longer gives the same result as before. */
static PyObject *value_of(const lxpy_field_values *parsed, size_t i)
{
    PyObject *name = parsed->schema->fields[parsed->fields[i]].name;
    PyObject *value = PyDict_GetItemWithError(parsed->named, name);
    if (value == NULL && !PyErr_Occurred())
        PyErr_Format(PyExc_KeyError, "field %R has no value", name);
    return value;
}

/* --------------------------------------------------------------------- values */

int lxpy_field_values_record(lxpy_field_values *parsed, lxpy_state *state, lxpy_schema *schema,
                             PyObject *named, PyObject *casting, lxpy_which which)
{
    int result = find_fields(parsed, schema, named, which);
    for (size_t i = 0; result == 0 && i < parsed->count; i++) {
        PyObject *value = value_of(parsed, i);
        result = value != NULL
                     ? lxpy_value_take(&parsed->values[i], &parsed->owner[i], state,
                                       &parsed->schema->fields[parsed->fields[i]], value, casting)
                     : -1;
    }
    return result;
}

static int take_columns(lxpy_field_values *parsed, lxpy_state *state, PyObject *casting)
{
    int result = 0;
    for (size_t i = 0; result == 0 && i < parsed->count; i++) {
        PyObject *value = value_of(parsed, i);
        result = value != NULL ? lxpy_values_take(&parsed->columns[i], &parsed->owner[i], state,
                                                  &parsed->schema->fields[parsed->fields[i]], value,
                                                  casting, &parsed->records)
                               : -1;
    }
    return result;
}

int lxpy_field_values_columns(lxpy_field_values *parsed, lxpy_state *state, lxpy_schema *schema,
                              PyObject *named, PyObject *casting, lxpy_which which)
{
    return find_fields(parsed, schema, named, which) == 0 ? take_columns(parsed, state, casting)
                                                          : -1;
}

/** Uses loaderx.values to repeat the value of one record for a column. */
static int broadcast(lxpy_field_values *parsed, lxpy_state *state, PyObject *casting,
                     uint64_t records)
{
    for (size_t i = 0; i < parsed->count; i++) {
        const lxpy_field *field = &parsed->schema->fields[parsed->fields[i]];
        PyObject *value = value_of(parsed, i);
        PyObject *column = value != NULL
                               ? PyObject_CallFunction(LXPY(state, BROADCAST_RECORD), "OOOOKO",
                                                       value, field->type_name, field->shape,
                                                       field->name, (unsigned long long)records,
                                                       casting)
                               : NULL;
        int result = column != NULL ? PyDict_SetItem(parsed->named, field->name, column) : -1;
        Py_XDECREF(column);
        if (result < 0)
            return -1;
    }
    return 0;
}

int lxpy_field_values_broadcast(lxpy_field_values *parsed, lxpy_state *state, lxpy_schema *schema,
                                PyObject *named, PyObject *casting, uint64_t records)
{
    if (find_fields(parsed, schema, named, LXPY_SOME_FIELDS) < 0 ||
        broadcast(parsed, state, casting, records) < 0 || take_columns(parsed, state, casting) < 0)
        return -1;
    if (parsed->records == LX_NONE || parsed->records == records)
        return 0;
    PyErr_Format(PyExc_ValueError,
                 "the number of values is %llu, but the number of indices is %llu",
                 (unsigned long long)parsed->records, (unsigned long long)records);
    return -1;
}
