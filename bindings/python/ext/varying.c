/* SPDX-License-Identifier: MIT */
/* Reads fields whose values vary in length: byte strings and ragged arrays. */
#include "dataset.h"
#include "target.h"

#include <string.h>

/* The assumed size of a value, because its length is unknown before it is read. */
#define RECORD ((uint64_t)16 << 10)

/* ---------------------------------------------------------------------- values */

static bool is_plain(const lxpy_field *field)
{
    return field->type == LX_BYTES || field->type == LX_IMAGE;
}

/** Replaces a ValueError, which the text of a record caused, by the CorruptError that says which
 * record it is. */
static void explain(lxpy_state *state, const lxpy_field *field, uint64_t index)
{
    PyObject *type, *value, *trace;
    lx_error error = LX_ERROR_INIT;
    if (!PyErr_ExceptionMatches(PyExc_ValueError))
        return;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *message = value != NULL ? PyObject_Str(value) : NULL;
    const char *text = message != NULL ? PyUnicode_AsUTF8(message) : NULL;
    const char *name = PyUnicode_AsUTF8(field->name);
    PyErr_Clear();
    lx_fail(&error, LX_ERR_CORRUPT, "the value is no valid %s: %s", lx_dtype_get_name(field->type),
            text != NULL ? text : "");
    lx_error_locate(&error, NULL, name, index, LX_NONE);
    lxpy_raise(state, &error);
    Py_XDECREF(message);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

/** Returns the str, or the parsed JSON, of the record @p index. */
static PyObject *parse(lxpy_state *state, const lxpy_field *field, uint64_t index, const char *data,
                       size_t size)
{
    PyObject *value = PyUnicode_DecodeUTF8(data, (Py_ssize_t)size, NULL);
    if (value != NULL && field->type == LX_JSON)
        Py_SETREF(value, PyObject_CallOneArg(LXPY(state, FROM_JSON), value));
    if (value == NULL)
        explain(state, field, index);
    return value;
}

/** Creates an array for the @p size bytes of a value. */
static int make_target(lxpy_target *t, lxpy_state *state, const lxpy_field *field, uint64_t size)
{
    PyObject *shape = lxpy_field_shape(field, size / field->item_size);
    int result = lxpy_target_make(t, state, shape, field->type);
    Py_XDECREF(shape);
    return result;
}

/** Returns the value of the record @p index, which is not a plain byte string. */
static PyObject *make_value(lxpy_state *state, const lxpy_field *field, uint64_t index,
                            const char *data, size_t size)
{
    lxpy_target t;
    if (lx_dtype_is_bytes(field->type))
        return parse(state, field, index, data, size);
    if (make_target(&t, state, field, size) < 0)
        return NULL;
    if (size != 0)
        memcpy(t.view.buf, data, size);
    PyObject *array = Py_NewRef(t.object);
    lxpy_target_drop(&t);
    return array;
}

/* ------------------------------------------------------------------- one record */

/** Reads the @p size bytes of a value. */
static int read_value(lxpy_reading *self, size_t position, uint64_t index, uint64_t size, char *out)
{
    const uint64_t offsets[] = {0, size};
    lx_error error = LX_ERROR_INIT;
    LXPY_WITHOUT_GIL(
        lx_dataset_gather_bytes(self->handle, position, &index, 1, offsets, out, &error));
    if (error.status == LX_OK)
        return 0;
    lxpy_raise(self->state, &error);
    return -1;
}

static PyObject *read_bytes(lxpy_reading *self, size_t position, uint64_t index, uint64_t size)
{
    PyObject *record = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (record != NULL && read_value(self, position, index, size, PyBytes_AS_STRING(record)) < 0)
        Py_CLEAR(record);
    return record;
}

static PyObject *read_array(lxpy_reading *self, size_t position, uint64_t index, uint64_t size)
{
    lxpy_target t;
    PyObject *array = NULL;
    if (make_target(&t, self->state, &self->schema->fields[position], size) < 0)
        return NULL;
    if (read_value(self, position, index, size, t.view.buf) == 0)
        array = Py_NewRef(t.object);
    lxpy_target_drop(&t);
    return array;
}

PyObject *lxpy_varying_item(lxpy_reading *self, size_t position, uint64_t index, uint64_t size,
                            bool present)
{
    const lxpy_field *field = &self->schema->fields[position];
    if (!lx_dtype_is_bytes(field->type))
        return read_array(self, position, index, size);
    PyObject *value = read_bytes(self, position, index, size);
    if (value == NULL || is_plain(field) || !present)
        return value;
    PyObject *parsed = parse(self->state, field, index, PyBytes_AS_STRING(value), (size_t)size);
    Py_DECREF(value);
    return parsed;
}

/* ------------------------------------------------------------------ several records */

/** The concatenated values of some records. */
typedef struct joined {
    uint64_t *offsets; /**< count + 1 offsets. */
    uint8_t *present;
    char *data;
} joined;

static void drop_joined(joined *j)
{
    PyMem_RawFree(j->offsets);
    PyMem_RawFree(j->present);
    PyMem_RawFree(j->data);
}

/** Returns @p size bytes of memory, or NULL with an error. */
static void *allocate(size_t size, lx_error *error)
{
    void *memory = PyMem_RawMalloc(size);
    if (memory == NULL)
        lx_fail(error, LX_ERR_NOMEM, "not enough memory for %zu bytes of records", size);
    return memory;
}

/** Reads records. Called without the GIL. */
static void read_joined(lx_dataset *dataset, size_t position, const uint64_t *indices, size_t count,
                        joined *j, lx_error *error)
{
    /* This status starts the loop; it repeats the loop if a refresh has changed the lengths. */
    lx_status status = LX_ERR_MISMATCH;
    j->offsets = allocate((count + 1) * sizeof *j->offsets, error);
    j->present = allocate(count, error);
    while (status == LX_ERR_MISMATCH && j->offsets != NULL && j->present != NULL) {
        lx_error_clear(error);
        status = lx_dataset_get_sizes(dataset, position, indices, count, j->offsets, j->present,
                                      error);
        if (status != LX_OK)
            break;
        PyMem_RawFree(j->data);
        j->data = allocate((size_t)j->offsets[count], error);
        if (j->data == NULL)
            break;
        status = lx_dataset_gather_bytes(dataset, position, indices, count, j->offsets, j->data,
                                         error);
    }
}

/** Adds bytes objects of the required lengths, or None, to @p list, starting at index @p first. */
static int make_bytes(const joined *j, size_t count, PyObject *list, size_t first)
{
    for (size_t i = 0; i < count; i++) {
        Py_ssize_t size = (Py_ssize_t)(j->offsets[i + 1] - j->offsets[i]);
        PyObject *record = j->present[i] != 0 ? PyBytes_FromStringAndSize(NULL, size)
                                              : Py_NewRef(Py_None);
        if (record == NULL)
            return -1;
        PyList_SET_ITEM(list, (Py_ssize_t)(first + i), record);
    }
    return 0;
}

/** Copies the values to the bytes objects. Called without the GIL. */
static void fill_bytes(const joined *j, size_t count, PyObject *list, size_t first)
{
    for (size_t i = 0; i < count; i++) {
        size_t size = (size_t)(j->offsets[i + 1] - j->offsets[i]);
        if (size != 0)
            memcpy(PyBytes_AS_STRING(PyList_GET_ITEM(list, (Py_ssize_t)(first + i))),
                   j->data + j->offsets[i], size);
    }
}

/** Adds the values to @p list, starting at index @p first. */
static int add_values(const joined *j, lxpy_reading *self, size_t position, const uint64_t *indices,
                      size_t count, PyObject *list, size_t first)
{
    const lxpy_field *field = &self->schema->fields[position];
    if (is_plain(field)) {
        if (make_bytes(j, count, list, first) < 0)
            return -1;
        LXPY_WITHOUT_GIL(fill_bytes(j, count, list, first));
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        size_t size = (size_t)(j->offsets[i + 1] - j->offsets[i]);
        PyObject *value = j->present[i] != 0 ? make_value(self->state, field, indices[i],
                                                          j->data + j->offsets[i], size)
                                             : Py_NewRef(Py_None);
        if (value == NULL)
            return -1;
        PyList_SET_ITEM(list, (Py_ssize_t)(first + i), value);
    }
    return 0;
}

static int read_piece(lxpy_reading *self, size_t position, const uint64_t *indices, size_t count,
                      PyObject *list, size_t first)
{
    joined j = {NULL, NULL, NULL};
    lx_error error = LX_ERROR_INIT;
    int result = -1;
    LXPY_WITHOUT_GIL(read_joined(self->handle, position, indices, count, &j, &error));
    if (error.status != LX_OK)
        lxpy_raise(self->state, &error);
    else
        result = add_values(&j, self, position, indices, count, list, first);
    drop_joined(&j);
    return result;
}

PyObject *lxpy_gather_varying(lxpy_reading *self, size_t position, const lxpy_indices *indices)
{
    size_t piece = lxpy_piece_of(RECORD), count = indices->count;
    PyObject *list = PyList_New((Py_ssize_t)count);
    if (list != NULL)
        PyObject_GC_UnTrack(list); /* the garbage collector must not expose unfilled items */
    for (size_t done = 0; list != NULL && done < count; done += piece) {
        size_t rows = count - done < piece ? count - done : piece;
        if (read_piece(self, position, indices->numbers + done, rows, list, done) < 0 ||
            (rows == piece && PyErr_CheckSignals() < 0))
            Py_CLEAR(list);
    }
    if (list != NULL)
        PyObject_GC_Track(list);
    return list;
}
