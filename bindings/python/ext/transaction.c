/* SPDX-License-Identifier: MIT */
/* Commits, rolls back and closes a writer. */
#include "ticket.h"
#include "writer.h"

/** Raises the error for a call that is not allowed within a with-block. */
static PyObject *fail_inside(lxpy_writer *self, const char *name)
{
    return lxpy_raise_status(self->state, LX_ERR_STATE,
                             "%s() is not allowed within the with-block: leaving the block commits "
                             "and closes the dataset; an exception rolls back",
                             name);
}

/* --------------------------------------------------------------------- commit */

static PyObject *submit(lxpy_writer *self)
{
    lx_error error = LX_ERROR_INIT;
    lx_ticket *ticket = NULL;
    if (lxpy_writer_enter(self) < 0)
        return NULL;
    LXPY_WITHOUT_GIL(lx_writer_submit_commit(self->handle, &ticket, &error));
    lxpy_writer_leave(self);
    if (error.status != LX_OK)
        return lxpy_raise(self->state, &error);
    return lxpy_ticket_new(self->state, ticket);
}

PyObject *lxpy_writer_commit(PyObject *object, PyObject *const *args, Py_ssize_t count,
                             PyObject *kwnames)
{
    static const char *const names[] = {"wait", NULL};
    lxpy_writer *self = (lxpy_writer *)object;
    PyObject *values[1];
    bool wait = true;
    if (lxpy_arguments("commit", names, 1, 0, args, count, kwnames, values) < 0 ||
        (values[0] != NULL && lxpy_bool(values[0], names[0], &wait) < 0))
        return NULL;
    if (self->inside)
        return fail_inside(self, "commit");
    return wait ? lxpy_writer_call(self, lx_writer_commit) : submit(self);
}

/** Commits and seals within a with-block. If sealing fails, the block continues. */
static lx_status seal_inside(lx_writer *writer, lx_error *error)
{
    lx_status status = lx_writer_end_transaction(writer, error);
    if (status != LX_OK)
        return status;
    status = lx_writer_seal(writer, error);
    if (status != LX_OK)
        (void)lx_writer_begin_transaction(writer, NULL);
    return status;
}

PyObject *lxpy_writer_seal(PyObject *object, PyObject *ignored)
{
    lxpy_writer *self = (lxpy_writer *)object;
    bool inside = self->inside && !self->sealed;
    (void)ignored;
    PyObject *result = lxpy_writer_call(self, inside ? seal_inside : lx_writer_seal);
    self->sealed = inside ? result != NULL : self->sealed;
    return result;
}

PyObject *lxpy_writer_rollback(PyObject *object, PyObject *ignored)
{
    lxpy_writer *self = (lxpy_writer *)object;
    (void)ignored;
    return self->inside ? fail_inside(self, "rollback")
                        : lxpy_writer_call(self, lx_writer_rollback);
}

/* ---------------------------------------------------------------------- close */

/** Closes the handle once no call is using it; does nothing if the writer is already closed. */
static PyObject *close_handle(lxpy_writer *self)
{
    lx_error error = LX_ERROR_INIT;
    if (lxpy_writer_enter_exclusive(self) < 0)
        return NULL;
    lx_writer *handle = self->handle;
    self->handle = NULL;
    LXPY_WITHOUT_GIL(lx_writer_close(handle, &error));
    lxpy_writer_leave_exclusive(self);
    if (error.status != LX_OK)
        return lxpy_raise(self->state, &error);
    Py_RETURN_NONE;
}

PyObject *lxpy_writer_close(PyObject *object, PyObject *ignored)
{
    lxpy_writer *self = (lxpy_writer *)object;
    (void)ignored;
    return self->inside ? fail_inside(self, "close") : close_handle(self);
}

/* ---------------------------------------------------------------- transaction */

PyObject *lxpy_writer_begin(PyObject *object, PyObject *ignored)
{
    lxpy_writer *self = (lxpy_writer *)object;
    (void)ignored;
    if (self->inside)
        return fail_inside(self, "__enter__");
    PyObject *result = lxpy_writer_call(self, lx_writer_begin_transaction);
    self->inside = result != NULL;
    return result;
}

/** The exception that was set, if any, saved so that later code runs without it. */
typedef struct saved {
    PyObject *type, *value, *traceback;
} saved;

PyObject *lxpy_writer_finish(PyObject *object, PyObject *commit)
{
    lxpy_writer *self = (lxpy_writer *)object;
    saved first;
    PyObject *result = NULL;
    self->inside = false;
    if (self->sealed)
        result = Py_NewRef(Py_None);
    else
        result = lxpy_writer_call(self, commit == Py_True ? lx_writer_end_transaction
                                                          : lx_writer_rollback);
    PyErr_Fetch(&first.type, &first.value, &first.traceback);
    PyObject *closed = close_handle(self); /* even if the transaction failed */
    if (first.type != NULL)
        PyErr_Restore(first.type, first.value, first.traceback);
    Py_XDECREF(closed);
    if (result != NULL && closed == NULL)
        Py_CLEAR(result);
    return result;
}
