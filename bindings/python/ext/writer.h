/* SPDX-License-Identifier: MIT */
/* What the files of the Writer share. */
#ifndef LXPY_WRITER_H
#define LXPY_WRITER_H

#include "value.h"

#include <sys/types.h>

/** A dataset that is written. */
typedef struct lxpy_writer {
    PyObject_HEAD
    lxpy_state *state;
    lx_writer *handle;       /**< NULL once it is closed; under @ref lock. */
    PyThread_type_lock lock; /**< Held while a call of the library runs: closing waits for it. */
    pid_t process;           /**< That opened it. */
    bool inside;             /**< Within a with-block; with the GIL held. */
    PyObject *path;
    lxpy_schema schema;
} lxpy_writer;

/** Begins a call of the library; -1 with an exception if the writer is closed. */
int lxpy_writer_enter(lxpy_writer *writer);
void lxpy_writer_leave(lxpy_writer *writer);

/* writer-open.c */

/** What a writer is opened with, as Python gave it; NULL where it did not. */
typedef struct lxpy_writer_arguments {
    PyObject *path, *fields, *durability, *level, *chunk_records, *chunk_bytes, *executor;
} lxpy_writer_arguments;

/** Creates the dataset at @p path (bytes), if there are fields, or opens the one that is there. */
lx_writer *lxpy_writer_open(lxpy_state *state, const lxpy_writer_arguments *given, PyObject *path);

/* append.c */
PyObject *lxpy_writer_append(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *lxpy_writer_extend(PyObject *self, PyObject *args, PyObject *kwargs);

#endif
