/* SPDX-License-Identifier: MIT */
/* What a dataset holds and takes, and whether it is whole. */
#include "dataset.h"

#define NUMBER(value) ((unsigned long long)(value))

/* --------------------------------------------------------------------- stat */

/** Adds @p value, which is given up; NULL is a failure. */
static int put(PyObject *dict, const char *key, PyObject *value)
{
    int result = value != NULL ? PyDict_SetItemString(dict, key, value) : -1;
    Py_XDECREF(value);
    return result;
}

/** Bytes of values over bytes in chunks; None where nothing lies in a chunk. */
static PyObject *ratio(uint64_t bytes, uint64_t stored)
{
    return stored != 0 ? PyFloat_FromDouble((double)bytes / (double)stored) : Py_NewRef(Py_None);
}

static PyObject *field_stat(const lxpy_field *field, const lx_field *more,
                            const lx_field_statistics *sums)
{
    return Py_BuildValue(
        "{s:O, s:s, s:O, s:s, s:k, s:K, s:K, s:K, s:K, s:K, s:K, s:N}", "name", field->name,
        "dtype", lx_dtype_get_name(field->type), "shape", field->shape, "compress",
        lxpy_compressions[field->compression], "align", (unsigned long)more->align, "present",
        NUMBER(sums->present), "missing", NUMBER(sums->missing), "inline", NUMBER(sums->inlined),
        "compressed", NUMBER(sums->compressed), "bytes", NUMBER(sums->logical_bytes),
        "stored_bytes", NUMBER(sums->stored_bytes), "ratio",
        ratio(sums->logical_bytes, sums->stored_bytes));
}

static PyObject *fields_stat(lxpy_dataset *self, const lx_field_statistics *sums)
{
    const lx_schema *schema = lx_dataset_get_schema(self->handle);
    PyObject *list = PyList_New((Py_ssize_t)self->schema.count);
    for (size_t i = 0; list != NULL && i < self->schema.count; i++) {
        PyObject *one =
            field_stat(&self->schema.fields[i], lx_schema_get_field(schema, i), &sums[i]);
        if (one == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)i, one);
    }
    return list;
}

static PyObject *chunks_stat(lxpy_dataset *self)
{
    lx_chunk_info chunk;
    PyObject *list = PyList_New(0);
    for (size_t i = 0;
         list != NULL && lx_dataset_get_chunk(self->handle, i, &chunk) == LX_OK; i++) {
        PyObject *one = Py_BuildValue("{s:k, s:K, s:K}", "id", (unsigned long)chunk.id, "records",
                                      NUMBER(chunk.records), "bytes", NUMBER(chunk.bytes));
        if (one == NULL || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *totals_stat(const lx_statistics *t, uint64_t bytes)
{
    return Py_BuildValue(
        "{s:K, s:K, s:N, s:K, s:K, s:K, s:K, s:K, s:d, s:d, s:K, s:K, s:K}", "length",
        NUMBER(t->length), "bytes", NUMBER(bytes), "ratio", ratio(bytes, t->live_bytes),
        "chunk_records", NUMBER(t->chunk_records), "chunk_limit", NUMBER(t->chunk_limit),
        "payloads", NUMBER(t->payloads), "chunk_bytes", NUMBER(t->chunk_bytes), "live_bytes",
        NUMBER(t->live_bytes), "live_ratio", t->live_ratio, "utilisation", t->utilisation,
        "table_bytes", NUMBER(t->table_bytes), "log_bytes", NUMBER(t->log_bytes), "log_entries",
        NUMBER(t->log_entries));
}

static PyObject *stat_entered(lxpy_dataset *self, lx_field_statistics *sums)
{
    lx_statistics totals;
    lx_identity identity;
    lx_error error = LX_ERROR_INIT;
    uint64_t bytes = 0;
    LXPY_WITHOUT_GIL(lx_dataset_stat(self->handle, &totals, sums, &error));
    if (error.status != LX_OK)
        return lxpy_raise(self->state, &error);
    for (size_t i = 0; i < self->schema.count; i++)
        bytes += sums[i].logical_bytes;
    lx_dataset_get_identity(self->handle, &identity);
    PyObject *all = totals_stat(&totals, bytes);
    if (all != NULL &&
        (put(all, "path", Py_NewRef(self->path)) < 0 ||
         put(all, "uuid", PyUnicode_FromString(identity.uuid)) < 0 ||
         put(all, "generation", PyLong_FromUnsignedLongLong(identity.generation)) < 0 ||
         put(all, "epoch", PyLong_FromUnsignedLongLong(identity.epoch)) < 0 ||
         put(all, "sealed", PyBool_FromLong(identity.sealed != 0)) < 0 ||
         put(all, "fields", fields_stat(self, sums)) < 0 ||
         put(all, "chunks", chunks_stat(self)) < 0))
        Py_CLEAR(all);
    return all;
}

PyObject *lxpy_dataset_stat(PyObject *object, PyObject *ignored)
{
    lxpy_dataset *self = (lxpy_dataset *)object;
    (void)ignored;
    if (lxpy_dataset_enter(self) < 0)
        return NULL;
    lx_field_statistics *sums = PyMem_Calloc(self->schema.count + 1, sizeof *sums);
    PyObject *all = sums != NULL ? stat_entered(self, sums) : PyErr_NoMemory();
    PyMem_Free(sums);
    lxpy_dataset_leave(self);
    return all;
}

/* ------------------------------------------------------------------- verify */

/** What the library's callbacks need. They are called on the thread that verifies. */
typedef struct verification {
    lxpy_state *state;
    PyObject *damaged, *progress; /**< NULL where the caller wants to know nothing. */
    PyThreadState *thread;
    bool raised; /**< A Python exception is set. */
} verification;

/** Calls @p function, if there is one, with @p argument (NULL: an exception is set). */
static lx_status tell(verification *v, PyObject *function, PyObject *arguments)
{
    PyObject *result = NULL;
    if (arguments != NULL)
        result = function != NULL ? PyObject_CallObject(function, arguments) : Py_NewRef(Py_None);
    if (result == NULL || PyErr_CheckSignals() < 0)
        v->raised = true;
    Py_XDECREF(result);
    Py_XDECREF(arguments);
    return v->raised ? LX_ERR_CALLBACK : LX_OK;
}

static lx_status take_damage(const lx_error *damage, void *user)
{
    verification *v = user;
    if (v->damaged == NULL)
        return LX_OK;
    PyEval_RestoreThread(v->thread);
    PyObject *exception = lxpy_exception_new(v->state, damage);
    PyObject *arguments = exception != NULL ? PyTuple_Pack(1, exception) : NULL;
    Py_XDECREF(exception);
    lx_status status = tell(v, v->damaged, arguments);
    v->thread = PyEval_SaveThread();
    return status;
}

static lx_status take_progress(uint64_t done, uint64_t total, void *user)
{
    verification *v = user;
    PyEval_RestoreThread(v->thread);
    lx_status status =
        tell(v, v->progress, Py_BuildValue("(KK)", NUMBER(done), NUMBER(total)));
    v->thread = PyEval_SaveThread();
    return status;
}

static PyObject *verify_entered(lxpy_dataset *self, verification *v)
{
    lx_verification result;
    lx_error error = LX_ERROR_INIT;
    v->thread = PyEval_SaveThread();
    lx_dataset_verify(self->handle, take_damage, take_progress, v, &result, &error);
    PyEval_RestoreThread(v->thread);
    if (v->raised)
        return NULL;
    if (error.status != LX_OK)
        return lxpy_raise(self->state, &error);
    return Py_BuildValue("{s:K, s:K, s:K}", "records", NUMBER(result.records), "values",
                         NUMBER(result.values), "bytes", NUMBER(result.bytes));
}

/** A callable, or NULL for None and for what was not given. */
static int take_callable(PyObject **object, const char *argument)
{
    if (*object == Py_None)
        *object = NULL;
    if (*object == NULL || PyCallable_Check(*object))
        return 0;
    PyErr_Format(PyExc_TypeError, "%s must be callable or None, not %.100s", argument,
                 Py_TYPE(*object)->tp_name);
    return -1;
}

PyObject *lxpy_dataset_verify(PyObject *object, PyObject *const *args, Py_ssize_t count,
                              PyObject *kwnames)
{
    static const char *const names[] = {"damaged", "progress", NULL};
    lxpy_dataset *self = (lxpy_dataset *)object;
    PyObject *values[2];
    if (lxpy_arguments("verify", names, 2, 0, args, count, kwnames, values) < 0 ||
        take_callable(&values[0], names[0]) < 0 || take_callable(&values[1], names[1]) < 0 ||
        lxpy_dataset_enter(self) < 0)
        return NULL;
    verification v = {self->state, values[0], values[1], NULL, false};
    PyObject *result = verify_entered(self, &v);
    lxpy_dataset_leave(self);
    return result;
}
