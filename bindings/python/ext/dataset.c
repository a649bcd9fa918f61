/* SPDX-License-Identifier: MIT */
/* Dataset: opens, refreshes and closes a dataset for reading. */
#include "dataset.h"

#include "log.h"

static const char *const verify_names[] = {"first", "always", "never", NULL};
/* The names, in the order of lx_access. */
static const char *const access_names[] = {"auto", "mmap", "pread", NULL};
static const char *const damage_names[] = {"raise", "zeros", NULL};

/** The arguments of a dataset. An argument that was not passed is NULL. */
typedef struct arguments {
    PyObject *path, *verify, *durable, *live, *on_damage, *access, *executor, *length;
    lxpy_elsewhere elsewhere;
} arguments;

/* ---------------------------------------------------------------- open, close */

static lx_dataset_options *make_options(lxpy_state *state, const arguments *params, lx_error *error)
{
    int when = LX_VERIFY_FIRST, damage = LX_DAMAGE_RAISE, access = LX_ACCESS_AUTO;
    bool durable = false, live = false;
    uint64_t length = LX_NONE;
    lx_executor *executor;
    if ((params->verify != NULL &&
         lxpy_choice(params->verify, "verify", verify_names, &when) < 0) ||
        (params->durable != NULL && lxpy_bool(params->durable, "durable", &durable) < 0) ||
        (params->live != NULL && lxpy_bool(params->live, "live", &live) < 0) ||
        (params->on_damage != NULL &&
         lxpy_choice(params->on_damage, "on_damage", damage_names, &damage) < 0) ||
        (params->access != NULL &&
         lxpy_choice(params->access, "access", access_names, &access) < 0) ||
        (params->length != NULL && params->length != Py_None &&
         lxpy_uint64(params->length, "length", 0, UINT64_MAX - 1, &length) < 0) ||
        lxpy_executor_get(state, params->executor, "executor", &executor) < 0)
        return NULL;
    lx_dataset_options *options = lx_dataset_options_new();
    if (options == NULL) {
        lx_executor_unref(executor);
        return (lx_dataset_options *)PyErr_NoMemory();
    }
    lx_dataset_options_set_verify_policy(options, (lx_verify_policy)when, error);
    lx_dataset_options_set_durable(options, durable, error);
    lx_dataset_options_set_live(options, live, error);
    lx_dataset_options_set_length(options, length, error);
    lx_dataset_options_set_damage_policy(options, (lx_damage_policy)damage, error);
    lx_dataset_options_set_access(options, (lx_access)access, error);
    lx_dataset_options_set_executor(options, executor, error);
    lx_executor_unref(executor);
    return options;
}

/** Opens the dataset at @p path (bytes). Returns NULL with an exception on failure. */
static lx_dataset *open_handle(lxpy_state *state, PyObject *path, PyObject *opener,
                               const arguments *params)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *handle = NULL;
    lx_dataset_options *options = make_options(state, params, &error);
    if (options == NULL)
        return NULL;
    lxpy_opener_open(opener, PyBytes_AS_STRING(path), options, &handle, &error);
    lxpy_log_pass_on(state);
    lx_dataset_options_free(options);
    if (error.status != LX_OK)
        return (lx_dataset *)lxpy_raise(state, &error);
    return handle;
}

/** Creates a Dataset that owns @p dataset. On failure, closes @p dataset. */
static lxpy_dataset *make_dataset(PyTypeObject *type, lxpy_state *state, lx_dataset *dataset,
                                  lxpy_schema *schema, PyObject *path, PyObject *opener)
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
    self->current = handle;
    self->schema = lxpy_schema_ref(schema);
    self->path = Py_NewRef(path);
    self->opener = Py_XNewRef(opener);
    return self;
}

/** Returns a Dataset for the handle that was opened at @p path (bytes). */
static PyObject *wrap(PyTypeObject *type, lxpy_state *state, lx_dataset *dataset, PyObject *path,
                      PyObject *opener, bool live)
{
    lxpy_schema *schema = lxpy_schema_new(lx_dataset_get_schema(dataset));
    PyObject *text = schema != NULL ? lxpy_path_show(path) : NULL;
    lxpy_dataset *self = NULL;
    if (text != NULL)
        self = make_dataset(type, state, dataset, schema, text, opener);
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
    static char *names[] = {"path",   "verify",      "durable",     "live",  "on_damage",
                            "access", "executor",    "length",      "cache", "limit",
                            "memory", "connections", "patience",    "tier",  "endpoint",
                            "region", "anonymous",   "credentials", NULL};
    arguments params = {0};
    lxpy_elsewhere *elsewhere = &params.elsewhere;
    lxpy_state *state = lxpy_state_find(type);
    if (state == NULL ||
        !PyArg_ParseTupleAndKeywords(
            args, kwargs, "O|$OOOOOOOOOOOOOOOOO:Dataset", names, &params.path, &params.verify,
            &params.durable, &params.live, &params.on_damage, &params.access, &params.executor,
            &params.length, &elsewhere->cache, &elsewhere->limit, &elsewhere->memory,
            &elsewhere->connections, &elsewhere->patience, &elsewhere->tier, &elsewhere->endpoint,
            &elsewhere->region, &elsewhere->anonymous, &elsewhere->credentials))
        return NULL;
    PyObject *path = lxpy_path(params.path, "path"), *opener = NULL, *self = NULL;
    lx_dataset *handle = NULL;
    if (path != NULL && lxpy_opener_make(path, elsewhere, &opener) == 0)
        handle = open_handle(state, path, opener, &params);
    if (handle != NULL)
        self = wrap(type, state, handle, path, opener, params.live == Py_True);
    Py_XDECREF(opener);
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
    return (PyObject *)make_dataset(Py_TYPE(object), self->state, pinned, self->schema, self->path,
                                    self->opener);
}

static void dataset_dealloc(PyObject *object)
{
    lxpy_dataset *self = (lxpy_dataset *)object;
    PyTypeObject *type = Py_TYPE(object);
    lxpy_dataset_leave(self, self->current);
    lxpy_schema_unref(self->schema);
    Py_XDECREF(self->path);
    Py_XDECREF(self->opener);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *dataset_close(PyObject *object, PyObject *ignored)
{
    lxpy_dataset *self = (lxpy_dataset *)object;
    lxpy_handle *current = self->current;
    (void)ignored;
    self->current = NULL;
    lxpy_dataset_leave(self, current);
    Py_RETURN_NONE;
}

/* -------------------------------------------------------------------- facts */

static Py_ssize_t dataset_length(PyObject *object)
{
    lxpy_dataset *self = (lxpy_dataset *)object;
    lxpy_handle *current = lxpy_dataset_enter(self);
    uint64_t length;
    if (current == NULL)
        return -1;
    if (self->live)
        LXPY_WITHOUT_GIL(length = lx_dataset_get_length(current->dataset));
    else
        length = lx_dataset_get_length(current->dataset);
    lxpy_dataset_leave(self, current);
    if (length > PY_SSIZE_T_MAX) {
        PyErr_SetString(PyExc_OverflowError, "the dataset has more records than len() can return");
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
        "{s:s, s:K, s:K, s:k, s:K, s:N}", "uuid", identity.uuid, "generation",
        (unsigned long long)identity.generation, "sequence", (unsigned long long)identity.sequence,
        "checksum", (unsigned long)identity.checksum, "changes",
        (unsigned long long)identity.changes, "sealed", PyBool_FromLong(identity.sealed));
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
    lx_access access = lx_dataset_get_access(reading.handle);
    lxpy_reading_end(&reading);
    return PyUnicode_FromString(lxpy_access_name(access));
}

static PyObject *dataset_get_damaged(PyObject *object, void *ignored)
{
    lxpy_dataset *self = (lxpy_dataset *)object;
    lx_dataset_stats stats = {.damaged = self->damaged};
    (void)ignored;
    if (self->current != NULL)
        lx_dataset_get_stats(self->current->dataset, &stats);
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
    return PyBool_FromLong(((lxpy_dataset *)object)->current == NULL);
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
     "Close the dataset.\n\n"
     "Arrays that the dataset has returned remain valid. Further calls have no effect."},
    {"refresh", lxpy_dataset_refresh, METH_NOARGS,
     "refresh($self)\n--\n\n"
     "Advance to the snapshot of the newest commit.\n\n"
     "Running calls and loaders keep their snapshots.\n\n"
     "Returns\n"
     "-------\n"
     "bool\n"
     "    Whether the snapshot changed, because a commit changed something or because\n"
     "    files of the dataset were replaced.\n\n"
     "Raises\n"
     "------\n"
     "LoaderxError\n"
     "    A field of this dataset was dropped, or the path now contains a different dataset:\n"
     "    open the dataset again."},
    {"wait", FAST lxpy_dataset_wait, METH_FASTCALL | METH_KEYWORDS,
     "wait($self, length, timeout=None)\n--\n\n"
     "Wait until the dataset has at least `length` records, and read the newest commit.\n\n"
     "Parameters\n"
     "----------\n"
     "length : int\n"
     "    The number of records to wait for.\n"
     "timeout : float, optional\n"
     "    The maximum time to wait, in seconds; None: no limit.\n\n"
     "Returns\n"
     "-------\n"
     "int\n"
     "    The number of records in the dataset.\n\n"
     "Raises\n"
     "------\n"
     "TimeoutError\n"
     "    The newest commit has fewer records."},
    {"_pin", lxpy_dataset_new_pinned, METH_NOARGS,
     "_pin($self)\n--\n\n"
     "Return a second Dataset for the current snapshot of this Dataset."},
    {"_gather", FAST lxpy_dataset_gather, METH_FASTCALL,
     "_gather($self, indices, fields, out, lacking)\n--\n\n"
     "Read records into a dict; `lacking` says what to do about missing values."},
    {"probe", FAST lxpy_dataset_probe, METH_FASTCALL | METH_KEYWORDS,
     "probe($self, indices, fields=None)\n--\n\n"
     "Find damaged records by verifying checksums, text and JSON, and decompressing values.\n\n"
     "The check does not depend on the `verify` option of the dataset.\n\n"
     "Parameters\n"
     "----------\n"
     "indices : sequence of int, slice or mask\n"
     "    The records to check.\n"
     "fields : sequence of str, optional\n"
     "    The fields to check; default: all.\n\n"
     "Returns\n"
     "-------\n"
     "array of bool\n"
     "    True for each record with a damaged value."},
    {"_card", lxpy_dataset_card, METH_NOARGS,
     "_card($self)\n--\n\n"
     "Return the card as a dict."},
    {"stat", lxpy_dataset_stat, METH_NOARGS,
     "stat($self)\n--\n\n"
     "Compute the sizes of the dataset, its fields and its chunks.\n\n"
     "Returns\n"
     "-------\n"
     "dict\n"
     "    The output of ``loaderx stat --json``. Bytes in a chunk are live if a record refers to\n"
     "    them; `Writer.rebalance` frees dead bytes. Values of up to 8 bytes are ``inline``: they\n"
     "    are in the tables, which take 24 bytes for each value of any size."},
    {"remote_stats", lxpy_dataset_remote_stats, METH_NOARGS,
     "remote_stats($self)\n--\n\n"
     "Return what was read through this dataset since it was opened, if it is elsewhere.\n\n"
     "Returns\n"
     "-------\n"
     "dict or None\n"
     "    None if the dataset is read directly. ``requests``: the number of attempts to read a\n"
     "    range, including failed ones. ``bytes``: the number of bytes that were fetched.\n"
     "    ``retries``: the number of attempts that were made again. ``throttled``: how often the\n"
     "    server asked for fewer requests. ``cached_bytes`` and ``stored_bytes``: the numbers of\n"
     "    bytes that were read from the cache and added to it. ``wait_ns``: the time for which\n"
     "    calls waited for bytes, summed over all threads. ``replaced_bytes``: the number of\n"
     "    bytes that were dropped from memory before they were read: if it grows, more `memory`\n"
     "    helps. ``tier_bytes``: how many of ``bytes`` nodes of the tier have sent."},
    {"_resolve", lxpy_dataset_resolve, METH_O,
     "_resolve($self, indices)\n--\n\n"
     "Convert indices to an array without negative indices."},
    {"_verify", FAST lxpy_dataset_verify, METH_FASTCALL,
     "_verify($self, damaged, progress)\n--\n\n"
     "Read all values and check every checksum."},
    {"_digest", lxpy_dataset_digest, METH_O,
     "_digest($self, progress)\n--\n\n"
     "Return the digest of the contents, as a number."},
    {"_diff", FAST lxpy_dataset_diff, METH_FASTCALL,
     "_diff($self, other, pairs, progress)\n--\n\n"
     "Count the records that differ in pairs of fields, and list the first of them."},
    {"_backup", FAST lxpy_dataset_backup, METH_FASTCALL,
     "_backup($self, path, progress)\n--\n\n"
     "Copy the current snapshot to another directory."},
    {"_push", FAST lxpy_dataset_push, METH_FASTCALL,
     "_push($self, url, opener, replace, progress)\n--\n\n"
     "Publish the dataset at a URL; return the number of bytes that were sent."},
    {"_export", FAST lxpy_dataset_export, METH_FASTCALL,
     "_export($self, field, path, indices, suffix, progress)\n--\n\n"
     "Write a field to an .npy file or, with a suffix, each record to its own file."},
    {"_repair", FAST lxpy_dataset_repair, METH_FASTCALL | METH_CLASS,
     "_repair($type, path, into, delete, apply, lose_unreadable, found, progress)\n--\n\n"
     "Repair a damaged dataset, or recover it into a new directory."},
    {"_join", FAST lxpy_dataset_join, METH_FASTCALL | METH_CLASS,
     "_join($type, path, parts, progress)\n--\n\n"
     "Join datasets, given as pairs of a Dataset and its path below the new one."},
    {"_unseal", lxpy_dataset_unseal, METH_O | METH_CLASS,
     "_unseal($type, path)\n--\n\n"
     "Make the sealed dataset at a path writable."},
    {"_get", FAST lxpy_dataset_get, METH_FASTCALL,
     "_get($self, field, key)\n--\n\n"
     "Read one record or several records of a field."},
    {"_read_part", FAST lxpy_dataset_read_part, METH_FASTCALL,
     "_read_part($self, field, index, start, n)\n--\n\n"
     "Read a part of one value."},
    {"_record", lxpy_dataset_record, METH_O,
     "_record($self, index)\n--\n\n"
     "Read one record of all fields."},
    {"_present", FAST lxpy_dataset_present, METH_FASTCALL,
     "_present($self, field, indices)\n--\n\n"
     "Return a bool array that is True for each record with a value."},
    {"_sizes", FAST lxpy_dataset_sizes, METH_FASTCALL,
     "_sizes($self, field, indices)\n--\n\n"
     "Return the uncompressed size of each value, or -1 if it is missing, without reading it."},
    {"_views", FAST lxpy_dataset_views, METH_FASTCALL,
     "_views($self, indices, fields)\n--\n\n"
     "Return views of records in mapped memory, as a dict of lists."},
    {"_to_arrow", FAST lxpy_dataset_to_arrow, METH_FASTCALL,
     "_to_arrow($self, indices, fields, bytes)\n--\n\n"
     "Return records as the capsule of an Arrow stream, in arrays of about so many bytes."},
    {"_remove", lxpy_dataset_remove, METH_O | METH_CLASS,
     "_remove($type, path)\n--\n\n"
     "Remove the dataset at a path, including its directory."},
    {"_describe", dataset_describe, METH_NOARGS,
     "_describe($self)\n--\n\n"
     "Return the fields, as tuples."},
    {NULL},
};

static PyGetSetDef dataset_getset[] = {
    {"path", dataset_get_path, NULL,
     "The path of the dataset directory, as passed to open(). Of a URL, it has no user, password,\n"
     "query or fragment, which may be secret.",
     NULL},
    {"closed", dataset_get_closed, NULL, "Whether the dataset is closed.", NULL},
    {"live", dataset_get_live, NULL, "Whether each call reads the newest commit.", NULL},
    {"access", dataset_get_access, NULL, "How files are accessed: 'mmap' or 'pread'.", NULL},
    {"damaged", dataset_get_damaged, NULL,
     "The number of damaged values found so far, whether they made a call fail or were read as\n"
     "missing.",
     NULL},
    {"identity", dataset_get_identity, NULL,
     "The identity of this dataset and of its current snapshot: a dict with the keys uuid,\n"
     "generation, sequence, checksum, changes and sealed. changes stays the same while records "
     "are\n"
     "only appended.",
     NULL},
    {NULL},
};

static PyType_Slot dataset_slots[] = {
    {Py_tp_doc, "A dataset that is open for reading."},
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
