/* SPDX-License-Identifier: MIT */
#include "progress.h"

/** A callable, or NULL for None and for what was not given. */
static int take_callable(PyObject **to, PyObject *object, const char *argument)
{
    *to = object != Py_None ? object : NULL;
    if (*to == NULL || PyCallable_Check(*to))
        return 0;
    PyErr_Format(PyExc_TypeError, "%s must be callable or None, not %.100s", argument,
                 Py_TYPE(object)->tp_name);
    return -1;
}

int lxpy_teller_init(lxpy_teller *teller, lxpy_state *state, PyObject *progress, PyObject *found)
{
    *teller = (lxpy_teller){.state = state};
    return take_callable(&teller->progress, progress, "progress") < 0 ||
                   take_callable(&teller->found, found, "found") < 0
               ? -1
               : 0;
}

void lxpy_teller_begin(lxpy_teller *teller)
{
    teller->thread = PyEval_SaveThread();
}

void lxpy_teller_end(lxpy_teller *teller)
{
    PyEval_RestoreThread(teller->thread);
}

/** Calls @p function, if there is one, with a tuple, which is given up; NULL is a failure. */
static void call(lxpy_teller *teller, PyObject *function, PyObject *arguments)
{
    PyObject *result = NULL;
    if (teller->reporter != NULL)
        *teller->reporter = PyThread_get_thread_ident();
    if (arguments != NULL)
        result = function != NULL ? PyObject_CallObject(function, arguments) : Py_NewRef(Py_None);
    if (result == NULL || PyErr_CheckSignals() < 0)
        teller->raised = true;
    Py_XDECREF(result);
    Py_XDECREF(arguments);
    if (teller->reporter != NULL)
        *teller->reporter = 0;
}

lx_status lxpy_tell_progress(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    (void)error;
    lxpy_teller *teller = user;
    PyEval_RestoreThread(teller->thread);
    call(teller, teller->progress,
         Py_BuildValue("(KK)", (unsigned long long)done, (unsigned long long)total));
    teller->thread = PyEval_SaveThread();
    return teller->raised ? LX_ERR_CALLBACK : LX_OK;
}

lx_status lxpy_tell_found(lxpy_teller *teller, PyObject *(*make)(lxpy_teller *, const void *),
                          const void *what)
{
    if (teller->found == NULL)
        return LX_OK;
    PyEval_RestoreThread(teller->thread);
    PyObject *made = make(teller, what);
    call(teller, teller->found, made != NULL ? PyTuple_Pack(1, made) : NULL);
    Py_XDECREF(made);
    teller->thread = PyEval_SaveThread();
    return teller->raised ? LX_ERR_CALLBACK : LX_OK;
}
