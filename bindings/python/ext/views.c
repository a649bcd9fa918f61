/* SPDX-License-Identifier: MIT */
/* Views of records in the dataset's own memory, without a copy. */
#include "dataset.h"

static void release_view(void *view)
{
    LXPY_WITHOUT_GIL(lx_view_free(view)); /* freeing the last reference may unmap files */
}

static void release_holder(void *holder)
{
    Py_DECREF((PyObject *)holder);
}

/** Creates the array of a record. */
static PyObject *array_of(lxpy_state *state, const lxpy_field *field, lx_slice slice,
                          PyObject *memory)
{
    PyObject *dtype = lxpy_dtype(state, field->type), *array = NULL;
    PyObject *shape = field->size != LX_NONE
                          ? Py_NewRef(field->shape)
                          : lxpy_field_shape(field, slice.size / field->item_size);
    if (dtype != NULL && shape != NULL)
        array = lxpy_array_new(state, memory, 0, dtype, shape);
    Py_XDECREF(shape);
    return array;
}

/** Creates a view of a record; the view references @p holder. */
static PyObject *show(lxpy_state *state, const lxpy_field *field, lx_slice slice, PyObject *holder)
{
    if (slice.data == NULL)
        Py_RETURN_NONE;
    PyObject *memory = lxpy_memory_new(state, (void *)slice.data, (size_t)slice.size, false, holder,
                                       release_holder);
    if (memory == NULL)
        return NULL;
    Py_INCREF(holder);
    PyObject *current = lx_dtype_is_bytes(field->type) ? PyMemoryView_FromObject(memory)
                                                       : array_of(state, field, slice, memory);
    Py_DECREF(memory);
    return current;
}

static PyObject *show_all(lxpy_state *state, const lxpy_field *field, const lx_slice *slices,
                          size_t count, PyObject *holder)
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *record = show(state, field, slices[i], holder);
        if (record == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)i, record);
    }
    return list;
}

/** Returns a list of the views of a field's records; @p slices is scratch memory. */
static PyObject *view_field(lxpy_reading *self, size_t position, const lxpy_indices *indices,
                            lx_slice *slices)
{
    lx_error error = LX_ERROR_INIT;
    lx_view *view = NULL;
    LXPY_WITHOUT_GIL(lx_dataset_view(self->handle, position, indices->numbers, indices->count,
                                     slices, &view, &error));
    if (error.status != LX_OK)
        return lxpy_raise(self->state, &error);
    PyObject *holder = lxpy_memory_new(self->state, NULL, 0, false, view, release_view);
    if (holder == NULL) {
        lx_view_free(view);
        return NULL;
    }
    PyObject *list = show_all(self->state, &self->schema->fields[position], slices, indices->count,
                              holder);
    Py_DECREF(holder);
    return list;
}

static PyObject *view_all(lxpy_reading *self, const lxpy_indices *indices, const size_t *positions,
                          size_t count, void *user)
{
    (void)user;
    lx_slice *slices = PyMem_Malloc((indices->count + 1) * sizeof *slices);
    PyObject *result = slices != NULL ? PyDict_New() : PyErr_NoMemory();
    for (size_t i = 0; result != NULL && i < count; i++) {
        PyObject *list = view_field(self, positions[i], indices, slices);
        if (list == NULL ||
            PyDict_SetItem(result, self->schema->fields[positions[i]].name, list) < 0)
            Py_CLEAR(result);
        Py_XDECREF(list);
    }
    PyMem_Free(slices);
    return result;
}

PyObject *lxpy_dataset_views(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"indices", "fields", NULL};
    PyObject *values[2];
    if (lxpy_arguments("_views", names, 2, 2, args, count, NULL, values) < 0)
        return NULL;
    return lxpy_reading_call(object, values[0], values[1], view_all, NULL);
}
