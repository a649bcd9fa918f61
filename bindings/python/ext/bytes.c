/* SPDX-License-Identifier: MIT */
/* Reads bytes fields as bytes objects. */
#include "dataset.h"

#include <string.h>

/* The assumed size of a bytes value, because its length is unknown before it is read. */
#define RECORD ((uint64_t)16 << 10)

/** The concatenated values of a bytes field for some records. */
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
static int make_records(const joined *j, size_t count, PyObject *list, size_t first)
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
static void fill_records(const joined *j, size_t count, PyObject *list, size_t first)
{
    for (size_t i = 0; i < count; i++) {
        size_t size = (size_t)(j->offsets[i + 1] - j->offsets[i]);
        if (size != 0)
            memcpy(PyBytes_AS_STRING(PyList_GET_ITEM(list, (Py_ssize_t)(first + i))),
                   j->data + j->offsets[i], size);
    }
}

static int read_piece(lxpy_reading *self, size_t position, const uint64_t *indices, size_t count,
                      PyObject *list, size_t first)
{
    joined j = {NULL, NULL, NULL};
    lx_error error = LX_ERROR_INIT;
    int result = -1;
    LXPY_WITHOUT_GIL(read_joined(self->handle, position, indices, count, &j, &error));
    if (error.status != LX_OK) {
        lxpy_raise(self->state, &error);
    } else if (make_records(&j, count, list, first) == 0) {
        LXPY_WITHOUT_GIL(fill_records(&j, count, list, first));
        result = 0;
    }
    drop_joined(&j);
    return result;
}

PyObject *lxpy_gather_bytes(lxpy_reading *self, size_t position, const lxpy_indices *indices)
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
