/* SPDX-License-Identifier: MIT */
/* What the files of the Dataset share. */
#ifndef LXPY_DATASET_H
#define LXPY_DATASET_H

#include "indices.h"
#include "schema.h"

/**
 * A dataset that is read. Its members change with the GIL held. Any number of threads may read
 * without it; closing waits for none of them: the last to leave closes the library's handle.
 */
typedef struct lxpy_dataset {
    PyObject_HEAD
    lxpy_state *state;
    lx_dataset *handle;   /**< NULL when it is closed and nobody is in it. */
    bool closed;          /**< Nobody enters any more. */
    Py_ssize_t users;     /**< Calls that run, and pins. */
    Py_ssize_t pins;      /**< Sources over it: it must not be refreshed. */
    Py_ssize_t refreshes; /**< Calls of refresh that run: it must not be pinned. */
    PyObject *path;
    lxpy_schema schema;
} lxpy_dataset;

/** Enters it for a call; -1 with LoaderxError raised if it is closed. */
int lxpy_dataset_enter(lxpy_dataset *dataset);
void lxpy_dataset_leave(lxpy_dataset *dataset);

/* gather.c */
PyObject *lxpy_dataset_gather(PyObject *self, PyObject *const *args, Py_ssize_t count,
                              PyObject *kwnames);

/** Records of one field: @p out or, if that is NULL, a new array; a list for bytes. */
PyObject *lxpy_gather_field(lxpy_dataset *dataset, size_t position, const lxpy_indices *indices,
                            PyObject *out);

/** Copies dense records to @p out, where they follow each other. */
int lxpy_copy_dense(lxpy_dataset *dataset, size_t position, const uint64_t *indices, size_t count,
                    char *out);

/** Records of @p size bytes that are read between two looks at the signals. */
size_t lxpy_piece_of(uint64_t size);

/* bytes.c */
PyObject *lxpy_gather_bytes(lxpy_dataset *dataset, size_t position, const lxpy_indices *indices);

/* item.c */
PyObject *lxpy_dataset_get(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *lxpy_dataset_record(PyObject *self, PyObject *index);
PyObject *lxpy_dataset_present(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* views.c */
PyObject *lxpy_dataset_views(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* report.c */
PyObject *lxpy_dataset_stat(PyObject *self, PyObject *ignored);
PyObject *lxpy_dataset_verify(PyObject *self, PyObject *const *args, Py_ssize_t count,
                              PyObject *kwnames);

/** The positions of the fields of an argument, all for None; freed by PyMem_Free(). */
size_t *lxpy_take_fields(const lxpy_schema *schema, PyObject *object, size_t *count);

#endif
