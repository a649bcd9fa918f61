/* SPDX-License-Identifier: MIT */
/* Changes the type of a field: Python code converts the values. */
#include "writer.h"

#include <string.h>

/** A conversion. The arrays in @ref owner are those of the last call of the function. */
typedef struct conversion {
    lxpy_description before, after;
    PyObject *function;
    lxpy_callbacks callbacks;
    lxpy_value_owner owner;
    const lx_values *values; /**< The arguments of the current call. */
    lx_values *converted;
    uint64_t count;
    uint64_t size; /**< Bytes per converted value; LX_NONE if it varies. */
} conversion;

/** Returns a copy, because the library's memory does not outlive the call. */
static PyObject *copy_of(const void *data, uint64_t size)
{
    return PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
}

/** Returns the arguments of the function: the bytes of the values, their offsets, and the mask. */
static PyObject *make_arguments(void *user)
{
    const conversion *c = user;
    const lx_values *values = c->values;
    PyObject *data = copy_of(values->data, values->offsets[c->count]);
    PyObject *offsets = copy_of(values->offsets, (c->count + 1) * sizeof *values->offsets);
    PyObject *present = copy_of(values->present, c->count);
    PyObject *all = NULL;
    if (data != NULL && offsets != NULL && present != NULL)
        all = PyTuple_Pack(3, data, offsets, present);
    Py_XDECREF(data);
    Py_XDECREF(offsets);
    Py_XDECREF(present);
    return all;
}

/** Whether the arrays have the lengths that the writer relies on. */
static bool is_complete(const conversion *c)
{
    const lxpy_value_owner *owner = &c->owner;
    const uint64_t *offsets = owner->offsets.buf;
    if (owner->present.buf != NULL && (uint64_t)owner->present.len != c->count)
        return false;
    if (c->size != LX_NONE)
        return (uint64_t)owner->view.len == c->count * c->size;
    return offsets != NULL && (uint64_t)owner->offsets.len == (c->count + 1) * sizeof *offsets &&
           offsets[c->count] <= (uint64_t)owner->view.len;
}

static int take_result(PyObject *result, void *user)
{
    conversion *c = user;
    lxpy_value_owner_clear(&c->owner);
    if (lxpy_arrays_take(&c->owner, result) < 0)
        return -1;
    if (!is_complete(c)) {
        PyErr_SetString(PyExc_ValueError, "the converted values have the wrong size");
        return -1;
    }
    *c->converted = (lx_values){c->owner.view.buf, c->size == LX_NONE ? c->owner.offsets.buf : NULL,
                                c->owner.present.buf};
    return 0;
}

static lx_status convert(const lx_values *values, uint64_t count, lx_values *converted, void *user,
                         lx_error *error)
{
    conversion *c = user;
    (void)error;
    c->values = values;
    c->converted = converted;
    c->count = count;
    return lxpy_call_back(&c->callbacks, c->function, make_arguments, take_result, c);
}

/** Whether the field still has the type that the function converts; another thread may have changed
 * it. */
static bool is_unchanged(lx_writer *writer, const lxpy_description *before)
{
    const lx_schema *schema = lx_writer_get_schema(writer);
    size_t position;
    if (lx_schema_find_field(schema, before->name, &position, NULL) != LX_OK)
        return true; /* the conversion reports the missing field */
    const lx_field *field = lx_schema_get_field(schema, position);
    return field->dtype == before->type && field->ndim == before->ndim &&
           memcmp(field->shape, before->shape, field->ndim * sizeof *field->shape) == 0;
}

static lx_status convert_field(lx_writer *writer, void *what, lx_error *error)
{
    conversion *c = what;
    const lxpy_description *d = &c->after;
    if (!is_unchanged(writer, &c->before))
        return lx_fail(error, LX_ERR_STATE, "field '%s' was changed by another thread", d->name);
    return lx_writer_convert_field(writer, d->name, d->type, d->shape, d->ndim, convert, c, error);
}

PyObject *lxpy_writer_convert_field(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"before", "after", "function", NULL};
    lxpy_writer *self = (lxpy_writer *)object;
    PyObject *values[3];
    conversion c = {.callbacks = {.state = self->state}};
    if (lxpy_arguments("_convert_field", names, 3, 3, args, count, NULL, values) < 0 ||
        lxpy_description_take(&c.before, self->state, values[0]) < 0 ||
        lxpy_description_take(&c.after, self->state, values[1]) < 0)
        return NULL;
    lxpy_schema *schema = lxpy_schema_describing(&c.after, self->state);
    if (schema == NULL)
        return NULL;
    c.size = schema->fields[0].size;
    c.function = values[2];
    PyObject *result = lxpy_writer_change_fields(self, convert_field, &c, &c.callbacks);
    lxpy_value_owner_clear(&c.owner);
    lxpy_schema_unref(schema);
    return result;
}
