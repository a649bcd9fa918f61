/* SPDX-License-Identifier: MIT */
/* Memory of batches that Python allocates. An array or a tensor over it keeps it alive, but not the
 * batch. */
#include "engine.h"

#include "thread-state.h"

/** Moves the current exception to @p error. */
static lx_status fail(lx_error *error)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *text = value != NULL ? PyObject_Str(value) : NULL;
    const char *why = text != NULL ? PyUnicode_AsUTF8(text) : NULL;
    PyErr_Clear();
    lx_status status = lx_fail(error, LX_ERR_NOMEM, "cannot allocate memory for a batch: %s",
                               why != NULL ? why : "unknown error");
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return status;
}

/** Returns an array over a new tensor. Calls no Python code that is compiled to bytecode: it could
 * be interrupted by a signal, whose exception would be taken for a lack of memory. */
static PyObject *new_array(PyObject *allocate, size_t size)
{
    PyObject *tensor = PyObject_CallFunction(allocate, "n", (Py_ssize_t)size);
    PyObject *array = tensor != NULL ? PyObject_CallMethod(tensor, "numpy", NULL) : NULL;
    Py_XDECREF(tensor);
    return array;
}

static lx_status allocate(lxpy_engine *engine, size_t size, lx_memory *memory, lx_error *error)
{
    Py_buffer view;
    PyObject *array = new_array(engine->allocate, size);
    if (array == NULL || PyObject_GetBuffer(array, &view, PyBUF_WRITABLE) < 0) {
        lx_status status = fail(error);
        Py_XDECREF(array);
        return status;
    }
    bool fits = view.len == (Py_ssize_t)size;
    memory->data = view.buf;
    memory->owner = array;
    PyBuffer_Release(&view); /* the array keeps the memory where it is */
    if (fits)
        return LX_OK;
    Py_DECREF(array);
    return lx_fail(error, LX_ERR_NOMEM, "a tensor for %zu bytes has another size", size);
}

lx_status lxpy_allocate(size_t size, void *user, lx_memory *memory, lx_error *error)
{
    PyGILState_STATE gil;
    lx_status status = lxpy_gil_take(&gil, error);
    if (status != LX_OK)
        return status;
    status = allocate(user, size, memory, error);
    lxpy_gil_release(gil);
    return status;
}

void lxpy_release(const lx_memory *memory, void *user)
{
    PyGILState_STATE gil;
    lx_error ignored = LX_ERROR_INIT;
    (void)user;
    if (lxpy_gil_take(&gil, &ignored) != LX_OK) /* the process is ending */
        return;
    Py_DECREF((PyObject *)memory->owner);
    lxpy_gil_release(gil);
}
