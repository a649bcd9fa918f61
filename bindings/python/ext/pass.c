/* SPDX-License-Identifier: MIT */
/* Pass: an iterator over the batches of a Loader. It ends for good at the end of the epochs. */
#include "engine.h"

typedef struct pass {
    PyObject_HEAD
    PyObject *loader; /**< NULL after the end. */
} pass;

PyObject *lxpy_pass_new(lxpy_state *state, PyObject *loader)
{
    pass *self = PyObject_GC_New(pass, (PyTypeObject *)LXPY(state, PASS_TYPE));
    if (self == NULL)
        return NULL;
    self->loader = Py_NewRef(loader);
    PyObject_GC_Track(self);
    return (PyObject *)self;
}

void lxpy_pass_end(PyObject *object)
{
    pass *self = (pass *)object;
    PyObject *loader = self->loader;
    if (loader == NULL)
        return;
    self->loader = NULL;
    lxpy_loader_release(loader);
    Py_DECREF(loader);
}

bool lxpy_pass_has_ended(PyObject *object)
{
    return object != NULL && ((pass *)object)->loader == NULL;
}

static int pass_clear(PyObject *object)
{
    lxpy_pass_end(object);
    return 0;
}

static int pass_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((pass *)object)->loader);
    return 0;
}

static void pass_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    lxpy_pass_end(object);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

static PyObject *pass_next(PyObject *object)
{
    PyObject *loader = ((pass *)object)->loader;
    if (loader == NULL)
        return NULL;
    Py_INCREF(loader); /* another thread may end the pass */
    PyObject *batch = lxpy_loader_next(loader, object);
    if (batch == NULL && !PyErr_Occurred())
        lxpy_pass_end(object);
    Py_DECREF(loader);
    return batch;
}

static PyType_Slot pass_slots[] = {
    {Py_tp_doc, "An iterator over the batches of one pass of a loader."},
    {Py_tp_dealloc, pass_dealloc},
    {Py_tp_traverse, pass_traverse},
    {Py_tp_clear, pass_clear},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, pass_next},
    {0, NULL},
};

static PyType_Spec pass_spec = {
    .name = "loaderx._core.Pass",
    .basicsize = sizeof(pass),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = pass_slots,
};

int lxpy_add_pass(PyObject *module)
{
    return lxpy_add_type(module, &pass_spec, LXPY_PASS_TYPE);
}
