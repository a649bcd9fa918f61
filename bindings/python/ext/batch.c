/* SPDX-License-Identifier: MIT */
/* Converts a batch to a Python Batch: a dict of arrays over one Memory, which owns the batch. */
#include "batch.h"
#include "target.h"

#include <string.h>

void lxpy_columns_clear(lxpy_columns *columns)
{
    Py_CLEAR(columns->names);
    Py_CLEAR(columns->shapes);
}

static PyObject *make_names(const lx_batch *batch, Py_ssize_t count)
{
    PyObject *names = PyTuple_New(count);
    for (Py_ssize_t i = 0; names != NULL && i < count; i++) {
        PyObject *name = PyUnicode_InternFromString(lx_batch_get_column(batch, (size_t)i)->name);
        if (name == NULL)
            Py_CLEAR(names);
        else
            PyTuple_SET_ITEM(names, i, name);
    }
    return names;
}

static PyObject *make_shapes(const lx_batch *batch, Py_ssize_t count)
{
    PyObject *shapes = PyTuple_New(count);
    for (Py_ssize_t i = 0; shapes != NULL && i < count; i++) {
        const lx_column *column = lx_batch_get_column(batch, (size_t)i);
        PyObject *shape = lxpy_shape_new(column->rows, column->shape, column->ndim);
        if (shape == NULL)
            Py_CLEAR(shapes);
        else
            PyTuple_SET_ITEM(shapes, i, shape);
    }
    return shapes;
}

/** Returns new references to the names and shapes of this batch, and keeps the names and shapes for
 * the next batch. Creating them may switch to another thread, whose batch may have a different
 * number of rows. */
static int describe(lxpy_columns *columns, const lx_batch *batch, PyObject **names,
                    PyObject **shapes)
{
    Py_ssize_t count = (Py_ssize_t)lx_batch_get_column_count(batch);
    uint64_t rows = lx_batch_get_row_count(batch);
    if (columns->names == NULL) {
        PyObject *created = make_names(batch, count);
        if (created == NULL)
            return -1;
        Py_XSETREF(columns->names, created);
    }
    if (columns->shapes == NULL || columns->rows != rows) {
        PyObject *created = make_shapes(batch, count);
        if (created == NULL)
            return -1;
        columns->rows = rows;
        Py_XSETREF(columns->shapes, created);
    }
    *names = Py_NewRef(columns->names);
    *shapes = Py_NewRef(columns->shapes);
    return 0;
}

static void release(void *batch)
{
    lx_batch_unref(batch);
}

/** Returns a Memory that keeps the batch. */
static PyObject *own_memory(lxpy_state *state, void *data, size_t size, lx_batch *batch)
{
    PyObject *memory = lxpy_memory_new(state, data, size, true, lx_batch_ref(batch), release);
    if (memory == NULL)
        lx_batch_unref(batch);
    return memory;
}

/** Returns an object whose buffer contains the columns of fixed size, and the offsets of the
 * others, and stores the address of its first byte in @p start: the owner of the memory if Python
 * has allocated it, or otherwise a Memory that owns the batch. Without columns, the Memory is
 * empty. */
static PyObject *make_memory(lxpy_state *state, lx_batch *batch, const char **start)
{
    size_t count = lx_batch_get_column_count(batch);
    char *first = NULL, *end = NULL;
    for (size_t i = 0; i < count; i++) {
        const lx_column *column = lx_batch_get_column(batch, i);
        const lx_memory *supplied = lx_batch_get_memory(batch, i);
        bool varies = column->offsets != NULL;
        if (supplied != NULL && !varies) {
            *start = supplied->data;
            return Py_NewRef(supplied->owner);
        }
        char *data = varies ? (char *)(uintptr_t)column->offsets : column->data;
        char *end_of_column = data + (varies ? (column->rows + 1) * sizeof(uint64_t)
                                             : column->rows * column->size);
        first = first == NULL || data < first ? data : first;
        end = end_of_column > end ? end_of_column : end;
    }
    *start = first;
    return own_memory(state, first, (size_t)(end - first), batch);
}

static int add_array(lxpy_state *state, PyObject *dict, PyObject *name, PyObject *memory,
                     size_t offset, lx_dtype dtype, PyObject *shape)
{
    PyObject *own = lxpy_dtype(state, dtype);
    PyObject *array = own != NULL ? lxpy_array_new(state, memory, offset, own, shape) : NULL;
    int result = array != NULL ? PyDict_SetItem(dict, name, array) : -1;
    Py_XDECREF(array);
    return result;
}

/** Creates the array of the offsets of a column in items. If an item is a byte, the array shares
 * the memory of the batch. */
static PyObject *make_offsets(lxpy_state *state, const lx_column *column, PyObject *memory,
                              size_t offset)
{
    PyObject *shape = Py_BuildValue("(K)", (unsigned long long)column->rows + 1), *array = NULL;
    lxpy_target target;
    if (shape != NULL && column->item_size == 1) {
        array = lxpy_array_new(state, memory, offset, state->dtypes[LX_INT64], shape);
    } else if (lxpy_target_make(&target, state, shape, LX_INT64) == 0) {
        int64_t *items = target.view.buf;
        for (uint64_t i = 0; i <= column->rows; i++)
            items[i] = (int64_t)(column->offsets[i] / column->item_size); /* below 2^63 */
        array = Py_NewRef(target.object);
        lxpy_target_drop(&target);
    }
    Py_XDECREF(shape);
    return array;
}

/** Creates the array of all values of column @p i. They have a memory of their own, because they
 * may be far from the other columns. */
static PyObject *make_values(lxpy_state *state, lx_batch *batch, size_t i)
{
    const lx_column *column = lx_batch_get_column(batch, i);
    const lx_memory *supplied = lx_batch_get_memory(batch, i);
    uint64_t size = column->offsets[column->rows];
    bool is_bytes = lx_dtype_is_bytes(column->dtype);
    PyObject *dtype = lxpy_dtype(state, is_bytes ? LX_UINT8 : column->dtype), *array = NULL;
    PyObject *shape = dtype != NULL ? lxpy_shape_new(size / column->item_size,
                                                     is_bytes ? NULL : column->shape + 1,
                                                     is_bytes ? 0 : column->ndim - 1)
                                    : NULL;
    char *data = column->data, *start = supplied != NULL ? supplied->data : data;
    PyObject *memory = shape == NULL      ? NULL
                       : supplied != NULL ? Py_NewRef(supplied->owner)
                                          : own_memory(state, data, (size_t)size, batch);
    if (memory != NULL)
        array = lxpy_array_new(state, memory, (size_t)(data - start), dtype, shape);
    Py_XDECREF(memory);
    Py_XDECREF(shape);
    return array;
}

/** Returns the type of the objects that a Ragged makes of values; None for arrays. */
static PyObject *item_of(lx_dtype dtype)
{
    if (dtype == LX_STR || dtype == LX_JSON)
        return (PyObject *)&PyUnicode_Type;
    return lx_dtype_is_bytes(dtype) ? (PyObject *)&PyBytes_Type : Py_None;
}

static int add_ragged(lxpy_state *state, PyObject *dict, PyObject *name, PyObject *memory,
                      const char *start, lx_batch *batch, size_t i)
{
    const lx_column *column = lx_batch_get_column(batch, i);
    size_t offset = (size_t)((const char *)column->offsets - start);
    PyObject *offsets = make_offsets(state, column, memory, offset);
    PyObject *values = offsets != NULL ? make_values(state, batch, i) : NULL;
    PyObject *ragged = values != NULL
                           ? PyObject_CallFunctionObjArgs(LXPY(state, RAGGED), values, offsets,
                                                          item_of(column->dtype), NULL)
                           : NULL;
    int result = ragged != NULL ? PyDict_SetItem(dict, name, ragged) : -1;
    Py_XDECREF(offsets);
    Py_XDECREF(values);
    Py_XDECREF(ragged);
    return result;
}

static int add_column(lxpy_state *state, PyObject *dict, PyObject *name, PyObject *memory,
                      const char *start, PyObject *shape, lx_batch *batch, size_t i)
{
    const lx_column *column = lx_batch_get_column(batch, i);
    if (column->offsets != NULL)
        return add_ragged(state, dict, name, memory, start, batch, i);
    return add_array(state, dict, name, memory, (size_t)((const char *)column->data - start),
                     column->dtype, shape);
}

/** Adds the random keys of the records to @p dict. The keys are not a column of the batch. */
static int add_keys(lxpy_state *state, PyObject *dict, uint64_t seed, const lx_batch *batch)
{
    lxpy_target target;
    PyObject *shape = Py_BuildValue("(KK)", (unsigned long long)lx_batch_get_row_count(batch),
                                    2ull);
    int result = -1;
    if (lxpy_target_make(&target, state, shape, LX_UINT64) == 0) {
        lx_batch_get_keys(batch, seed, target.view.buf);
        result = PyDict_SetItemString(dict, "keys", target.object);
        lxpy_target_drop(&target);
    }
    Py_XDECREF(shape);
    return result;
}

/** Sets the attribute from which the batch computes the others when they are read: as uint64
 * numbers, the position of the batch, the number of records that are not padding, and the indices.
 * It is a copy, so that a batch whose arrays are gone keeps no memory of the library. */
static int set_origin(lxpy_state *state, PyObject *dict, const lx_batch *batch)
{
    const uint64_t head[] = {lx_batch_get_position(batch), lx_batch_get_real_count(batch)};
    size_t size = (size_t)lx_batch_get_row_count(batch) * sizeof(uint64_t);
    PyObject *origin = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(sizeof head + size));
    if (origin == NULL)
        return -1;
    memcpy(PyBytes_AS_STRING(origin), head, sizeof head);
    memcpy(PyBytes_AS_STRING(origin) + sizeof head, lx_batch_get_indices(batch), size);
    int result = PyObject_SetAttr(dict, LXPY(state, ORIGIN), origin);
    Py_DECREF(origin);
    return result;
}

static int add_present(lxpy_state *state, PyObject *present, PyObject *name, PyObject *shape,
                       const uint8_t *marks, uint64_t rows)
{
    lxpy_target target;
    if (lxpy_target_make(&target, state, shape, LX_BOOL) < 0)
        return -1;
    memcpy(target.view.buf, marks, (size_t)rows);
    int result = PyDict_SetItem(present, name, target.object);
    lxpy_target_drop(&target);
    return result;
}

static bool has_marks(const lx_batch *batch)
{
    size_t i = 0, count = lx_batch_get_column_count(batch);
    while (i < count && lx_batch_get_present(batch, i) == NULL)
        i++;
    return i < count;
}

/** Sets the attribute that tells present values from missing ones, for the columns that have
 * marks. */
static int set_present(lxpy_state *state, PyObject *dict, PyObject *names, const lx_batch *batch)
{
    uint64_t rows = lx_batch_get_row_count(batch);
    PyObject *shape = Py_BuildValue("(K)", (unsigned long long)rows), *present = PyDict_New();
    int result = shape != NULL && present != NULL ? 0 : -1;
    for (Py_ssize_t i = 0; result == 0 && i < PyTuple_GET_SIZE(names); i++) {
        const uint8_t *marks = lx_batch_get_present(batch, (size_t)i);
        if (marks != NULL)
            result = add_present(state, present, PyTuple_GET_ITEM(names, i), shape, marks, rows);
    }
    if (result == 0)
        result = PyObject_SetAttr(dict, LXPY(state, PRESENT), present);
    Py_XDECREF(shape);
    Py_XDECREF(present);
    return result;
}

/** Raises an error if a value of the batch is missing. */
static int check_present(lxpy_state *state, const lx_batch *batch)
{
    for (size_t i = 0; i < lx_batch_get_column_count(batch); i++) {
        const uint8_t *marks = lx_batch_get_present(batch, i);
        const uint8_t *none = memchr(marks, 0, (size_t)lx_batch_get_row_count(batch));
        if (none != NULL) {
            lxpy_raise_missing(state, lx_batch_get_column(batch, i)->name,
                               lx_batch_get_indices(batch)[none - marks], "");
            return -1;
        }
    }
    return 0;
}

PyObject *lxpy_batch_to_dict(lxpy_state *state, lxpy_columns *columns, lx_batch *batch)
{
    PyObject *names, *shapes;
    const char *start;
    if ((columns->missing == LXPY_MISSING_CHECK && check_present(state, batch) < 0) ||
        describe(columns, batch, &names, &shapes) < 0) {
        lx_batch_unref(batch);
        return NULL;
    }
    PyObject *memory = make_memory(state, batch, &start);
    PyObject *dict = memory != NULL ? PyObject_CallObject(LXPY(state, BATCH), NULL) : NULL;
    for (Py_ssize_t i = 0; dict != NULL && i < PyTuple_GET_SIZE(names); i++)
        if (add_column(state, dict, PyTuple_GET_ITEM(names, i), memory, start,
                       PyTuple_GET_ITEM(shapes, i), batch, (size_t)i) < 0)
            Py_CLEAR(dict);
    if (dict != NULL && columns->keyed && add_keys(state, dict, columns->seed, batch) < 0)
        Py_CLEAR(dict);
    if (dict != NULL && set_origin(state, dict, batch) < 0)
        Py_CLEAR(dict);
    if (dict != NULL && columns->missing == LXPY_MISSING_CHOSEN && has_marks(batch) &&
        set_present(state, dict, names, batch) < 0)
        Py_CLEAR(dict);
    Py_XDECREF(memory);
    Py_DECREF(names);
    Py_DECREF(shapes);
    lx_batch_unref(batch);
    return dict;
}
