/* SPDX-License-Identifier: MIT */
/* Reads one record, or records of one field. */
#include "dataset.h"
#include "target.h"

/* ----------------------------------------------------------------- one record */

static PyObject *item_dense(lxpy_reading *self, size_t position, uint64_t index)
{
    const lxpy_field *field = &self->schema->fields[position];
    lxpy_target t = {NULL, {0}};
    if (lxpy_target_make(&t, self->state, field->shape, field->type) < 0)
        return NULL;
    PyObject *item = NULL;
    if (lxpy_copy_dense(self, position, &index, 1, t.view.buf) == 0)
        item = PyTuple_GET_SIZE(field->shape) != 0
                   ? Py_NewRef(t.object)
                   : PyObject_GetItem(t.object, field->shape); /* array[()] returns a scalar */
    lxpy_target_drop(&t);
    return item;
}

/** Returns one value of a field, or None if the value is missing. */
static PyObject *item(lxpy_reading *self, size_t position, uint64_t index)
{
    uint64_t offsets[2];
    uint8_t present;
    lx_error error = LX_ERROR_INIT;
    LXPY_WITHOUT_GIL(
        lx_dataset_get_sizes(self->handle, position, &index, 1, offsets, &present, &error));
    if (error.status != LX_OK)
        return lxpy_raise(self->state, &error);
    PyObject *value = self->schema->fields[position].size == LX_NONE
                          ? lxpy_varying_item(self, position, index, offsets[1], present != 0)
                          : item_dense(self, position, index);
    if (value == NULL || present != 0)
        return value;
    Py_DECREF(value); /* it was read only to count the damaged value */
    Py_RETURN_NONE;
}

static PyObject *record_entered(lxpy_reading *self, PyObject *which)
{
    uint64_t index;
    if (lxpy_index_take(which, lx_dataset_get_length(self->handle), &index) < 0)
        return NULL;
    PyObject *record = PyDict_New();
    for (size_t i = 0; record != NULL && i < self->schema->count; i++) {
        PyObject *value = item(self, i, index);
        if (value == NULL || PyDict_SetItem(record, self->schema->fields[i].name, value) < 0)
            Py_CLEAR(record);
        Py_XDECREF(value);
    }
    return record;
}

PyObject *lxpy_dataset_record(PyObject *object, PyObject *index)
{
    lxpy_reading reading;
    if (!lxpy_is_index(((lxpy_dataset *)object)->state, index)) {
        PyErr_Format(
            PyExc_TypeError,
            "the key of a dataset must be an int, a slice, a list of ints, a mask or the name of a "
            "field, not %.100s",
            Py_TYPE(index)->tp_name);
        return NULL;
    }
    if (lxpy_reading_begin(&reading, object) < 0)
        return NULL;
    PyObject *record = record_entered(&reading, index);
    lxpy_reading_end(&reading);
    return record;
}

/* ------------------------------------------------------------ one field */

static PyObject *get_entered(lxpy_reading *self, PyObject *name, PyObject *key)
{
    uint64_t length = lx_dataset_get_length(self->handle), index;
    lxpy_indices indices;
    Py_ssize_t position = lxpy_schema_find(self->schema, name);
    if (position < 0)
        return NULL;
    if (lxpy_is_index(self->state, key))
        return lxpy_index_take(key, length, &index) == 0 ? item(self, (size_t)position, index)
                                                         : NULL;
    if (lxpy_indices_take(&indices, self->state, key, length, "the key of a column") < 0)
        return NULL;
    PyObject *none = PyDict_New(); /* no field may lack values */
    PyObject *result = NULL;
    if (none != NULL)
        result = lxpy_gather_field(self, (size_t)position, &indices, NULL, none);
    Py_XDECREF(none);
    lxpy_indices_clear(&indices);
    return result;
}

/** Computes one number per value from the offsets and flags of lx_dataset_get_sizes(). */
typedef void fill_function(void *out, const uint64_t *offsets, const uint8_t *present,
                           size_t count);

static void fill_present(void *out, const uint64_t *offsets, const uint8_t *present, size_t count)
{
    (void)offsets;
    memcpy(out, present, count);
}

static void fill_sizes(void *out, const uint64_t *offsets, const uint8_t *present, size_t count)
{
    int64_t *sizes = out;
    for (size_t i = 0; i < count; i++)
        sizes[i] = present[i] != 0 ? (int64_t)(offsets[i + 1] - offsets[i]) : -1;
}

static int measure(lxpy_reading *self, size_t position, const lxpy_indices *indices,
                   fill_function *fill, void *out)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t *offsets = PyMem_Malloc((indices->count + 1) * sizeof *offsets);
    uint8_t *present = PyMem_Malloc(indices->count + 1);
    if (offsets == NULL || present == NULL)
        PyErr_NoMemory();
    else
        LXPY_WITHOUT_GIL(lx_dataset_get_sizes(self->handle, position, indices->numbers,
                                              indices->count, offsets, present, &error));
    if (error.status != LX_OK)
        lxpy_raise(self->state, &error);
    int result = PyErr_Occurred() ? -1 : 0;
    if (result == 0)
        fill(out, offsets, present, indices->count);
    PyMem_Free(offsets);
    PyMem_Free(present);
    return result;
}

static PyObject *measure_entered(lxpy_reading *self, PyObject *name, PyObject *which,
                                 lx_dtype dtype, fill_function *fill)
{
    lxpy_indices indices;
    Py_ssize_t position = lxpy_schema_find(self->schema, name);
    if (position < 0 || lxpy_indices_take(&indices, self->state, which,
                                          lx_dataset_get_length(self->handle), "indices") < 0)
        return NULL;
    lxpy_target t = {NULL, {0}};
    PyObject *shape = Py_BuildValue("(n)", (Py_ssize_t)indices.count), *result = NULL;
    if (lxpy_target_make(&t, self->state, shape, dtype) == 0) {
        if (measure(self, (size_t)position, &indices, fill, t.view.buf) == 0)
            result = Py_NewRef(t.object);
        lxpy_target_drop(&t);
    }
    Py_XDECREF(shape);
    lxpy_indices_clear(&indices);
    return result;
}

static PyObject *present_entered(lxpy_reading *self, PyObject *name, PyObject *which)
{
    return measure_entered(self, name, which, LX_BOOL, fill_present);
}

static PyObject *sizes_entered(lxpy_reading *self, PyObject *name, PyObject *which)
{
    return measure_entered(self, name, which, LX_INT64, fill_sizes);
}

/** Parses the two arguments of the method @p method, and calls @p entered with them. */
static PyObject *read_field(PyObject *object, PyObject *const *args, Py_ssize_t count,
                            const char *method, const char *const names[],
                            PyObject *(*entered)(lxpy_reading *self, PyObject *name, PyObject *key))
{
    lxpy_reading reading;
    PyObject *values[2];
    if (lxpy_arguments(method, names, 2, 2, args, count, NULL, values) < 0 ||
        lxpy_reading_begin(&reading, object) < 0)
        return NULL;
    PyObject *result = entered(&reading, values[0], values[1]);
    lxpy_reading_end(&reading);
    return result;
}

PyObject *lxpy_dataset_get(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"field", "key", NULL};
    return read_field(object, args, count, "_get", names, get_entered);
}

PyObject *lxpy_dataset_present(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"field", "indices", NULL};
    return read_field(object, args, count, "_present", names, present_entered);
}

PyObject *lxpy_dataset_sizes(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"field", "indices", NULL};
    return read_field(object, args, count, "_sizes", names, sizes_entered);
}
