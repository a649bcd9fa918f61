/* SPDX-License-Identifier: MIT */
/* Writer: the type, and functions shared by the files that implement its methods. */
#include "writer.h"

#include "lock.h"
#include "log.h"

/** Creates an object that owns @p handle. Returns NULL with an exception on failure. */
static PyObject *make_writer(PyTypeObject *type, lxpy_state *state, lx_writer *handle,
                             PyObject *path, bool append_only)
{
    lxpy_writer *self = (lxpy_writer *)type->tp_alloc(type, 0);
    if (self == NULL) {
        LXPY_WITHOUT_GIL(lx_writer_close(handle, NULL));
        return NULL;
    }
    self->state = state;
    self->handle = handle;
    self->forks = lxpy_forks();
    self->append_only = append_only;
    self->path = PyUnicode_DecodeFSDefault(PyBytes_AS_STRING(path));
    self->schema = lxpy_schema_new(lx_writer_get_schema(handle));
    if (self->path == NULL || self->schema == NULL || lxpy_rwlock_init(&self->rwlock) < 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *writer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"path",        "fields",   "durability",  "level", "chunk_records",
                            "chunk_bytes", "executor", "append_only", "card",  NULL};
    lxpy_writer_arguments params = {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
    bool append_only = false;
    lxpy_state *state = lxpy_state_find(type);
    if (state == NULL ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "O|O$OOOOOOO!:Writer", names, &params.path,
                                     &params.fields, &params.durability, &params.level,
                                     &params.chunk_records, &params.chunk_bytes, &params.executor,
                                     &params.append_only, &PyDict_Type, &params.card) ||
        (params.append_only != NULL &&
         lxpy_bool(params.append_only, "append_only", &append_only) < 0))
        return NULL;
    PyObject *path = lxpy_path(params.path, "path");
    lx_writer *handle = path != NULL ? lxpy_writer_open(state, &params, path) : NULL;
    PyObject *self = handle != NULL ? make_writer(type, state, handle, path, append_only) : NULL;
    Py_XDECREF(path);
    lxpy_log_pass_on(state);
    return self;
}

static void writer_dealloc(PyObject *object)
{
    lxpy_writer *self = (lxpy_writer *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->handle != NULL)
        LXPY_WITHOUT_GIL(lx_writer_close(self->handle, NULL));
    lxpy_rwlock_free(&self->rwlock);
    lxpy_schema_unref(self->schema);
    Py_XDECREF(self->path);
    type->tp_free(object);
    Py_DECREF(type);
}

/* ---------------------------------------------------------------------- calls */

/** Raises an error if this thread is already in a call, because it would otherwise wait for
 * itself. */
static int check_reporter(lxpy_writer *self)
{
    if (self->callback_thread == 0 || self->callback_thread != PyThread_get_thread_ident())
        return 0;
    lxpy_raise_status(self->state, LX_ERR_STATE, "the progress function must not use the writer");
    return -1;
}

int lxpy_writer_check_open(lxpy_writer *self)
{
    if (self->handle != NULL)
        return 0;
    lxpy_raise_closed(self->state, "writer", self->path);
    return -1;
}

int lxpy_writer_enter(lxpy_writer *self)
{
    if (check_reporter(self) < 0 || lxpy_rwlock_take_shared(&self->rwlock) < 0)
        return -1;
    if (lxpy_writer_check_open(self) == 0)
        return 0;
    lxpy_rwlock_release_shared(&self->rwlock);
    return -1;
}

int lxpy_writer_enter_with(lxpy_writer *self, const lxpy_schema *schema)
{
    if (lxpy_writer_enter(self) < 0)
        return -1;
    if (schema == self->schema)
        return 0;
    lxpy_writer_leave(self);
    lxpy_raise_status(self->state, LX_ERR_STATE,
                      "another thread changed the fields during the call");
    return -1;
}

void lxpy_writer_leave(lxpy_writer *self)
{
    lxpy_rwlock_release_shared(&self->rwlock);
    lxpy_log_pass_on(self->state);
}

int lxpy_writer_enter_exclusive(lxpy_writer *self)
{
    return check_reporter(self) < 0 ? -1 : lxpy_rwlock_take_exclusive(&self->rwlock);
}

void lxpy_writer_leave_exclusive(lxpy_writer *self)
{
    lxpy_rwlock_release_exclusive(&self->rwlock);
    lxpy_log_pass_on(self->state);
}

PyObject *lxpy_writer_call(lxpy_writer *self, lx_status (*function)(lx_writer *, lx_error *))
{
    lx_error error = LX_ERROR_INIT;
    if (lxpy_writer_enter(self) < 0)
        return NULL;
    LXPY_WITHOUT_GIL(function(self->handle, &error));
    lxpy_writer_leave(self);
    if (error.status != LX_OK)
        return lxpy_raise(self->state, &error);
    Py_RETURN_NONE;
}

int lxpy_writer_check_change(lxpy_writer *self)
{
    if (!self->append_only)
        return 0;
    lxpy_raise_status(self->state, LX_ERR_STATE,
                      "the dataset is open for appending only: open it with mode='r+'");
    return -1;
}

static PyObject *writer_sync(PyObject *object, PyObject *ignored)
{
    (void)ignored;
    return lxpy_writer_call((lxpy_writer *)object, lx_writer_sync);
}

int lxpy_writer_length(lxpy_writer *self, uint64_t *length)
{
    if (lxpy_writer_enter(self) < 0)
        return -1;
    LXPY_WITHOUT_GIL(*length = lx_writer_get_length(self->handle));
    lxpy_writer_leave(self);
    return 0;
}

/* ---------------------------------------------------------------------- facts */

static Py_ssize_t writer_length(PyObject *object)
{
    uint64_t length;
    if (lxpy_writer_length((lxpy_writer *)object, &length) < 0)
        return -1;
    if (length <= PY_SSIZE_T_MAX)
        return (Py_ssize_t)length;
    PyErr_SetString(PyExc_OverflowError, "the dataset has more records than len() can return");
    return -1;
}

static PyObject *writer_get_path(PyObject *object, void *ignored)
{
    (void)ignored;
    return Py_NewRef(((lxpy_writer *)object)->path);
}

static PyObject *writer_get_closed(PyObject *object, void *ignored)
{
    (void)ignored;
    return PyBool_FromLong(((lxpy_writer *)object)->handle == NULL);
}

static PyObject *writer_describe(PyObject *object, PyObject *ignored)
{
    (void)ignored;
    return lxpy_schema_describe(((lxpy_writer *)object)->schema);
}

/* ----------------------------------------------------------------------- type */

#define FAST (PyCFunction)(void (*)(void))
#define KEYWORDS (PyCFunction)(void (*)(void))

static PyMethodDef writer_methods[] = {
    {"append", KEYWORDS lxpy_writer_append, METH_VARARGS | METH_KEYWORDS,
     "append($self, values=None, /, *, casting=None, **named)\n--\n\n"
     "Append one record.\n\n"
     "Parameters\n"
     "----------\n"
     "values : dict, optional\n"
     "    The value of each field, by name.\n"
     "casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}, optional\n"
     "    NumPy's rule for converting arrays and NumPy scalars to the dtype of the field; for\n"
     "    example, 'same_kind' rounds float64 values to float32. The default is 'safe'.\n"
     "    Python numbers and lists have no dtype: their values must fit, except with 'unsafe'. If\n"
     "    a field is named casting, pass `values`: as a keyword, casting would set that field.\n"
     "**named\n"
     "    The same values, as keyword arguments.\n\n"
     "Returns\n"
     "-------\n"
     "int\n"
     "    The index of the record.\n\n"
     "Notes\n"
     "-----\n"
     "None means that the value is missing."},
    {"extend", KEYWORDS lxpy_writer_extend, METH_VARARGS | METH_KEYWORDS,
     "extend($self, columns=None, /, *, casting=None, **named)\n--\n\n"
     "Append many records, with an array of shape ``(n, *shape)`` or a list for each field.\n\n"
     "Parameters\n"
     "----------\n"
     "columns : dict, list of dict, DataFrame, arrays of an .npz file or Arrow table, optional\n"
     "    The values of each field, by name: arrays, tensors in CPU memory, or lists. A list of\n"
     "    dicts contains one dict for each record. In a pandas DataFrame, NA means that the\n"
     "    value is missing, as does NaN in an object column; a column of strings becomes UTF-8.\n"
     "    ``numpy.load(path)`` opens an .npz file. An Arrow table is an object with\n"
     "    ``__arrow_c_stream__`` or ``__arrow_c_array__``, such as a table or a batch reader of\n"
     "    pyarrow, or a DataFrame of polars. It has a column for each field; nulls are missing\n"
     "    values, and text becomes UTF-8. See `import_arrow`.\n"
     "casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}, optional\n"
     "    See `append`. Must not be given for an Arrow table.\n"
     "**named\n"
     "    The same values, as keyword arguments.\n\n"
     "Returns\n"
     "-------\n"
     "int\n"
     "    The index of the first record.\n\n"
     "Notes\n"
     "-----\n"
     "In a list, None means that the value is missing. None in place of a list means that the\n"
     "field is missing in all records. An array that has a different dtype or byte order, or is\n"
     "not contiguous, is copied before it is written. The batches of an Arrow table are appended\n"
     "one by one; an error leaves the batches before it appended, unless a with-block undoes\n"
     "them."},
    {"_extend_arrow", FAST lxpy_writer_extend_arrow, METH_FASTCALL,
     "_extend_arrow($self, exported, progress)\n--\n\n"
     "Append the rows of an Arrow stream or array, as exported by arrow_of()."},
    {"copy", FAST lxpy_writer_copy, METH_FASTCALL | METH_KEYWORDS,
     "copy($self, dataset, indices=None, *, fields=None)\n--\n\n"
     "Append records of a different dataset, or of this dataset, without recompression.\n\n"
     "Parameters\n"
     "----------\n"
     "dataset : Dataset\n"
     "    The dataset to copy from; its current snapshot is read.\n"
     "indices : sequence of int, slice or mask, optional\n"
     "    The records to copy; by default, all records.\n"
     "fields : list of str, optional\n"
     "    The fields of `dataset` to copy; by default, all.\n\n"
     "Returns\n"
     "-------\n"
     "int\n"
     "    The index of the first copy.\n\n"
     "Raises\n"
     "------\n"
     "CorruptError\n"
     "    A record of `dataset` is damaged. Every later call raises this error until `rollback`\n"
     "    undoes all operations since the last commit. Leaving a with-block raises the error and\n"
     "    rolls back.\n\n"
     "Notes\n"
     "-----\n"
     "Fields are matched by name. If `dataset` lacks a field, the field is missing in the copies. "
     "A\n"
     "field that this dataset lacks is a ValueError: add it, or choose `fields`."},
    {"modify", KEYWORDS lxpy_writer_modify, METH_VARARGS | METH_KEYWORDS,
     "modify($self, index, values=None, /, *, casting=None, **named)\n--\n\n"
     "Replace values of one or several records, like ``w[index] = values``.\n\n"
     "Parameters\n"
     "----------\n"
     "index : int, sequence of int, slice or mask\n"
     "    The records to change; negative indices count from the end.\n"
     "values : dict, optional\n"
     "    For one record, the value of each field to change, as for `append`. For several\n"
     "    records, an array or list for each field, as for `extend`, or a single value for all\n"
     "    records.\n"
     "casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}, optional\n"
     "    See `append`.\n"
     "**named\n"
     "    The same values, as keyword arguments."},
    {"delete", lxpy_writer_delete, METH_O,
     "delete($self, index, /)\n--\n\n"
     "Delete one or several records.\n\n"
     "The last records move to the indices of the deleted records.\n\n"
     "Parameters\n"
     "----------\n"
     "index : int, sequence of int, slice or mask\n"
     "    The records to delete; negative indices count from the end.\n\n"
     "Returns\n"
     "-------\n"
     "int, None or array\n"
     "    For one record, the old index of the record that moved to `index`, or None if the\n"
     "    deleted record was the last record. For several records, an array of shape (k, 2) with\n"
     "    the old and the new index of each record that moved.\n\n"
     "Notes\n"
     "-----\n"
     "Deleting does not preserve the order of records, because that would change the indices of\n"
     "all later records. Store a sequence number in the records if you need an order."},
    {"truncate", lxpy_writer_truncate, METH_O,
     "truncate($self, length, /)\n--\n\n"
     "Delete all records whose index is `length` or more."},
    {"drop_field", lxpy_writer_drop_field, METH_O,
     "drop_field($self, name, /)\n--\n\n"
     "Drop a field and all its values.\n\n"
     "The change is committed immediately and cannot be undone. A reader that uses the field can\n"
     "no longer refresh."},
    {"rename_field", FAST lxpy_writer_rename_field, METH_FASTCALL | METH_KEYWORDS,
     "rename_field($self, name, to)\n--\n\n"
     "Rename a field.\n\n"
     "The change is committed immediately. Readers that are already open keep the old name."},
    {"checkpoint", lxpy_writer_checkpoint, METH_NOARGS,
     "checkpoint($self)\n--\n\n"
     "Write the updates in the log to new tables (a WAL checkpoint).\n\n"
     "The writer does this automatically when the log contains many updates. In a with-block, the\n"
     "call first commits."},
    {"_add_field", FAST lxpy_writer_add_field, METH_FASTCALL,
     "_add_field($self, description, default)\n--\n\n"
     "Add the field that a tuple describes, and give it a value in all records."},
    {"_convert_field", FAST lxpy_writer_convert_field, METH_FASTCALL,
     "_convert_field($self, before, after, function)\n--\n\n"
     "Change the type of a field from one description to another."},
    {"_set_compression", FAST lxpy_writer_set_compression, METH_FASTCALL | METH_KEYWORDS,
     "_set_compression($self, name, level, dictionary)\n--\n\n"
     "Set the level and the dictionary size of a field; 0 stands for None."},
    {"_set_card", lxpy_writer_set_card, METH_O,
     "_set_card($self, card)\n--\n\n"
     "Set the entries of a dict; None removes an entry."},
    {"_commit_card", lxpy_writer_commit_card, METH_O,
     "_commit_card($self, card)\n--\n\n"
     "Set the entries of a dict, then commit the with-block so far."},
    {"_train_dictionary", FAST lxpy_writer_train_dictionary, METH_FASTCALL | METH_KEYWORDS,
     "_train_dictionary($self, name, dataset)\n--\n\n"
     "Train the dictionary of a field on values of a dataset; None stands for this dataset."},
    {"_remove_old_files", lxpy_writer_remove_old_files, METH_NOARGS,
     "_remove_old_files($self)\n--\n\n"
     "Remove old files that no reader uses; return the number of those that are left."},
    {"_rebalance", lxpy_writer_rebalance, METH_O,
     "_rebalance($self, progress)\n--\n\n"
     "Write all values to new chunks."},
    {"commit", FAST lxpy_writer_commit, METH_FASTCALL | METH_KEYWORDS,
     "commit($self, wait=True)\n--\n\n"
     "Make all operations since the last commit visible to readers, atomically.\n\n"
     "Threads that commit at the same time share one commit.\n\n"
     "Parameters\n"
     "----------\n"
     "wait : bool, optional\n"
     "    Whether to wait for the commit. False: the call returns immediately, and executor\n"
     "    threads commit. Later operations are not part of this commit, and a rollback does not\n"
     "    undo it.\n\n"
     "Returns\n"
     "-------\n"
     "Ticket or None\n"
     "    If `wait` is False, a ticket with which to wait for the commit."},
    {"sync", writer_sync, METH_NOARGS,
     "sync($self)\n--\n\n"
     "Make all commits durable, so that they survive a power loss.\n\n"
     "Outside a with-block, the call first commits."},
    {"seal", lxpy_writer_seal, METH_NOARGS,
     "seal($self)\n--\n\n"
     "Commit, and make the dataset read-only until it is unsealed.\n\n"
     "In a with-block, this must be the last operation."},
    {"rollback", lxpy_writer_rollback, METH_NOARGS,
     "rollback($self)\n--\n\n"
     "Undo all operations since the last commit, including those of other threads.\n\n"
     "After a failed operation, the writer accepts no other call."},
    {"close", lxpy_writer_close, METH_NOARGS,
     "close($self)\n--\n\n"
     "Commit pending operations and close the dataset.\n\n"
     "Further calls have no effect."},
    {"_begin", lxpy_writer_begin, METH_NOARGS,
     "_begin($self)\n--\n\n"
     "Begin the with-block."},
    {"_finish", lxpy_writer_finish, METH_O,
     "_finish($self, commit)\n--\n\n"
     "End the with-block: commit or roll back, and close."},
    {"_describe", writer_describe, METH_NOARGS,
     "_describe($self)\n--\n\n"
     "Return the fields, as tuples."},
    {NULL},
};

static PyGetSetDef writer_getset[] = {
    {"path", writer_get_path, NULL, "The path of the dataset directory, as passed to open().",
     NULL},
    {"closed", writer_get_closed, NULL, "Whether the writer is closed.", NULL},
    {NULL},
};

static PyType_Slot writer_slots[] = {
    {Py_tp_doc, "A dataset that is open for writing."},
    {Py_tp_new, writer_new},
    {Py_tp_dealloc, writer_dealloc},
    {Py_tp_methods, writer_methods},
    {Py_tp_getset, writer_getset},
    {Py_mp_length, writer_length},
    {Py_mp_ass_subscript, lxpy_writer_assign},
    {0, NULL},
};

static PyType_Spec writer_spec = {
    .name = "loaderx._core.Writer",
    .basicsize = sizeof(lxpy_writer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = writer_slots,
};

int lxpy_add_writer(PyObject *module)
{
    return lxpy_add_type(module, &writer_spec, LXPY_WRITER_TYPE);
}
