/* SPDX-License-Identifier: MIT */
/* Dataset: opens, refreshes and closes a dataset that is read. */
#include "dataset.h"

static const char *const verify_names[] = {"first", "always", "never", NULL};

int lxpy_dataset_enter(lxpy_dataset *self)
{
    if (self->closed) {
        lxpy_raise_closed(self->state, "dataset", self->path);
        return -1;
    }
    self->users++;
    return 0;
}

void lxpy_dataset_leave(lxpy_dataset *self)
{
    self->users--;
    if (!self->closed || self->users != 0)
        return;
    lx_dataset *handle = self->handle;
    self->handle = NULL;
    LXPY_WITHOUT_GIL(lx_dataset_close(handle));
}

/* ---------------------------------------------------------------- open, close */

static lx_dataset_options *make_options(lxpy_state *state, PyObject *verify, PyObject *durable,
                                        PyObject *executor, lx_error *error)
{
    int when = LX_VERIFY_FIRST;
    bool only_durable = false;
    lx_executor *cleaner;
    if ((verify != NULL && lxpy_choice(verify, "verify", verify_names, &when) < 0) ||
        (durable != NULL && lxpy_bool(durable, "durable", &only_durable) < 0))
        return NULL;
    if (lxpy_executor_get(state, executor, "executor", &cleaner) < 0)
        return NULL;
    lx_dataset_options *options = lx_dataset_options_new();
    if (options == NULL) {
        lx_executor_unref(cleaner);
        return (lx_dataset_options *)PyErr_NoMemory();
    }
    lx_dataset_options_set_verify(options, (lx_verify)when, error);
    lx_dataset_options_set_durable(options, only_durable, error);
    lx_dataset_options_set_executor(options, cleaner, error);
    lx_executor_unref(cleaner);
    return options;
}

/** Opens what is at @p path (bytes); NULL with an exception. */
static lx_dataset *open_handle(lxpy_state *state, PyObject *path, PyObject *verify,
                               PyObject *durable, PyObject *executor)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *handle = NULL;
    lx_dataset_options *options = make_options(state, verify, durable, executor, &error);
    if (options == NULL)
        return NULL;
    LXPY_WITHOUT_GIL(
        lx_dataset_open(PyBytes_AS_STRING(path), options, &handle, &error));
    lx_dataset_options_free(options);
    if (error.status != LX_OK)
        return (lx_dataset *)lxpy_raise(state, &error);
    return handle;
}

static PyObject *dataset_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"path", "verify", "durable", "executor", NULL};
    PyObject *object, *verify = NULL, *durable = NULL, *executor = NULL;
    lxpy_state *state = lxpy_state_find(type);
    if (state == NULL || !PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OOO:Dataset", names,
                                                      &object, &verify, &durable, &executor))
        return NULL;
    PyObject *path = lxpy_path(object, "path");
    lx_dataset *handle =
        path != NULL ? open_handle(state, path, verify, durable, executor) : NULL;
    lxpy_dataset *self = handle != NULL ? (lxpy_dataset *)type->tp_alloc(type, 0) : NULL;
    if (self == NULL) {
        LXPY_WITHOUT_GIL(lx_dataset_close(handle));
        Py_XDECREF(path);
        return NULL;
    }
    self->state = state;
    self->handle = handle;
    self->path = PyUnicode_DecodeFSDefault(PyBytes_AS_STRING(path));
    Py_DECREF(path);
    if (self->path == NULL ||
        lxpy_schema_take(&self->schema, state, lx_dataset_get_schema(handle)) < 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void dataset_dealloc(PyObject *object)
{
    lxpy_dataset *self = (lxpy_dataset *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->handle != NULL)
        LXPY_WITHOUT_GIL(lx_dataset_close(self->handle));
    lxpy_schema_clear(&self->schema);
    Py_XDECREF(self->path);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *dataset_close(PyObject *object, PyObject *ignored)
{
    lxpy_dataset *self = (lxpy_dataset *)object;
    (void)ignored;
    if (!self->closed) {
        self->users++;
        self->closed = true;
        lxpy_dataset_leave(self);
    }
    Py_RETURN_NONE;
}

static PyObject *dataset_remove(PyObject *type, PyObject *object)
{
    lx_error error = LX_ERROR_INIT;
    lxpy_state *state = lxpy_state_find((PyTypeObject *)type);
    PyObject *path = state != NULL ? lxpy_path(object, "path") : NULL;
    if (path == NULL)
        return NULL;
    LXPY_WITHOUT_GIL(lx_dataset_remove(PyBytes_AS_STRING(path), &error));
    Py_DECREF(path);
    if (error.status != LX_OK)
        return lxpy_raise(state, &error);
    Py_RETURN_NONE;
}

static PyObject *dataset_refresh(PyObject *object, PyObject *ignored)
{
    lxpy_dataset *self = (lxpy_dataset *)object;
    lx_error error = LX_ERROR_INIT;
    bool changed = false;
    (void)ignored;
    if (lxpy_dataset_enter(self) < 0)
        return NULL;
    if (self->pins != 0) {
        lxpy_dataset_leave(self);
        return lxpy_raise_status(self->state, LX_ERR_STATE,
                                 "a loader reads this dataset in the state it is in: open the "
                                 "dataset again to see what came later");
    }
    self->refreshes++;
    LXPY_WITHOUT_GIL(lx_dataset_refresh(self->handle, &changed, &error));
    self->refreshes--;
    lxpy_dataset_leave(self);
    return error.status == LX_OK ? PyBool_FromLong(changed) : lxpy_raise(self->state, &error);
}

/* -------------------------------------------------------------------- facts */

static Py_ssize_t dataset_length(PyObject *object)
{
    lxpy_dataset *self = (lxpy_dataset *)object;
    if (lxpy_dataset_enter(self) < 0)
        return -1;
    uint64_t length = lx_dataset_get_length(self->handle);
    lxpy_dataset_leave(self);
    if (length > PY_SSIZE_T_MAX) {
        PyErr_SetString(PyExc_OverflowError, "there are more records than len() can tell");
        return -1;
    }
    return (Py_ssize_t)length;
}

static PyObject *dataset_get_identity(PyObject *object, void *ignored)
{
    lxpy_dataset *self = (lxpy_dataset *)object;
    lx_identity identity;
    (void)ignored;
    if (lxpy_dataset_enter(self) < 0)
        return NULL;
    lx_dataset_get_identity(self->handle, &identity);
    lxpy_dataset_leave(self);
    return Py_BuildValue("{s:s, s:K, s:K, s:k, s:N}", "uuid", identity.uuid, "generation",
                         (unsigned long long)identity.generation, "epoch",
                         (unsigned long long)identity.epoch, "crc", (unsigned long)identity.crc,
                         "sealed", PyBool_FromLong(identity.sealed != 0));
}

static PyObject *dataset_get_closed(PyObject *object, void *ignored)
{
    (void)ignored;
    return PyBool_FromLong(((lxpy_dataset *)object)->closed);
}

static PyObject *dataset_get_path(PyObject *object, void *ignored)
{
    (void)ignored;
    return Py_NewRef(((lxpy_dataset *)object)->path);
}

static PyObject *dataset_describe(PyObject *object, PyObject *ignored)
{
    (void)ignored;
    return lxpy_schema_describe(&((lxpy_dataset *)object)->schema);
}

/* --------------------------------------------------------------------- type */

#define FAST (PyCFunction)(void (*)(void))

static PyMethodDef dataset_methods[] = {
    {"close", dataset_close, METH_NOARGS,
     "close($self)\n--\n\n"
     "Close the dataset. Arrays that were given out stay. May be called again."},
    {"refresh", dataset_refresh, METH_NOARGS,
     "refresh($self)\n--\n\n"
     "Go on to what was committed last.\n\n"
     "Returns\n-------\nbool\n    Whether that is another state than the one read until now."},
    {"gather", FAST lxpy_dataset_gather, METH_FASTCALL | METH_KEYWORDS,
     "gather($self, indices, fields=None, out=None)\n--\n\n"
     "Read records, in the order asked for.\n\n"
     "Parameters\n----------\n"
     "indices : sequence of int, slice or mask\n"
     "    Negative indices count from the end; an index may come more than once.\n"
     "fields : sequence of str, optional\n"
     "    Default: those of `out`, if it is given, else all.\n"
     "out : dict of str to writable buffer, optional\n"
     "    Memory for dense fields, of the field's dtype, C-contiguous, and as large as the array\n"
     "    that would be returned. It is filled and returned in place of a new array.\n\n"
     "Returns\n-------\ndict\n"
     "    For a dense field an array (len(indices), *shape), with zeros where a record is\n"
     "    missing; for a field of bytes a list, with None where a record is missing."},
    {"verify", FAST lxpy_dataset_verify, METH_FASTCALL | METH_KEYWORDS,
     "verify($self, damaged=None, progress=None)\n--\n\n"
     "Read everything and check every checksum.\n\n"
     "Parameters\n----------\n"
     "damaged : callable, optional\n    Called with a CorruptError for each damage.\n"
     "progress : callable, optional\n    Called with the records done, and all, now and then.\n\n"
     "Returns\n-------\ndict\n"
     "    How many records, values and bytes were looked at.\n\n"
     "Raises\n------\nCorruptError\n    The first damage, after all else was looked at."},
    {"stat", lxpy_dataset_stat, METH_NOARGS,
     "stat($self)\n--\n\n"
     "Add up the sizes of the dataset, its fields and its chunks.\n\n"
     "Returns\n-------\ndict\n    What ``loaderx stat --json`` prints."},
    {"_get", FAST lxpy_dataset_get, METH_FASTCALL, "_get($self, field, key)\n--\n\n"
     "One record or several of a field."},
    {"_record", lxpy_dataset_record, METH_O, "_record($self, index)\n--\n\n"
     "One record of all fields."},
    {"_present", FAST lxpy_dataset_present, METH_FASTCALL, "_present($self, field, indices)\n--\n\n"
     "Which records have a value, as a bool array."},
    {"_views", FAST lxpy_dataset_views, METH_FASTCALL, "_views($self, indices, fields)\n--\n\n"
     "Records where they lie, as a dict of lists."},
    {"_remove", dataset_remove, METH_O | METH_CLASS, "_remove($type, path)\n--\n\n"
     "Remove the dataset at a path, and the directory."},
    {"_describe", dataset_describe, METH_NOARGS, "_describe($self)\n--\n\nThe fields, as tuples."},
    {NULL},
};

static PyGetSetDef dataset_getset[] = {
    {"path", dataset_get_path, NULL, "The dataset's directory, as it was opened.", NULL},
    {"closed", dataset_get_closed, NULL, "Whether it is closed.", NULL},
    {"identity", dataset_get_identity, NULL,
     "What tells this dataset, and the state of it that is read, from all others: a dict of uuid,\n"
     "generation, epoch, crc and sealed.", NULL},
    {NULL},
};

static PyType_Slot dataset_slots[] = {
    {Py_tp_doc, "A dataset that is read."},
    {Py_tp_new, dataset_new},
    {Py_tp_dealloc, dataset_dealloc},
    {Py_tp_methods, dataset_methods},
    {Py_tp_getset, dataset_getset},
    {Py_mp_length, dataset_length},
    {0, NULL},
};

static PyType_Spec dataset_spec = {
    .name = "loaderx._core.Dataset",
    .basicsize = sizeof(lxpy_dataset),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = dataset_slots,
};

int lxpy_add_dataset(PyObject *module)
{
    return lxpy_add_type(module, &dataset_spec, LXPY_DATASET_TYPE);
}

/* --------------------------------------------------------------------- pins */

int lxpy_dataset_pin(lxpy_state *state, PyObject *object, const char *argument,
                     lx_dataset **handle)
{
    lxpy_dataset *self = (lxpy_dataset *)object;
    if (!PyObject_TypeCheck(object, (PyTypeObject *)LXPY(state, DATASET_TYPE))) {
        PyErr_Format(PyExc_TypeError, "%s must be a loaderx.Dataset, not %.100s", argument,
                     Py_TYPE(object)->tp_name);
        return -1;
    }
    if (lxpy_dataset_enter(self) < 0)
        return -1;
    if (self->refreshes != 0) {
        lxpy_dataset_leave(self);
        lxpy_raise_status(state, LX_ERR_STATE,
                          "another thread refreshes the dataset given as %s", argument);
        return -1;
    }
    self->pins++;
    *handle = self->handle;
    return 0;
}

void lxpy_dataset_unpin(PyObject *object)
{
    lxpy_dataset *self = (lxpy_dataset *)object;
    self->pins--;
    lxpy_dataset_leave(self);
}
