/* SPDX-License-Identifier: MIT */
/* The functions for other extensions. */
#include "capsule.h"

#include "log.h"
#include "source.h"
#include "thread-state.h"

static void release(PyObject *object)
{
    PyMem_Free(PyCapsule_GetPointer(object, LXPY_CAPSULE));
}

int lxpy_add_capsule(PyObject *module)
{
    lxpy_capsule *capsule = PyMem_Malloc(sizeof *capsule);
    if (capsule == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    *capsule = (lxpy_capsule){lxpy_state_get(module), lxpy_raise,       lxpy_source_get,
                              lxpy_source_wrap,       lxpy_gil_prepare, lxpy_gil_take,
                              lxpy_gil_release,       lxpy_log_pass_on};
    PyObject *object = PyCapsule_New(capsule, LXPY_CAPSULE, release);
    if (object == NULL) {
        PyMem_Free(capsule);
        return -1;
    }
    const char *name = strrchr(LXPY_CAPSULE, '.') + 1;
    int result = PyModule_AddObject(module, name, object);
    if (result < 0)
        Py_DECREF(object);
    return result;
}
