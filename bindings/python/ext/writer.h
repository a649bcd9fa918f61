/* SPDX-License-Identifier: MIT */
/* Private to the files of Writer. */
#ifndef LXPY_WRITER_H
#define LXPY_WRITER_H

#include "rwlock.h"
#include "field-values.h"

/** A dataset that is written. Its members change with the GIL held. */
typedef struct lxpy_writer {
    PyObject_HEAD
    lxpy_state *state;
    lx_writer *handle;      /**< NULL once it is closed. */
    lxpy_rwlock rwlock;     /**< Shared by calls; closing and changes of fields take it alone. */
    unsigned forks;         /**< In which process it was opened. */
    unsigned long reporter; /**< The thread that is in the caller's progress function; or 0. */
    bool inside;            /**< Within a with-block. */
    bool sealed;            /**< In that block: nothing is left to commit or roll back. */
    bool append_only;       /**< What is there must not be changed. */
    PyObject *path;
    lxpy_schema *schema; /**< Another one when fields change; never NULL. */
} lxpy_writer;

/** Begins a call of the library; -1 with an exception if the writer is closed. */
int lxpy_writer_enter(lxpy_writer *writer);

/** Begins a call with values that were taken for @p schema; -1 too if that has changed since. */
int lxpy_writer_enter_with(lxpy_writer *writer, const lxpy_schema *schema);

void lxpy_writer_leave(lxpy_writer *writer);

/** 0, or -1 with LoaderxError raised. */
int lxpy_writer_check_open(lxpy_writer *writer);

/** Begins a call while no other runs; it may be closed. */
int lxpy_writer_enter_alone(lxpy_writer *writer);
void lxpy_writer_leave_alone(lxpy_writer *writer);

/** Calls one of those that take nothing else. */
PyObject *lxpy_writer_call(lxpy_writer *writer, lx_status (*function)(lx_writer *, lx_error *));

/** The records that there are; -1 with an exception. */
int lxpy_writer_length(lxpy_writer *writer, uint64_t *length);

/** 0, or -1 with LoaderxError raised if only appending is allowed. */
int lxpy_writer_check_change(lxpy_writer *writer);

/* writer-open.c */

/** The arguments of a writer; NULL for those not passed. */
typedef struct lxpy_writer_arguments {
    PyObject *path, *fields, *durability, *level, *chunk_records, *chunk_bytes, *executor;
    PyObject *append_only;
} lxpy_writer_arguments;

/** Creates the dataset at @p path (bytes) if @p fields are given, otherwise opens it. */
lx_writer *lxpy_writer_open(lxpy_state *state, const lxpy_writer_arguments *given, PyObject *path);

/* append.c */
PyObject *lxpy_writer_append(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *lxpy_writer_extend(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *lxpy_writer_copy(PyObject *self, PyObject *const *args, Py_ssize_t count,
                           PyObject *kwnames);

/* change.c */
int lxpy_writer_assign(PyObject *self, PyObject *key, PyObject *values);
PyObject *lxpy_writer_modify(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *lxpy_writer_truncate(PyObject *self, PyObject *length);

/* fields.c */
PyObject *lxpy_writer_add_field(PyObject *self, PyObject *description);
PyObject *lxpy_writer_drop_field(PyObject *self, PyObject *name);
PyObject *lxpy_writer_rename_field(PyObject *self, PyObject *const *args, Py_ssize_t count,
                                   PyObject *kwnames);
PyObject *lxpy_writer_checkpoint(PyObject *self, PyObject *ignored);
PyObject *lxpy_writer_rebalance(PyObject *self, PyObject *progress);

/* delete.c */
PyObject *lxpy_writer_delete(PyObject *self, PyObject *key);

/* transaction.c */
PyObject *lxpy_writer_commit(PyObject *self, PyObject *const *args, Py_ssize_t count,
                             PyObject *kwnames);
PyObject *lxpy_writer_rollback(PyObject *self, PyObject *ignored);
PyObject *lxpy_writer_seal(PyObject *self, PyObject *ignored);
PyObject *lxpy_writer_close(PyObject *self, PyObject *ignored);
PyObject *lxpy_writer_begin(PyObject *self, PyObject *ignored);
PyObject *lxpy_writer_finish(PyObject *self, PyObject *commit);

#endif
