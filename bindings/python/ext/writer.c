/* SPDX-License-Identifier: MIT */
/* Writer: what the files that give it its methods share, and the type. */
#include "writer.h"

#include "lock.h"

/** An object for @p handle, which it owns then; NULL with an exception. */
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
    self->schema = lxpy_schema_new(state, lx_writer_get_schema(handle));
    if (self->path == NULL || self->schema == NULL || lxpy_rwlock_init(&self->rwlock) < 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *writer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"path",        "fields",   "durability",  "level", "chunk_records",
                            "chunk_bytes", "executor", "append_only", NULL};
    lxpy_writer_arguments given = {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
    bool append_only = false;
    lxpy_state *state = lxpy_state_find(type);
    if (state == NULL ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "O|O$OOOOOO:Writer", names, &given.path,
                                     &given.fields, &given.durability, &given.level,
                                     &given.chunk_records, &given.chunk_bytes, &given.executor,
                                     &given.append_only) ||
        (given.append_only != NULL &&
         lxpy_bool(given.append_only, "append_only", &append_only) < 0))
        return NULL;
    PyObject *path = lxpy_path(given.path, "path");
    lx_writer *handle = path != NULL ? lxpy_writer_open(state, &given, path) : NULL;
    PyObject *self = handle != NULL ? make_writer(type, state, handle, path, append_only) : NULL;
    Py_XDECREF(path);
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

/** Refuses the thread that is in a call already: it would wait for itself. */
static int check_reporter(lxpy_writer *self)
{
    if (self->reporter == 0 || self->reporter != PyThread_get_thread_ident())
        return 0;
    lxpy_raise_status(self->state, LX_ERR_STATE,
                      "the writer is used by what is told of its progress");
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
    lxpy_raise_status(self->state, LX_ERR_STATE, "another thread has changed the fields meanwhile");
    return -1;
}

void lxpy_writer_leave(lxpy_writer *self)
{
    lxpy_rwlock_release_shared(&self->rwlock);
}

int lxpy_writer_enter_alone(lxpy_writer *self)
{
    return check_reporter(self) < 0 ? -1 : lxpy_rwlock_take_exclusive(&self->rwlock);
}

void lxpy_writer_leave_alone(lxpy_writer *self)
{
    lxpy_rwlock_release_exclusive(&self->rwlock);
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
                      "the dataset is open for appending: mode='r+' changes what is there, too");
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
    PyErr_SetString(PyExc_OverflowError, "there are more records than len() can tell");
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
     "append($self, values=None, /, **named)\n--\n\n"
     "Append one record.\n\n"
     "Parameters\n----------\n"
     "values : dict, optional\n    A value for each field, by its name.\n"
     "**named\n    The same as keywords.\n\n"
     "Returns\n-------\nint\n    The record's index.\n\n"
     "Notes\n-----\n"
     "None is a missing value. An array, or a scalar of NumPy, has to be of a type that converts\n"
     "to the field's without loss; numbers and lists of Python need values that fit."},
    {"extend", KEYWORDS lxpy_writer_extend, METH_VARARGS | METH_KEYWORDS,
     "extend($self, columns=None, /, **named)\n--\n\n"
     "Append many records: for each field an array (n, *shape), or a list.\n\n"
     "Parameters\n----------\n"
     "columns : dict, optional\n    The records' values of each field, by its name.\n"
     "**named\n    The same as keywords.\n\n"
     "Returns\n-------\nint\n    The index of the first of them.\n\n"
     "Notes\n-----\n"
     "In a list, None is a missing value; None in place of a list leaves the field out of all of\n"
     "the records. What is not stored as it is in memory (another type or byte order, gaps) is\n"
     "copied whole first."},
    {"copy", FAST lxpy_writer_copy, METH_FASTCALL | METH_KEYWORDS,
     "copy($self, dataset, indices=None)\n--\n\n"
     "Append records of another dataset, or of this one. What is compressed stays so.\n\n"
     "Parameters\n----------\n"
     "dataset : Dataset\n    Where they are read, in the state that it shows.\n"
     "indices : sequence of int, slice or mask, optional\n    Which; all of them by default.\n\n"
     "Returns\n-------\nint\n    The index of the first copy.\n\n"
     "Raises\n------\nCorruptError\n"
     "    A record of `dataset` is damaged. Every call raises this then, until `rollback` undoes\n"
     "    all since the last commit; so does leaving a with-block, which undoes all of it.\n\n"
     "Notes\n-----\n"
     "Fields belong together by their names. One that `dataset` does not have is missing in the\n"
     "copies; one that this dataset does not have is left out."},
    {"modify", KEYWORDS lxpy_writer_modify, METH_VARARGS | METH_KEYWORDS,
     "modify($self, index, values=None, /, **named)\n--\n\n"
     "Give some fields of a record, or of several, new values: ``w[index] = values``.\n\n"
     "Parameters\n----------\n"
     "index : int, sequence of int, slice or mask\n    Which; negative ones count from the end.\n"
     "values : dict, optional\n    For one record a value by field, as for `append`; for several\n"
     "    an array or list, as for `extend`, or one value, an array or a number, for all.\n"
     "**named\n    The same as keywords."},
    {"delete", lxpy_writer_delete, METH_O,
     "delete($self, index, /)\n--\n\n"
     "Delete a record, or several. The last record takes the place.\n\n"
     "Parameters\n----------\n"
     "index : int, sequence of int, slice or mask\n    Which; negative ones count from the end.\n\n"
     "Returns\n-------\nint, None or array\n"
     "    Of one record, the index that the record had which is at `index` now; None if that was\n"
     "    the last one, and nothing moved. Of several, an array (k, 2) of the records that have\n"
     "    moved: where each was, and where it is.\n\n"
     "Notes\n-----\n"
     "There is no delete that keeps the order: it would change the index of every record behind.\n"
     "Whoever needs an order puts it into the records."},
    {"truncate", lxpy_writer_truncate, METH_O,
     "truncate($self, length, /)\n--\n\n"
     "Delete the records from `length` on."},
    {"drop_field", lxpy_writer_drop_field, METH_O,
     "drop_field($self, name, /)\n--\n\n"
     "Drop a field, with its values in all records.\n\n"
     "It is committed at once, and cannot be undone. Readers that show it can no longer refresh."},
    {"rename_field", FAST lxpy_writer_rename_field, METH_FASTCALL | METH_KEYWORDS,
     "rename_field($self, name, to)\n--\n\n"
     "Rename a field, which is committed at once. Readers go on under the old name."},
    {"checkpoint", lxpy_writer_checkpoint, METH_NOARGS,
     "checkpoint($self)\n--\n\n"
     "Take all changes of old records out of the log, into new tables.\n\n"
     "It is done by itself when they have become many. In a with-block it commits first."},
    {"_add_field", lxpy_writer_add_field, METH_O,
     "_add_field($self, description)\n--\n\n"
     "Add a field, described as a tuple."},
    {"_rebalance", lxpy_writer_rebalance, METH_O,
     "_rebalance($self, progress)\n--\n\n"
     "Write all values to new chunks."},
    {"commit", FAST lxpy_writer_commit, METH_FASTCALL | METH_KEYWORDS,
     "commit($self, wait=True)\n--\n\n"
     "Make all that was asked for visible to readers, at once.\n\n"
     "Threads that commit at the same time share one commit.\n\n"
     "Parameters\n----------\n"
     "wait : bool, optional\n    False: have it done by the executor's threads. What is asked for\n"
     "    after that is not in it, and a rollback does not undo it.\n\n"
     "Returns\n-------\nTicket or None\n    To wait with, where `wait` is False."},
    {"sync", writer_sync, METH_NOARGS,
     "sync($self)\n--\n\n"
     "Make all that is committed survive a power loss; outside of a with-block, commit first."},
    {"seal", lxpy_writer_seal, METH_NOARGS,
     "seal($self)\n--\n\n"
     "Commit, and make the dataset final: nothing can be changed any more, until `unseal`. In a\n"
     "with-block it is the last thing that can be done."},
    {"rollback", lxpy_writer_rollback, METH_NOARGS,
     "rollback($self)\n--\n\n"
     "Undo what was asked for since the last commit, by all threads. After a failed call nothing\n"
     "else is taken."},
    {"close", lxpy_writer_close, METH_NOARGS,
     "close($self)\n--\n\n"
     "Commit what is pending, and let go of the dataset. May be called again."},
    {"_begin", lxpy_writer_begin, METH_NOARGS, "_begin($self)\n--\n\nBegin the with-block."},
    {"_finish", lxpy_writer_finish, METH_O,
     "_finish($self, commit)\n--\n\nEnd the with-block: commit or undo, and close."},
    {"_describe", writer_describe, METH_NOARGS, "_describe($self)\n--\n\nThe fields, as tuples."},
    {NULL},
};

static PyGetSetDef writer_getset[] = {
    {"path", writer_get_path, NULL, "The dataset's directory, as it was opened.", NULL},
    {"closed", writer_get_closed, NULL, "Whether it is closed.", NULL},
    {NULL},
};

static PyType_Slot writer_slots[] = {
    {Py_tp_doc, "A dataset that is written."},
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
