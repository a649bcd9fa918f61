/* SPDX-License-Identifier: MIT */
/* Private to the implementation of Writer. */
#ifndef LXPY_WRITER_H
#define LXPY_WRITER_H

#include "field-values.h"
#include "progress.h"
#include "rwlock.h"

/** A dataset that is open for writing. Its members are protected by the GIL. */
typedef struct lxpy_writer {
    PyObject_HEAD
    lxpy_state *state;
    lx_writer *handle;  /**< NULL after close(). */
    lxpy_rwlock rwlock; /**< Calls share the lock; closing the writer and changing fields require
                             exclusive use. */
    unsigned forks;     /**< Fork count of the process that opened the writer. */
    unsigned long callback_thread; /**< The thread that is in the progress function, or 0. */
    bool inside;                   /**< Within a with-block. */
    bool sealed;      /**< Sealed in that block: nothing is left to commit or roll back. */
    bool append_only; /**< Existing records must not change. */
    PyObject *path;
    lxpy_schema *schema; /**< Replaced when fields change; never NULL. */
} lxpy_writer;

/** Begins a shared call to the library; returns -1 with an exception set if the writer is
 * closed. */
int lxpy_writer_enter(lxpy_writer *writer);

/** Like lxpy_writer_enter(), for a call with values converted for @p schema; also returns -1 if the
 * schema has changed since the conversion. */
int lxpy_writer_enter_with(lxpy_writer *writer, const lxpy_schema *schema);

void lxpy_writer_leave(lxpy_writer *writer);

/** Returns 0, or -1 with LoaderxError if the writer is closed. */
int lxpy_writer_check_open(lxpy_writer *writer);

/** Begins a call that excludes all other calls; the writer may be closed. */
int lxpy_writer_enter_exclusive(lxpy_writer *writer);
void lxpy_writer_leave_exclusive(lxpy_writer *writer);

/** Calls a function of the library that takes no argument except the writer. */
PyObject *lxpy_writer_call(lxpy_writer *writer, lx_status (*function)(lx_writer *, lx_error *));

/** Gets the number of records; returns -1 with an exception set on failure. */
int lxpy_writer_length(lxpy_writer *writer, uint64_t *length);

/** Returns 0, or -1 with LoaderxError if the writer is open for appending only. */
int lxpy_writer_check_change(lxpy_writer *writer);

/* card.c */

/** Entries of a card, which borrow the texts of the dict. */
typedef struct lxpy_card {
    lx_card_entry *entries; /**< Free with PyMem_Free(). */
    size_t count;
} lxpy_card;

/** Takes a dict of str to str, or None for an entry to be removed. Returns -1 with an exception on
 * failure. The caller owns the only reference to the dict. */
int lxpy_card_take(lxpy_card *card, PyObject *dict);

/* writer-open.c */

/** The arguments of a writer; NULL for arguments that were not passed. */
typedef struct lxpy_writer_arguments {
    PyObject *path, *fields, *durability, *level, *chunk_records, *chunk_bytes, *executor;
    PyObject *append_only, *card;
} lxpy_writer_arguments;

/** Creates the options that the arguments describe; returns NULL with an exception set if they are
 * invalid. @p error is filled in if the library refuses one. */
lx_writer_options *lxpy_writer_options(lxpy_state *state, const lxpy_writer_arguments *params,
                                       lx_error *error);

/** Creates the dataset at @p path (bytes) if @p fields are given, otherwise opens it. */
lx_writer *lxpy_writer_open(lxpy_state *state, const lxpy_writer_arguments *params, PyObject *path);

/* append.c */
PyObject *lxpy_writer_append(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *lxpy_writer_extend(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *lxpy_writer_copy(PyObject *self, PyObject *const *args, Py_ssize_t count,
                           PyObject *kwnames);

/* arrow.c */
PyObject *lxpy_writer_extend_arrow(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* change.c */
int lxpy_writer_assign(PyObject *self, PyObject *key, PyObject *values);
PyObject *lxpy_writer_modify(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *lxpy_writer_truncate(PyObject *self, PyObject *length);

/* fields.c */

/** An operation, which is run without the GIL and while no transaction is open. */
typedef lx_status lxpy_job(lx_writer *writer, void *what, lx_error *error);

/** Runs an operation that changes fields. @p callbacks are those of the operation, or NULL. Returns
 * None, or NULL with an exception set. */
PyObject *lxpy_writer_change_fields(lxpy_writer *self, lxpy_job *job, void *what,
                                    lxpy_callbacks *callbacks);
PyObject *lxpy_writer_add_field(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *lxpy_writer_drop_field(PyObject *self, PyObject *name);
PyObject *lxpy_writer_rename_field(PyObject *self, PyObject *const *args, Py_ssize_t count,
                                   PyObject *kwnames);
PyObject *lxpy_writer_set_compression(PyObject *self, PyObject *const *args, Py_ssize_t count,
                                      PyObject *kwnames);
PyObject *lxpy_writer_set_card(PyObject *self, PyObject *dict);
PyObject *lxpy_writer_commit_card(PyObject *self, PyObject *dict);
PyObject *lxpy_writer_train_dictionary(PyObject *self, PyObject *const *args, Py_ssize_t count,
                                       PyObject *kwnames);
PyObject *lxpy_writer_checkpoint(PyObject *self, PyObject *ignored);
PyObject *lxpy_writer_rebalance(PyObject *self, PyObject *progress);
PyObject *lxpy_writer_remove_old_files(PyObject *self, PyObject *ignored);

/* cast.c */
PyObject *lxpy_writer_convert_field(PyObject *self, PyObject *const *args, Py_ssize_t count);

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
