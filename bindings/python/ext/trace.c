/* SPDX-License-Identifier: MIT */
/* Trace: what loaders record, which can be written to a file. */
#include "objects.h"

typedef struct trace {
    PyObject_HEAD
    lxpy_state *state;
    lx_trace *handle;
} trace;

static PyObject *trace_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    lx_error error = LX_ERROR_INIT;
    lxpy_state *state = lxpy_state_find(type);
    if (state == NULL)
        return NULL;
    if (PyTuple_GET_SIZE(args) != 0 || (kwargs != NULL && PyDict_GET_SIZE(kwargs) != 0)) {
        PyErr_SetString(PyExc_TypeError, "Trace takes no arguments");
        return NULL;
    }
    trace *self = (trace *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->state = state;
    if (lx_trace_new(&self->handle, &error) != LX_OK) {
        Py_DECREF(self);
        return lxpy_raise(state, &error);
    }
    return (PyObject *)self;
}

static void trace_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    lx_trace_unref(((trace *)object)->handle);
    type->tp_free(object);
    Py_DECREF(type);
}

lx_trace *lxpy_trace_get(lxpy_state *state, PyObject *object, const char *argument)
{
    if (Py_IS_TYPE(object, (PyTypeObject *)LXPY(state, TRACE_TYPE)))
        return ((trace *)object)->handle;
    PyErr_Format(PyExc_TypeError, "%s must be a Trace, not %.200s", argument,
                 Py_TYPE(object)->tp_name);
    return NULL;
}

static PyObject *trace_write(PyObject *object, PyObject *argument)
{
    trace *self = (trace *)object;
    lx_error error = LX_ERROR_INIT;
    PyObject *path = lxpy_path(argument, "path");
    if (path == NULL)
        return NULL;
    LXPY_WITHOUT_GIL(lx_trace_write(self->handle, PyBytes_AS_STRING(path), &error));
    Py_DECREF(path);
    if (error.status != LX_OK)
        return lxpy_raise(self->state, &error);
    Py_RETURN_NONE;
}

static PyMethodDef trace_methods[] = {
    {"write", trace_write, METH_O,
     "write(path)\n--\n\n"
     "Write what was recorded to a file."},
    {NULL},
};

static PyType_Slot trace_slots[] = {
    {Py_tp_doc, "What loaders do, span by span."},
    {Py_tp_new, trace_new},
    {Py_tp_dealloc, trace_dealloc},
    {Py_tp_methods, trace_methods},
    {0, NULL},
};

static PyType_Spec trace_spec = {
    .name = "loaderx._core.Trace",
    .basicsize = sizeof(trace),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = trace_slots,
};

int lxpy_add_trace(PyObject *module)
{
    return lxpy_add_type(module, &trace_spec, LXPY_TRACE_TYPE);
}
