/* SPDX-License-Identifier: MIT */
/* Source, for the files that create and read sources. */
#ifndef LXPY_SOURCE_H
#define LXPY_SOURCE_H

#include "dataset.h"
#include "objects.h"

/** An lx_source, and the Python objects whose memory it reads. */
typedef struct lxpy_source {
    PyObject_HEAD
    lxpy_state *state;
    lx_source *handle;     /**< Batches may keep the source alive after this object is freed, but do
                                not read from it. */
    PyObject *reads;       /**< Other sources that this source reads, or NULL. */
    PyObject *dataset;     /**< The dataset that this source reads, or NULL. */
    lxpy_handle *snapshot; /**< The snapshot of the dataset. */
    Py_buffer view;        /**< The array that this source reads; obj is NULL if there is none. */
} lxpy_source;

/** Creates a Source without a handle, which the caller sets; returns NULL with an exception set on
 * failure. */
lxpy_source *lxpy_source_alloc(PyObject *module);

/** Returns a Source for @p handle, which reads the Source @p reads; takes over the reference to
 * @p handle, even on failure. */
PyObject *lxpy_source_wrap(lxpy_state *state, lx_source *handle, PyObject *reads);

/** Like lxpy_source_alloc(), for a source of Tokens; also returns the handle of the tokens
 * (source-tokens.c). */
lxpy_source *lxpy_source_alloc_of_tokens(PyObject *module, PyObject *tokens, lx_tokens **handle);

/** Returns the object if its handle was created; otherwise raises the error and drops the
 * object. */
PyObject *lxpy_source_finish(lxpy_source *self, lx_status status, lx_error *error);

/* source-gather.c */
PyObject *lxpy_source_gather(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* source-bytes.c */
PyObject *lxpy_source_gather_bytes(PyObject *self, PyObject *args);
PyObject *lxpy_source_get_offsets(PyObject *self, PyObject *args);

/** Creates a source from callbacks; on failure, @p user is not released. */
lx_status lxpy_source_of_functions(lx_fill_function fill, lx_release_function release, void *user,
                                   uint64_t length, const lx_column_info *columns, size_t count,
                                   const char *identity, lx_source **source, lx_error *error);

#endif
