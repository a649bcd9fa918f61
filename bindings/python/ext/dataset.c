/* SPDX-License-Identifier: MIT */
/* Dataset: opens, refreshes and closes a dataset that is read. */
#include "dataset.h"

static const char *const verify_names[] = {"first", "always", "never", NULL};
/* In the order of lx_access. */
static const char *const access_names[] = {"auto", "mmap", "pread", NULL};
static const char *const damage_names[] = {"raise", "zeros", NULL};

/** What a dataset is opened with, as Python gave it; NULL where it did not. */
typedef struct arguments {
    PyObject *path, *verify, *durable, *live, *on_damage, *access, *executor;
} arguments;

/* ---------------------------------------------------------------- open, close */

static lx_dataset_options *make_options(lxpy_state *state, const arguments *given, lx_error *error)
{
    int when = LX_VERIFY_FIRST, damage = LX_DAMAGE_RAISE, access = LX_ACCESS_AUTO;
    bool durable = false, live = false;
    lx_executor *executor;
    if ((given->verify != NULL && lxpy_choice(given->verify, "verify", verify_names, &when) < 0) ||
        (given->durable != NULL && lxpy_bool(given->durable, "durable", &durable) < 0) ||
        (given->live != NULL && lxpy_bool(given->live, "live", &live) < 0) ||
        (given->on_damage != NULL &&
         lxpy_choice(given->on_damage, "on_damage", damage_names, &damage) < 0) ||
        (given->access != NULL &&
         lxpy_choice(given->access, "access", access_names, &access) < 0) ||
        lxpy_executor_get(state, given->executor, "executor", &executor) < 0)
        return NULL;
    lx_dataset_options *options = lx_dataset_options_new();
    if (options == NULL) {
        lx_executor_unref(executor);
        return (lx_dataset_options *)PyErr_NoMemory();
    }
    lx_dataset_options_set_verify_policy(options, (lx_verify_policy)when, error);
    lx_dataset_options_set_durable(options, durable, error);
    lx_dataset_options_set_live(options, live, error);
    lx_dataset_options_set_damage_policy(options, (lx_damage_policy)damage, error);
    lx_dataset_options_set_access(options, (lx_access)access, error);
    lx_dataset_options_set_executor(options, executor, error);
    lx_executor_unref(executor);
    return options;
}

/** Opens what is at @p path (bytes); NULL with an exception. */
static lx_dataset *open_handle(lxpy_state *state, PyObject *path, const arguments *given)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *handle = NULL;
    lx_dataset_options *options = make_options(state, given, &error);
    if (options == NULL)
        return NULL;
    LXPY_WITHOUT_GIL(lx_dataset_open(PyBytes_AS_STRING(path), options, &handle, &error));
    lx_dataset_options_free(options);
    if (error.status != LX_OK)
        return (lx_dataset *)lxpy_raise(state, &error);
    return handle;
}

/** A Dataset that shows @p dataset, which it owns, on failure too. */
static lxpy_dataset *make_dataset(PyTypeObject *type, lxpy_state *state, lx_dataset *dataset,
                                  lxpy_schema *schema, PyObject *path)
{
    lxpy_handle *handle = lxpy_handle_new(dataset);
    lxpy_dataset *self = handle != NULL ? (lxpy_dataset *)type->tp_alloc(type, 0) : NULL;
    if (self == NULL) {
        if (handle != NULL)
            LXPY_WITHOUT_GIL(lx_dataset_close(dataset));
        PyMem_Free(handle);
        return NULL;
    }
    self->state = state;
    self->shown = handle;
    self->schema = lxpy_schema_ref(schema);
    self->path = Py_NewRef(path);
    return self;
}

/** What a handle that was opened at @p path (bytes) becomes. */
static PyObject *wrap(PyTypeObject *type, lxpy_state *state, lx_dataset *dataset, PyObject *path,
                      bool live)
{
    lxpy_schema *schema = lxpy_schema_new(state, lx_dataset_get_schema(dataset));
    PyObject *text = schema != NULL ? PyUnicode_DecodeFSDefault(PyBytes_AS_STRING(path)) : NULL;
    lxpy_dataset *self = NULL;
    if (text != NULL)
        self = make_dataset(type, state, dataset, schema, text);
    else
        LXPY_WITHOUT_GIL(lx_dataset_close(dataset));
    if (self != NULL)
        self->live = live;
    Py_XDECREF(text);
    lxpy_schema_unref(schema);
    return (PyObject *)self;
}

static PyObject *dataset_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"path",      "verify", "durable",  "live",
                            "on_damage", "access", "executor", NULL};
    arguments given = {NULL, NULL, NULL, NULL, NULL, NULL, NULL};
    lxpy_state *state = lxpy_state_find(type);
    if (state == NULL ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OOOOOO:Dataset", names, &given.path,
                                     &given.verify, &given.durable, &given.live, &given.on_damage,
                                     &given.access, &given.executor))
        return NULL;
    PyObject *path = lxpy_path(given.path, "path");
    lx_dataset *handle = path != NULL ? open_handle(state, path, &given) : NULL;
    PyObject *self = handle != NULL ? wrap(type, state, handle, path, given.live == Py_True) : NULL;
    Py_XDECREF(path);
    return self;
}

PyObject *lxpy_dataset_new_pinned(PyObject *object, PyObject *ignored)
{
    lxpy_reading reading;
    lx_dataset *pinned = NULL;
    lx_error error = LX_ERROR_INIT;
    (void)ignored;
    if (lxpy_reading_begin(&reading, object) < 0)
        return NULL;
    lx_dataset_pin(reading.handle, &pinned, &error);
    lxpy_reading_end(&reading);
    if (error.status != LX_OK)
        return lxpy_raise(reading.state, &error);
    lxpy_dataset *self = (lxpy_dataset *)object;
    return (PyObject *)make_dataset(Py_TYPE(object), self->state, pinned, self->schema, self->path);
}

static void dataset_dealloc(PyObject *object)
{
    lxpy_dataset *self = (lxpy_dataset *)object;
    PyTypeObject *type = Py_TYPE(object);
    lxpy_dataset_leave(self, self->shown);
    lxpy_schema_unref(self->schema);
    Py_XDECREF(self->path);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *dataset_close(PyObject *object, PyObject *ignored)
{
    lxpy_dataset *self = (lxpy_dataset *)object;
    lxpy_handle *shown = self->shown;
    (void)ignored;
    self->shown = NULL;
    lxpy_dataset_leave(self, shown);
    Py_RETURN_NONE;
}

/* -------------------------------------------------------------------- facts */

static Py_ssize_t dataset_length(PyObject *object)
{
    lxpy_dataset *self = (lxpy_dataset *)object;
    lxpy_handle *shown = lxpy_dataset_enter(self);
    uint64_t length;
    if (shown == NULL)
        return -1;
    if (self->live)
        LXPY_WITHOUT_GIL(length = lx_dataset_get_length(shown->dataset));
    else
        length = lx_dataset_get_length(shown->dataset);
    lxpy_dataset_leave(self, shown);
    if (length > PY_SSIZE_T_MAX) {
        PyErr_SetString(PyExc_OverflowError, "there are more records than len() can tell");
        return -1;
    }
    return (Py_ssize_t)length;
}

static PyObject *dataset_get_identity(PyObject *object, void *ignored)
{
    lxpy_reading reading;
    lx_dataset_identity identity;
    (void)ignored;
    if (lxpy_reading_begin(&reading, object) < 0)
        return NULL;
    lx_dataset_get_identity(reading.handle, &identity);
    lxpy_reading_end(&reading);
    return Py_BuildValue(
        "{s:s, s:K, s:K, s:k, s:N}", "uuid", identity.uuid, "generation",
        (unsigned long long)identity.generation, "sequence", (unsigned long long)identity.sequence,
        "checksum", (unsigned long)identity.checksum, "sealed", PyBool_FromLong(identity.sealed));
}

const char *lxpy_access_name(lx_access access)
{
    return access_names[access];
}

static PyObject *dataset_get_access(PyObject *object, void *ignored)
{
    lxpy_reading reading;
    (void)ignored;
    if (lxpy_reading_begin(&reading, object) < 0)
        return NULL;
    lx_access access = lx_dataset_get_access(reading.handle, NULL);
    lxpy_reading_end(&reading);
    return PyUnicode_FromString(lxpy_access_name(access));
}

static PyObject *dataset_get_damaged(PyObject *object, void *ignored)
{
    lxpy_dataset *self = (lxpy_dataset *)object;
    lx_dataset_stats stats = {.damaged = self->damaged};
    (void)ignored;
    if (self->shown != NULL)
        lx_dataset_get_stats(self->shown->dataset, &stats);
    return PyLong_FromUnsignedLongLong(stats.damaged);
}

static PyObject *dataset_get_live(PyObject *object, void *ignored)
{
    (void)ignored;
    return PyBool_FromLong(((lxpy_dataset *)object)->live);
}

static PyObject *dataset_get_closed(PyObject *object, void *ignored)
{
    (void)ignored;
    return PyBool_FromLong(((lxpy_dataset *)object)->shown == NULL);
}

static PyObject *dataset_get_path(PyObject *object, void *ignored)
{
    (void)ignored;
    return Py_NewRef(((lxpy_dataset *)object)->path);
}

static PyObject *dataset_describe(PyObject *object, PyObject *ignored)
{
    (void)ignored;
    return lxpy_schema_describe(((lxpy_dataset *)object)->schema);
}

/* --------------------------------------------------------------------- type */

#define FAST (PyCFunction)(void (*)(void))

static PyMethodDef dataset_methods[] = {
    {"close", dataset_close, METH_NOARGS,
     "close($self)\n--\n\n"
     "Close the dataset. Arrays that were given out stay. May be called again."},
    {"refresh", lxpy_dataset_refresh, METH_NOARGS,
     "refresh($self)\n--\n\n"
     "Go on to what was committed last. Calls that run, and loaders, keep the state they have.\n\n"
     "Returns\n-------\nbool\n    Whether that is another state than the one read until now: a\n"
     "    commit that changed something came, or files of the dataset were made anew.\n\n"
     "Raises\n------\nLoaderxError\n"
     "    A field that is shown was dropped, or another dataset is at the path: open it again."},
    {"wait", FAST lxpy_dataset_wait, METH_FASTCALL | METH_KEYWORDS,
     "wait($self, length, timeout=None)\n--\n\n"
     "Wait until there are so many records, and go on to what was committed last.\n\n"
     "Parameters\n----------\n"
     "length : int\n    Records that there must be.\n"
     "timeout : float, optional\n    Seconds to wait at most; None: as long as it takes.\n\n"
     "Returns\n-------\nint\n    How many there are.\n\n"
     "Raises\n------\nTimeoutError\n    There are fewer, of what was committed until then."},
    {"_pin", lxpy_dataset_new_pinned, METH_NOARGS,
     "_pin($self)\n--\n\n"
     "Another Dataset on the state that this one shows now."},
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
    {"probe", FAST lxpy_dataset_probe, METH_FASTCALL | METH_KEYWORDS,
     "probe($self, indices, fields=None)\n--\n\n"
     "Tell which records are damaged: checks and decompresses them, whatever `verify` says.\n\n"
     "Parameters\n----------\n"
     "indices : sequence of int, slice or mask\n    Which records.\n"
     "fields : sequence of str, optional\n    Which of their values; all by default.\n\n"
     "Returns\n-------\narray of bool\n    True where one of the values is damaged."},
    {"stat", lxpy_dataset_stat, METH_NOARGS,
     "stat($self)\n--\n\n"
     "Add up the sizes of the dataset, its fields and its chunks.\n\n"
     "Returns\n-------\ndict\n"
     "    What ``loaderx stat --json`` prints. Bytes of chunks are live where some record refers\n"
     "    to them; the dead ones are what `Writer.rebalance` gives back."},
    {"_resolve", lxpy_dataset_resolve, METH_O,
     "_resolve($self, indices)\n--\n\n"
     "Indices as an array of them, without negative ones."},
    {"_verify", FAST lxpy_dataset_verify, METH_FASTCALL,
     "_verify($self, damaged, progress)\n--\n\n"
     "Read everything and check every checksum."},
    {"_backup", FAST lxpy_dataset_backup, METH_FASTCALL,
     "_backup($self, path, progress)\n--\n\n"
     "Copy the state that is read to another directory."},
    {"_export", FAST lxpy_dataset_export, METH_FASTCALL,
     "_export($self, field, path, indices, suffix, progress)\n--\n\n"
     "Write a field to an .npy file, or to files where there is a suffix."},
    {"_repair", FAST lxpy_dataset_repair, METH_FASTCALL | METH_CLASS,
     "_repair($type, path, into, delete, apply, found, progress)\n--\n\n"
     "Repair a damaged dataset, or recover it into a new directory."},
    {"_unseal", lxpy_dataset_unseal, METH_O | METH_CLASS,
     "_unseal($type, path)\n--\n\n"
     "Take the seal off the dataset at a path."},
    {"_get", FAST lxpy_dataset_get, METH_FASTCALL,
     "_get($self, field, key)\n--\n\n"
     "One record or several of a field."},
    {"_record", lxpy_dataset_record, METH_O,
     "_record($self, index)\n--\n\n"
     "One record of all fields."},
    {"_present", FAST lxpy_dataset_present, METH_FASTCALL,
     "_present($self, field, indices)\n--\n\n"
     "Which records have a value, as a bool array."},
    {"_views", FAST lxpy_dataset_views, METH_FASTCALL,
     "_views($self, indices, fields)\n--\n\n"
     "Records where they lie, as a dict of lists."},
    {"_remove", lxpy_dataset_remove, METH_O | METH_CLASS,
     "_remove($type, path)\n--\n\n"
     "Remove the dataset at a path, and the directory."},
    {"_describe", dataset_describe, METH_NOARGS, "_describe($self)\n--\n\nThe fields, as tuples."},
    {NULL},
};

static PyGetSetDef dataset_getset[] = {
    {"path", dataset_get_path, NULL, "The dataset's directory, as it was opened.", NULL},
    {"closed", dataset_get_closed, NULL, "Whether it is closed.", NULL},
    {"live", dataset_get_live, NULL, "Whether each call shows what was committed last.", NULL},
    {"access", dataset_get_access, NULL, "How files are read: 'mmap' or 'pread'.", NULL},
    {"damaged", dataset_get_damaged, NULL,
     "Damaged values that were met so far: those that made a call fail, and those that were read\n"
     "as missing.",
     NULL},
    {"identity", dataset_get_identity, NULL,
     "What tells this dataset, and the state of it that is read, from all others: a dict of uuid,\n"
     "generation, epoch, crc and sealed.",
     NULL},
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
