/* SPDX-License-Identifier: MIT */
/* A Source as the files that make and read it know it. */
#ifndef LXPY_SOURCE_H
#define LXPY_SOURCE_H

#include "dataset.h"
#include "objects.h"

/** An lx_source, and the Python objects whose memory it reads. */
typedef struct lxpy_source {
    PyObject_HEAD
    lxpy_state *state;
    lx_source *handle;  /**< Batches may keep it longer than this object, and not read it. */
    PyObject *reads;    /**< Other sources that it reads of; or NULL. */
    PyObject *dataset;  /**< The dataset that it reads; or NULL. */
    lxpy_handle *shown; /**< The state of it that it reads. */
    Py_buffer view;     /**< The array that it reads; obj is NULL without one. */
} lxpy_source;

/** A Source without a handle, which the caller sets; NULL with an exception. */
lxpy_source *lxpy_source_alloc(PyObject *module);

/** As lxpy_source_alloc(), for a source of Tokens, whose handle is given, too (source-tokens.c). */
lxpy_source *lxpy_source_alloc_of_tokens(PyObject *module, PyObject *tokens, lx_tokens **handle);

/** The object, if its handle could be made; else raises why not, and lets go of it. */
PyObject *lxpy_source_finish(lxpy_source *self, lx_status status, lx_error *error);

/* source-gather.c */
PyObject *lxpy_source_gather(PyObject *self, PyObject *const *args, Py_ssize_t count);

/** Makes a source of functions of ours; on failure @p user is not released. */
lx_status lxpy_source_of_functions(lx_fill_function fill, lx_release_function release, void *user,
                                   uint64_t length, const lx_column_info *columns, size_t count,
                                   const char *identity, lx_source **source, lx_error *error);

#endif
