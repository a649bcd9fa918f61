/* SPDX-License-Identifier: MIT */
/* Reads a part of one value. */
#include "dataset.h"
#include "target.h"

/** A part of a value: the items [first, first + count). */
typedef struct part {
    size_t position; /**< Of the field. */
    uint64_t index;  /**< Of the record. */
    uint64_t first, count;
} part;

/** Limits the part to the items that the value has, so that a caller cannot request memory that no
 * value needs. Returns 0 if the value is missing, 1 if it is not, and -1 with an exception. */
static int limit(lxpy_reading *self, part *p)
{
    const lxpy_field *field = &self->schema->fields[p->position];
    uint64_t offsets[2], items;
    uint8_t present;
    lx_error error = LX_ERROR_INIT;
    LXPY_WITHOUT_GIL(
        lx_dataset_get_sizes(self->handle, p->position, &p->index, 1, offsets, &present, &error));
    if (error.status != LX_OK) {
        lxpy_raise(self->state, &error);
        return -1;
    }
    if (field->item_size != 0)
        items = offsets[1] / field->item_size;
    else /* an extent of 0 follows the first one */
        items = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(field->shape, 0));
    p->first = p->first < items ? p->first : items;
    p->count = p->count < items - p->first ? p->count : items - p->first;
    return present;
}

static int read_part(lxpy_reading *self, const part *p, char *out)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t count;
    LXPY_WITHOUT_GIL(lx_dataset_read_part(self->handle, p->position, p->index, p->first, p->count,
                                          out, &count, &error));
    if (error.status == LX_OK && count != p->count)
        lx_fail(&error, LX_ERR_MISMATCH, "the value changed while it was being read");
    if (error.status == LX_OK)
        return 0;
    lxpy_raise(self->state, &error);
    return -1;
}

static PyObject *part_of_bytes(lxpy_reading *self, const part *p)
{
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)p->count);
    if (bytes != NULL && read_part(self, p, PyBytes_AS_STRING(bytes)) < 0)
        Py_CLEAR(bytes);
    return bytes;
}

static PyObject *part_of_array(lxpy_reading *self, const part *p)
{
    const lxpy_field *field = &self->schema->fields[p->position];
    lxpy_target t;
    PyObject *shape = lxpy_field_shape(field, p->count), *array = NULL;
    if (lxpy_target_make(&t, self->state, shape, field->type) == 0) {
        if (read_part(self, p, t.view.buf) == 0)
            array = Py_NewRef(t.object);
        lxpy_target_drop(&t);
    }
    Py_XDECREF(shape);
    return array;
}

static PyObject *read_entered(lxpy_reading *self, PyObject *name, PyObject *which, part *p)
{
    Py_ssize_t position = lxpy_schema_find(self->schema, name);
    if (position < 0 || lxpy_index_take(which, lx_dataset_get_length(self->handle), &p->index) < 0)
        return NULL;
    const lxpy_field *field = &self->schema->fields[position];
    bool is_bytes = lx_dtype_is_bytes(field->type);
    p->position = (size_t)position;
    if (!is_bytes && PyTuple_GET_SIZE(field->shape) == 0) {
        PyErr_Format(PyExc_TypeError, "the values of field %R are scalars, which have no parts",
                     name);
        return NULL;
    }
    int present = limit(self, p);
    if (present < 0)
        return NULL;
    if (present == 0)
        Py_RETURN_NONE;
    return is_bytes ? part_of_bytes(self, p) : part_of_array(self, p);
}

PyObject *lxpy_dataset_read_part(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"field", "index", "start", "n", NULL};
    lxpy_reading reading;
    PyObject *values[4];
    part p;
    if (lxpy_arguments("_read_part", names, 4, 4, args, count, NULL, values) < 0 ||
        lxpy_uint64(values[2], names[2], 0, UINT64_MAX, &p.first) < 0 ||
        lxpy_uint64(values[3], names[3], 0, UINT64_MAX, &p.count) < 0)
        return NULL;
    if (!lxpy_is_index(((lxpy_dataset *)object)->state, values[1])) {
        PyErr_Format(PyExc_TypeError, "the index of a record must be an int, not %.100s",
                     Py_TYPE(values[1])->tp_name);
        return NULL;
    }
    if (lxpy_reading_begin(&reading, object) < 0)
        return NULL;
    PyObject *result = read_entered(&reading, values[0], values[1], &p);
    lxpy_reading_end(&reading);
    return result;
}
