/* SPDX-License-Identifier: MIT */
/* Source: an lx_source, and the Python objects whose memory it reads. */
#include "source.h"

#include "log.h"

static lxpy_source *alloc(lxpy_state *state)
{
    PyTypeObject *type = (PyTypeObject *)LXPY(state, SOURCE_TYPE);
    lxpy_source *self = (lxpy_source *)type->tp_alloc(type, 0);
    if (self != NULL)
        self->state = state;
    return self;
}

lxpy_source *lxpy_source_alloc(PyObject *module)
{
    return alloc(lxpy_state_get(module));
}

PyObject *lxpy_source_wrap(lxpy_state *state, lx_source *handle, PyObject *reads)
{
    lxpy_source *self = alloc(state);
    if (self == NULL) {
        lx_source_unref(handle);
        return NULL;
    }
    self->handle = handle;
    self->reads = Py_NewRef(reads);
    return (PyObject *)self;
}

PyObject *lxpy_source_finish(lxpy_source *self, lx_status status, lx_error *error)
{
    if (status == LX_OK)
        return (PyObject *)self;
    if (error->status >= 0)
        PyErr_NoMemory(); /* this module's sources raise no other error */
    else
        lxpy_raise(self->state, error);
    Py_DECREF(self);
    return NULL;
}

lx_status lxpy_source_of_functions(lx_fill_function fill, lx_release_function release, void *user,
                                   uint64_t length, const lx_column_info *columns, size_t count,
                                   const char *identity, lx_source **source, lx_error *error)
{
    lx_source_options *options = lx_source_options_new();
    lx_status status = options != NULL ? LX_OK : LX_ERR_NOMEM;
    if (status == LX_OK)
        status = lx_source_options_set_fill(options, fill, user, error);
    if (status == LX_OK)
        status = lx_source_options_set_release(options, release, error);
    if (status == LX_OK)
        status = lx_source_options_set_identity(options, identity, error);
    if (status == LX_OK)
        status = lx_source_new(length, columns, count, options, source, error);
    lx_source_options_free(options);
    return status;
}

static void source_dealloc(PyObject *object)
{
    lxpy_source *self = (lxpy_source *)object;
    PyTypeObject *type = Py_TYPE(object);
    lx_source *handle = self->handle;
    if (handle != NULL) /* this may close files */
        LXPY_WITHOUT_GIL(lx_source_unref(handle));
    if (self->view.obj != NULL)
        PyBuffer_Release(&self->view);
    if (self->dataset != NULL)
        lxpy_dataset_leave((lxpy_dataset *)self->dataset, self->snapshot);
    Py_XDECREF(self->dataset);
    Py_XDECREF(self->reads);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *source_get_length(PyObject *object, void *ignored)
{
    (void)ignored;
    return PyLong_FromUnsignedLongLong(lx_source_get_length(((lxpy_source *)object)->handle));
}

/** Returns the name, the name of the type, and the shape of a column. */
static PyObject *describe_column(const lx_column_info *column)
{
    PyObject *shape = lxpy_shape_new(LX_NONE, column->shape, column->ndim);
    return shape != NULL
               ? Py_BuildValue("(ssN)", column->name, lx_dtype_get_name(column->dtype), shape)
               : NULL;
}

static PyObject *source_get_columns(PyObject *object, void *ignored)
{
    lxpy_source *self = (lxpy_source *)object;
    size_t count = lx_source_get_column_count(self->handle);
    PyObject *columns = PyTuple_New((Py_ssize_t)count);
    (void)ignored;
    for (size_t i = 0; columns != NULL && i < count; i++) {
        PyObject *one = describe_column(lx_source_get_column(self->handle, i));
        if (one == NULL)
            Py_CLEAR(columns);
        else
            PyTuple_SET_ITEM(columns, (Py_ssize_t)i, one);
    }
    return columns;
}

static PyGetSetDef source_getset[] = {
    {"length", source_get_length, NULL, "The number of records.", NULL},
    {"columns", source_get_columns, NULL, "The (name, type name, shape) of each column.", NULL},
    {NULL},
};

static lx_status save(const void *handle, char *text, size_t size, size_t *length, lx_error *error)
{
    return lx_source_save(handle, text, size, length, error);
}

static PyObject *source_save(PyObject *object, PyObject *ignored)
{
    lxpy_source *self = (lxpy_source *)object;
    (void)ignored;
    return lxpy_save(self->state, save, self->handle);
}

static PyObject *source_match(PyObject *object, PyObject *args)
{
    lxpy_source *self = (lxpy_source *)object;
    PyObject *state, *choice;
    bool changed;
    lx_error error = LX_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OO", &state, &choice) || lxpy_changed(choice, &changed) < 0)
        return NULL;
    const char *text = lxpy_text(state, "state");
    if (text == NULL)
        return NULL;
    LXPY_WITHOUT_GIL(lx_source_match(self->handle, text, changed, &error));
    lxpy_log_pass_on(self->state);
    if (error.status != LX_OK)
        return lxpy_raise(self->state, &error);
    Py_RETURN_NONE;
}

/** Adds the statistics of the datasets that a source, or a tuple of sources, reads to a dict. */
static int add_remote_stats(PyObject *object, PyObject *found)
{
    if (object == NULL)
        return 0;
    if (PyTuple_Check(object)) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); i++)
            if (add_remote_stats(PyTuple_GET_ITEM(object, i), found) < 0)
                return -1;
        return 0;
    }
    const lxpy_source *self = (lxpy_source *)object;
    if (self->dataset != NULL &&
        lxpy_add_remote_stats((lxpy_dataset *)self->dataset, self->snapshot->dataset, found) < 0)
        return -1;
    return add_remote_stats(self->reads, found);
}

static PyObject *source_remote_stats(PyObject *object, PyObject *ignored)
{
    PyObject *found = PyDict_New();
    (void)ignored;
    if (found != NULL && add_remote_stats(object, found) < 0)
        Py_CLEAR(found);
    return found;
}

static PyMethodDef source_methods[] = {
    {"gather", (PyCFunction)(void (*)(void))lxpy_source_gather, METH_FASTCALL,
     "gather($self, indices, fields, lacking)\n--\n\n"
     "Return a dict of arrays: records of the named columns, or of all columns if `fields` is\n"
     "None. For each column with missing values, add a mask of the values that are present to the\n"
     "dict `lacking`, under the name of the column."},
    {"gather_bytes", lxpy_source_gather_bytes, METH_VARARGS,
     "gather_bytes(indices, name, place=None)\n--\n\n"
     "Return the bytes of values that vary in length as a list."},
    {"get_offsets", lxpy_source_get_offsets, METH_VARARGS,
     "get_offsets(indices, name)\n--\n\n"
     "Return the offsets of values that vary in length, without reading them."},
    {"_save", source_save, METH_NOARGS, NULL},
    {"_match", source_match, METH_VARARGS, NULL},
    {"_remote_stats", source_remote_stats, METH_NOARGS, NULL},
    {NULL},
};

static PyType_Slot source_slots[] = {
    {Py_tp_doc, "The data that a loader reads."},
    {Py_tp_dealloc, source_dealloc},
    {Py_tp_getset, source_getset},
    {Py_tp_methods, source_methods},
    {0, NULL},
};

static PyType_Spec source_spec = {
    .name = "loaderx._core.Source",
    .basicsize = sizeof(lxpy_source),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = source_slots,
};

int lxpy_add_source(PyObject *module)
{
    return lxpy_add_type(module, &source_spec, LXPY_SOURCE_TYPE);
}

lx_source *lxpy_source_get(lxpy_state *state, PyObject *object, const char *argument)
{
    if (Py_TYPE(object) == (PyTypeObject *)LXPY(state, SOURCE_TYPE))
        return ((lxpy_source *)object)->handle;
    PyErr_Format(PyExc_TypeError, "%s must be a source, not %.100s", argument,
                 Py_TYPE(object)->tp_name);
    return NULL;
}
