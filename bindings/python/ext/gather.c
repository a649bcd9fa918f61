/* SPDX-License-Identifier: MIT */
/* Reads several records into new arrays or the caller's memory. */
#include "dataset.h"
#include "target.h"

/* ------------------------------------------------------------ dense records */

int lxpy_copy_dense(lxpy_reading *self, size_t position, const uint64_t *indices, size_t count,
                    char *out)
{
    uint64_t size = self->schema->fields[position].size;
    size_t piece = lxpy_piece_of(size);
    for (size_t done = 0; done < count; done += piece) {
        lx_error error = LX_ERROR_INIT;
        size_t rows = count - done < piece ? count - done : piece;
        LXPY_WITHOUT_GIL(lx_dataset_gather(self->handle, position, indices + done, rows,
                                           out + done * size, (size_t)size, &error));
        if (error.status != LX_OK) {
            lxpy_raise(self->state, &error);
            return -1;
        }
        if (rows == piece && PyErr_CheckSignals() < 0)
            return -1;
    }
    return 0;
}

/** Finds out which values of a field are missing, and does about them what @p lacking says. */
static int find_lacking(lxpy_reading *self, size_t position, const lxpy_indices *indices,
                        PyObject *lacking)
{
    /* The reading has one snapshot: this also holds of the values that were read from it. */
    if (lacking == Py_None || !lx_dataset_may_lack_values(self->handle, position))
        return 0;
    const lx_field *field = lx_schema_get_field(lx_dataset_get_schema(self->handle), position);
    uint8_t *present = PyMem_Malloc(indices->count);
    lx_error error = LX_ERROR_INIT;
    int result = -1;
    if (present == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    LXPY_WITHOUT_GIL(lx_dataset_get_present(self->handle, position, indices->numbers,
                                            indices->count, present, &error));
    if (error.status != LX_OK)
        lxpy_raise(self->state, &error);
    else
        result = lxpy_lacking_add(self->state, lacking, field->name, present, indices);
    PyMem_Free(present);
    return result;
}

/** Returns the shape of an array of @p count records. */
static PyObject *shape_for(const lxpy_field *field, size_t count)
{
    Py_ssize_t ndim = PyTuple_GET_SIZE(field->shape);
    PyObject *shape = PyTuple_New(ndim + 1);
    PyObject *rows = shape != NULL ? PyLong_FromSize_t(count) : NULL;
    if (rows == NULL) {
        Py_XDECREF(shape);
        return NULL;
    }
    PyTuple_SET_ITEM(shape, 0, rows);
    for (Py_ssize_t i = 0; i < ndim; i++)
        PyTuple_SET_ITEM(shape, i + 1, Py_NewRef(PyTuple_GET_ITEM(field->shape, i)));
    return shape;
}

static PyObject *gather_dense(lxpy_reading *self, size_t position, const lxpy_indices *indices,
                              PyObject *out, PyObject *lacking)
{
    const lxpy_field *field = &self->schema->fields[position];
    lxpy_target t = {NULL, {0}};
    if (out != NULL) {
        if (lxpy_target_take(&t, self->state, field, out, indices->count) < 0)
            return NULL;
    } else {
        PyObject *shape = shape_for(field, indices->count);
        int result = lxpy_target_make(&t, self->state, shape, field->type);
        Py_XDECREF(shape);
        if (result < 0)
            return NULL;
    }
    PyObject *object = NULL;
    if (lxpy_copy_dense(self, position, indices->numbers, indices->count, t.view.buf) == 0 &&
        find_lacking(self, position, indices, lacking) == 0)
        object = Py_NewRef(t.object);
    lxpy_target_drop(&t);
    return object;
}

/* ------------------------------------------------------------ several records */

PyObject *lxpy_gather_field(lxpy_reading *self, size_t position, const lxpy_indices *indices,
                            PyObject *out, PyObject *lacking)
{
    const lxpy_field *field = &self->schema->fields[position];
    if (field->size != LX_NONE)
        return gather_dense(self, position, indices, out, lacking);
    if (out == NULL)
        return lxpy_gather_varying(self, position, indices);
    lxpy_fail_out(PyExc_ValueError, field,
                  "cannot be filled: the records of this field vary in length");
    return NULL;
}

static int check_name(const lxpy_schema *schema, PyObject *name, const size_t *positions,
                      size_t count)
{
    Py_ssize_t wanted = lxpy_schema_find(schema, name);
    size_t i = 0;
    if (wanted < 0)
        return -1;
    while (i < count && positions[i] != (size_t)wanted)
        i++;
    if (i != count)
        return 0;
    PyErr_Format(PyExc_ValueError, "out has the key %R, which is not in fields", name);
    return -1;
}

/** Checks that each name in @p out is a field to read. */
static int check_names(const lxpy_schema *schema, PyObject *out, const size_t *positions,
                       size_t count)
{
    PyObject *name, *value;
    Py_ssize_t cursor = 0;
    int result = 0;
    while (result == 0 && PyDict_Next(out, &cursor, &name, &value)) {
        Py_INCREF(name); /* the comparison with a str subclass may remove the item */
        result = check_name(schema, name, positions, count);
        Py_DECREF(name);
    }
    return result;
}

/** Where to read records to, and what to do about missing values. */
typedef struct gathering {
    PyObject *out; /**< The dict of buffers, or NULL. */
    PyObject *lacking;
} gathering;

/** Reads the records and returns a dict. @p user is a gathering. */
static PyObject *gather_all(lxpy_reading *self, const lxpy_indices *indices,
                            const size_t *positions, size_t count, void *user)
{
    const gathering *g = user;
    PyObject *out = g->out, *result = NULL;
    if (out == NULL || check_names(self->schema, out, positions, count) == 0)
        result = PyDict_New();
    for (size_t i = 0; result != NULL && i < count; i++) {
        PyObject *name = self->schema->fields[positions[i]].name;
        PyObject *buffer = out != NULL ? PyDict_GetItemWithError(out, name) : NULL;
        PyObject *value = NULL;
        if (buffer != NULL || !PyErr_Occurred()) {
            Py_XINCREF(buffer);
            value = lxpy_gather_field(self, positions[i], indices, buffer, g->lacking);
            Py_XDECREF(buffer);
        }
        if (value == NULL || PyDict_SetItem(result, name, value) < 0)
            Py_CLEAR(result);
        Py_XDECREF(value);
    }
    return result;
}

PyObject *lxpy_dataset_gather(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"indices", "fields", "out", "lacking", NULL};
    PyObject *values[4];
    if (lxpy_arguments("_gather", names, 4, 4, args, count, NULL, values) < 0)
        return NULL;
    gathering g = {values[2] != Py_None ? values[2] : NULL, values[3]};
    if (g.out != NULL && !PyDict_Check(g.out)) {
        PyErr_Format(PyExc_TypeError, "out must be a dict of buffers by field, not %.100s",
                     Py_TYPE(g.out)->tp_name);
        return NULL;
    }
    PyObject *fields = g.out != NULL && values[1] == Py_None ? g.out : values[1];
    return lxpy_reading_call(object, values[0], fields, gather_all, &g);
}
