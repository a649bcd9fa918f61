/* SPDX-License-Identifier: MIT */
/* Writer: appends records to a dataset and commits them. */
#include "writer.h"

#include <unistd.h>

/** An object for @p handle, which it owns then; NULL with an exception. */
static PyObject *make_writer(PyTypeObject *type, lxpy_state *state, lx_writer *handle,
                             PyObject *path)
{
    lxpy_writer *self = (lxpy_writer *)type->tp_alloc(type, 0);
    if (self == NULL) {
        LXPY_WITHOUT_GIL(lx_writer_close(handle, NULL));
        return NULL;
    }
    self->state = state;
    self->handle = handle;
    self->process = getpid();
    self->lock = PyThread_allocate_lock();
    self->path = PyUnicode_DecodeFSDefault(PyBytes_AS_STRING(path));
    if (self->lock == NULL)
        PyErr_NoMemory();
    if (self->lock == NULL || self->path == NULL ||
        lxpy_schema_take(&self->schema, state, lx_writer_get_schema(handle)) < 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *writer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"path",          "fields",      "durability", "level",
                            "chunk_records", "chunk_bytes", "executor",   NULL};
    lxpy_writer_arguments given = {NULL, NULL, NULL, NULL, NULL, NULL, NULL};
    lxpy_state *state = lxpy_state_find(type);
    if (state == NULL ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "O|O$OOOOO:Writer", names, &given.path,
                                     &given.fields, &given.durability, &given.level,
                                     &given.chunk_records, &given.chunk_bytes, &given.executor))
        return NULL;
    PyObject *path = lxpy_path(given.path, "path");
    lx_writer *handle = path != NULL ? lxpy_writer_open(state, &given, path) : NULL;
    PyObject *self = handle != NULL ? make_writer(type, state, handle, path) : NULL;
    Py_XDECREF(path);
    return self;
}

static void writer_dealloc(PyObject *object)
{
    lxpy_writer *self = (lxpy_writer *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->handle != NULL)
        LXPY_WITHOUT_GIL(lx_writer_close(self->handle, NULL));
    if (self->lock != NULL)
        PyThread_free_lock(self->lock);
    lxpy_schema_clear(&self->schema);
    Py_XDECREF(self->path);
    type->tp_free(object);
    Py_DECREF(type);
}

/* ---------------------------------------------------------------------- calls */

/** Takes the lock, interruptible by signals. In a child of fork() nobody may be left to free it. */
static int lock(lxpy_writer *self)
{
    PyLockStatus status = PY_LOCK_FAILURE;
    if (PyThread_acquire_lock(self->lock, NOWAIT_LOCK))
        return 0;
    if (getpid() != self->process) {
        lxpy_raise_status(self->state, LX_ERR_FORKED,
                          "this writer belongs to the parent process");
        return -1;
    }
    while (status != PY_LOCK_ACQUIRED) {
        LXPY_WITHOUT_GIL(status = PyThread_acquire_lock_timed(self->lock, -1, 1));
        if (status == PY_LOCK_INTR && PyErr_CheckSignals() < 0)
            return -1;
    }
    return 0;
}

void lxpy_writer_leave(lxpy_writer *self)
{
    PyThread_release_lock(self->lock);
}

/** Begins a call of the library; -1 with an exception if the writer is closed. */
int lxpy_writer_enter(lxpy_writer *self)
{
    if (lock(self) < 0)
        return -1;
    if (self->handle != NULL)
        return 0;
    lxpy_writer_leave(self);
    lxpy_raise_closed(self->state, "writer", self->path);
    return -1;
}

/** Calls one of those that take nothing else. */
static PyObject *call(lxpy_writer *self, lx_status (*function)(lx_writer *, lx_error *))
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

/** Refuses what leaving a with-block does. */
static PyObject *fail_inside(lxpy_writer *self, const char *name)
{
    return lxpy_raise_status(self->state, LX_ERR_STATE,
                             "%s() within the with-block: leaving it commits and closes, an "
                             "exception undoes it",
                             name);
}

static PyObject *writer_commit(PyObject *object, PyObject *ignored)
{
    lxpy_writer *self = (lxpy_writer *)object;
    (void)ignored;
    return self->inside ? fail_inside(self, "commit") : call(self, lx_writer_commit);
}

static PyObject *writer_seal(PyObject *object, PyObject *ignored)
{
    lxpy_writer *self = (lxpy_writer *)object;
    (void)ignored;
    return self->inside ? fail_inside(self, "seal") : call(self, lx_writer_seal);
}

static PyObject *writer_rollback(PyObject *object, PyObject *ignored)
{
    lxpy_writer *self = (lxpy_writer *)object;
    (void)ignored;
    return self->inside ? fail_inside(self, "rollback") : call(self, lx_writer_rollback);
}

static PyObject *writer_sync(PyObject *object, PyObject *ignored)
{
    (void)ignored;
    return call((lxpy_writer *)object, lx_writer_sync);
}

/** Ends the handle. Not an error when it is closed already. */
static PyObject *close_handle(lxpy_writer *self)
{
    lx_error error = LX_ERROR_INIT;
    if (lock(self) < 0)
        return NULL;
    lx_writer *handle = self->handle;
    self->handle = NULL;
    LXPY_WITHOUT_GIL(lx_writer_close(handle, &error));
    lxpy_writer_leave(self);
    if (error.status != LX_OK)
        return lxpy_raise(self->state, &error);
    Py_RETURN_NONE;
}

static PyObject *writer_close(PyObject *object, PyObject *ignored)
{
    lxpy_writer *self = (lxpy_writer *)object;
    (void)ignored;
    return self->inside ? fail_inside(self, "close") : close_handle(self);
}

/* ---------------------------------------------------------------- transaction */

static PyObject *writer_begin(PyObject *object, PyObject *ignored)
{
    lxpy_writer *self = (lxpy_writer *)object;
    (void)ignored;
    if (self->inside)
        return fail_inside(self, "__enter__");
    PyObject *result = call(self, lx_writer_begin);
    self->inside = result != NULL;
    return result;
}

/** Keeps the exception that is set, if one is, and hides it from what follows. */
typedef struct saved {
    PyObject *type, *value, *traceback;
} saved;

static PyObject *writer_finish(PyObject *object, PyObject *commit)
{
    lxpy_writer *self = (lxpy_writer *)object;
    saved first;
    self->inside = false;
    PyObject *result = call(self, commit == Py_True ? lx_writer_end : lx_writer_rollback);
    PyErr_Fetch(&first.type, &first.value, &first.traceback);
    PyObject *closed = close_handle(self); /* whatever became of the transaction */
    if (first.type != NULL)
        PyErr_Restore(first.type, first.value, first.traceback);
    Py_XDECREF(closed);
    if (result != NULL && closed == NULL)
        Py_CLEAR(result);
    return result;
}

/* ---------------------------------------------------------------------- facts */

static Py_ssize_t writer_length(PyObject *object)
{
    lxpy_writer *self = (lxpy_writer *)object;
    uint64_t length = 0;
    if (lxpy_writer_enter(self) < 0)
        return -1;
    LXPY_WITHOUT_GIL(length = lx_writer_get_length(self->handle));
    lxpy_writer_leave(self);
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
    return lxpy_schema_describe(&((lxpy_writer *)object)->schema);
}

/* ----------------------------------------------------------------------- type */

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
    {"commit", writer_commit, METH_NOARGS,
     "commit($self)\n--\n\n"
     "Make all that was appended visible to readers, at once."},
    {"sync", writer_sync, METH_NOARGS,
     "sync($self)\n--\n\n"
     "Make all that is committed survive a power loss; outside of a with-block, commit first."},
    {"seal", writer_seal, METH_NOARGS,
     "seal($self)\n--\n\n"
     "Commit, and make the dataset final: nothing can be appended any more."},
    {"rollback", writer_rollback, METH_NOARGS,
     "rollback($self)\n--\n\n"
     "Undo what was appended since the last commit. After a failed append nothing else is taken."},
    {"close", writer_close, METH_NOARGS,
     "close($self)\n--\n\n"
     "Commit what is pending, and let go of the dataset. May be called again."},
    {"_begin", writer_begin, METH_NOARGS, "_begin($self)\n--\n\nBegin the with-block."},
    {"_finish", writer_finish, METH_O,
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
