/* SPDX-License-Identifier: MIT */
/* Private to the files of Dataset. */
#ifndef LXPY_DATASET_H
#define LXPY_DATASET_H

#include "indices.h"
#include "schema.h"

/** A counted handle of the library, closed with its last reference. */
typedef struct lxpy_handle {
    Py_ssize_t users; /**< The Dataset that shows it, calls that read, and sources. */
    lx_dataset *dataset;
} lxpy_handle;

/**
 * A dataset that is read. Its members change with the GIL held. Any number of threads may read
 * without it. A refresh puts another handle in the place of the one that is shown, so each call
 * reads one state from its beginning to its end, and so does a loader; closing does not wait for
 * readers.
 */
typedef struct lxpy_dataset {
    PyObject_HEAD
    lxpy_state *state;
    lxpy_handle *shown; /**< NULL once it is closed. */
    bool live;          /**< Each call shows the newest state. */
    uint64_t damaged;   /**< What its handles had counted when one was closed last. */
    PyObject *path;
    lxpy_schema *schema;
} lxpy_dataset;

/** One call that reads: what it needs, in one state. */
typedef struct lxpy_reading {
    lxpy_state *state;
    lx_dataset *handle;
    const lxpy_schema *schema;
    lxpy_dataset *dataset;
    lxpy_handle *shown; /**< Whose user it is. */
    bool pinned;        /**< The handle is its own. */
} lxpy_reading;

/** 0, or -1 with TypeError raised, which names @p argument, where @p object is no Dataset. */
int lxpy_dataset_check(lxpy_state *state, PyObject *object, const char *argument);

/** A handle with one user, which owns @p dataset, on failure too; NULL with an exception. */
lxpy_handle *lxpy_handle_new(lx_dataset *dataset);

/** Begins a call that reads; -1 with an exception raised, LoaderxError if the dataset is closed. */
int lxpy_reading_begin(lxpy_reading *reading, PyObject *dataset);
void lxpy_reading_end(lxpy_reading *reading);

/** Makes an object from records and @p count fields, by position; NULL with an exception. */
typedef PyObject *lxpy_select(lxpy_reading *reading, const lxpy_indices *indices,
                              const size_t *positions, size_t count, void *user);

/** A call that reads: @p select is given the records @p which and the fields @p fields of
 * @p dataset, and @p user. */
PyObject *lxpy_reading_call(PyObject *dataset, PyObject *which, PyObject *fields,
                            lxpy_select *select, void *user);

/** References the dataset's current handle; NULL with LoaderxError raised if it is closed. */
lxpy_handle *lxpy_dataset_enter(lxpy_dataset *dataset);
void lxpy_dataset_leave(lxpy_dataset *dataset, lxpy_handle *handle);

/** Replaces the handle by @p dataset, which it owns even on failure; -1 with an exception. */
int lxpy_dataset_show(lxpy_dataset *self, lx_dataset *dataset);

/* refresh.c */
PyObject *lxpy_dataset_refresh(PyObject *self, PyObject *ignored);
PyObject *lxpy_dataset_wait(PyObject *self, PyObject *const *args, Py_ssize_t count,
                            PyObject *kwnames);

/* gather.c */
PyObject *lxpy_dataset_gather(PyObject *self, PyObject *const *args, Py_ssize_t count,
                              PyObject *kwnames);

/** Records of one field: @p out or, if that is NULL, a new array; a list for bytes. */
PyObject *lxpy_gather_field(lxpy_reading *reading, size_t position, const lxpy_indices *indices,
                            PyObject *out);

/** Copies dense records to @p out, where they follow each other. */
int lxpy_copy_dense(lxpy_reading *reading, size_t position, const uint64_t *indices, size_t count,
                    char *out);

/** Records of @p size bytes to read between two checks for signals. */
size_t lxpy_piece_of(uint64_t size);

/* bytes.c */
PyObject *lxpy_gather_bytes(lxpy_reading *reading, size_t position, const lxpy_indices *indices);

/* item.c */
PyObject *lxpy_dataset_get(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *lxpy_dataset_record(PyObject *self, PyObject *index);
PyObject *lxpy_dataset_present(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* views.c */
PyObject *lxpy_dataset_views(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* report.c */
PyObject *lxpy_dataset_stat(PyObject *self, PyObject *ignored);

/** The name of an access mode in Python. */
const char *lxpy_access_name(lx_access access);
PyObject *lxpy_dataset_verify(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *lxpy_dataset_probe(PyObject *self, PyObject *const *args, Py_ssize_t count,
                             PyObject *kwnames);
PyObject *lxpy_dataset_resolve(PyObject *self, PyObject *indices);

/* maintenance.c; the first argument of the last three is the type */
PyObject *lxpy_dataset_backup(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *lxpy_dataset_export(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *lxpy_dataset_repair(PyObject *type, PyObject *const *args, Py_ssize_t count);
PyObject *lxpy_dataset_remove(PyObject *type, PyObject *path);
PyObject *lxpy_dataset_unseal(PyObject *type, PyObject *path);

/** The positions of the fields of an argument, all for None; freed by PyMem_Free(). */
size_t *lxpy_take_fields(const lxpy_schema *schema, PyObject *object, size_t *count);

#endif
