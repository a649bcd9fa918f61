/* SPDX-License-Identifier: MIT */
#include "progress.h"

/** Stores a callable in @p to, or NULL for None and for an argument that was not passed. */
static int take_callable(PyObject **to, PyObject *object, const char *argument)
{
    *to = object != Py_None ? object : NULL;
    if (*to == NULL || PyCallable_Check(*to))
        return 0;
    PyErr_Format(PyExc_TypeError, "%s must be callable or None, not %.100s", argument,
                 Py_TYPE(object)->tp_name);
    return -1;
}

int lxpy_callbacks_init(lxpy_callbacks *callbacks, lxpy_state *state, PyObject *progress,
                        PyObject *found)
{
    *callbacks = (lxpy_callbacks){.state = state};
    return take_callable(&callbacks->progress, progress, "progress") < 0 ||
                   take_callable(&callbacks->found, found, "found") < 0
               ? -1
               : 0;
}

void lxpy_callbacks_begin(lxpy_callbacks *callbacks)
{
    callbacks->thread = PyEval_SaveThread();
}

void lxpy_callbacks_end(lxpy_callbacks *callbacks)
{
    PyEval_RestoreThread(callbacks->thread);
}

/** Calls @p function, if it is not NULL, with the tuple @p arguments, and drops the reference to
 * the tuple. @p arguments is NULL if creating the tuple failed. Returns the result, or NULL after
 * an exception. */
static PyObject *call(lxpy_callbacks *callbacks, PyObject *function, PyObject *arguments)
{
    PyObject *result = NULL;
    if (callbacks->callback_thread != NULL)
        *callbacks->callback_thread = PyThread_get_thread_ident();
    if (arguments != NULL)
        result = function != NULL ? PyObject_CallObject(function, arguments) : Py_NewRef(Py_None);
    if (result != NULL && PyErr_CheckSignals() < 0)
        Py_CLEAR(result);
    if (result == NULL)
        callbacks->raised = true;
    Py_XDECREF(arguments);
    if (callbacks->callback_thread != NULL)
        *callbacks->callback_thread = 0;
    return result;
}

lx_status lxpy_report_progress(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    (void)error;
    lxpy_callbacks *callbacks = user;
    PyEval_RestoreThread(callbacks->thread);
    Py_XDECREF(call(callbacks, callbacks->progress,
                    Py_BuildValue("(KK)", (unsigned long long)done, (unsigned long long)total)));
    callbacks->thread = PyEval_SaveThread();
    return callbacks->raised ? LX_ERR_CALLBACK : LX_OK;
}

lx_status lxpy_report_finding(lxpy_callbacks *callbacks,
                              PyObject *(*make)(lxpy_callbacks *, const void *), const void *what)
{
    if (callbacks->found == NULL)
        return LX_OK;
    PyEval_RestoreThread(callbacks->thread);
    PyObject *made = make(callbacks, what);
    Py_XDECREF(call(callbacks, callbacks->found, made != NULL ? PyTuple_Pack(1, made) : NULL));
    Py_XDECREF(made);
    callbacks->thread = PyEval_SaveThread();
    return callbacks->raised ? LX_ERR_CALLBACK : LX_OK;
}

lx_status lxpy_call_back(lxpy_callbacks *callbacks, PyObject *function,
                         PyObject *(*make)(void *user), int (*take)(PyObject *result, void *user),
                         void *user)
{
    PyEval_RestoreThread(callbacks->thread);
    PyObject *result = call(callbacks, function, make(user));
    if (result != NULL && take(result, user) < 0)
        callbacks->raised = true;
    Py_XDECREF(result);
    callbacks->thread = PyEval_SaveThread();
    return callbacks->raised ? LX_ERR_CALLBACK : LX_OK;
}
