/* SPDX-License-Identifier: MIT */
/* Publishing datasets at URLs, and removing what nobody needs there any more. */
#include "module.h"

#include <loaderx/remote.h>

lx_status lxpy_remote_push(const lxpy_opener *self, lx_dataset *dataset, const char *url,
                           bool replace, lx_progress_function progress, void *user, uint64_t *sent,
                           lx_error *error)
{
    return lx_dataset_push(dataset, url, self->options, replace, progress, user, sent, error);
}

/** A list of the files that a prune removes. */
typedef struct pruning {
    PyObject *files;
    PyThreadState *thread; /**< The thread state while the GIL is released. */
} pruning;

static lx_status add_file(const lx_pruned_file *file, void *user, lx_error *error)
{
    pruning *self = user;
    (void)error;
    PyEval_RestoreThread(self->thread);
    PyObject *name = PyUnicode_DecodeFSDefault(file->name);
    PyObject *one = Py_BuildValue("(NKL)", name, (unsigned long long)file->bytes,
                                  (long long)file->modified);
    bool added = one != NULL && PyList_Append(self->files, one) == 0 && PyErr_CheckSignals() == 0;
    Py_XDECREF(one);
    self->thread = PyEval_SaveThread();
    return added ? LX_OK : LX_ERR_CALLBACK;
}

PyObject *lxpy_remote_prune(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    const char *url;
    unsigned long long older;
    int dry_run;
    lx_error error = LX_ERROR_INIT;
    (void)module;
    if (!PyArg_ParseTuple(args, "yOKp:prune", &url, &capsule, &older, &dry_run))
        return NULL;
    const lxpy_opener *opener = PyCapsule_GetPointer(capsule, LXPY_OPENER);
    pruning self = {.files = opener != NULL ? PyList_New(0) : NULL};
    if (self.files == NULL)
        return NULL;
    self.thread = PyEval_SaveThread();
    lx_remote_prune(url, opener->options, older, dry_run != 0, add_file, &self, NULL, &error);
    PyEval_RestoreThread(self.thread);
    if (error.status == LX_OK)
        return self.files;
    Py_DECREF(self.files);
    return PyErr_Occurred() ? NULL : opener->shared->raise(opener->shared->state, &error);
}
