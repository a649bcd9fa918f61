/* SPDX-License-Identifier: MIT */
/* Dataset maintenance: digests, comparisons, backup, export, and functions that take a path. */
#include "dataset.h"
#include "progress.h"

#define NUMBER(value) ((unsigned long long)(value))

/* --------------------------------------------------------------------- digest */

PyObject *lxpy_dataset_digest(PyObject *object, PyObject *progress)
{
    lxpy_reading reading;
    lx_error error = LX_ERROR_INIT;
    lxpy_callbacks callbacks;
    uint64_t digest = 0;
    if (lxpy_callbacks_init(&callbacks, ((lxpy_dataset *)object)->state, progress, Py_None) < 0 ||
        lxpy_reading_begin(&reading, object) < 0)
        return NULL;
    lxpy_callbacks_begin(&callbacks);
    lx_dataset_digest(reading.handle, lxpy_report_progress, &callbacks, &digest, &error);
    lxpy_callbacks_end(&callbacks);
    lxpy_reading_end(&reading);
    if (callbacks.raised)
        return NULL;
    if (error.status != LX_OK)
        return lxpy_raise(reading.state, &error);
    return PyLong_FromUnsignedLongLong(NUMBER(digest));
}

/* ----------------------------------------------------------------------- diff */

/** Takes a list of pairs of positions. Returns NULL with an exception on failure. */
static lx_field_diff *take_pairs(PyObject *list, size_t *count)
{
    if (!PyList_Check(list)) {
        PyErr_SetString(PyExc_TypeError, "pairs must be a list");
        return NULL;
    }
    *count = (size_t)PyList_GET_SIZE(list);
    lx_field_diff *pairs = PyMem_Calloc(*count + 1, sizeof *pairs);
    if (pairs == NULL)
        return (lx_field_diff *)PyErr_NoMemory();
    for (size_t i = 0; i < *count; i++) {
        Py_ssize_t a, b;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(list, (Py_ssize_t)i), "nn", &a, &b)) {
            PyMem_Free(pairs);
            return NULL;
        }
        pairs[i].a = (size_t)a;
        pairs[i].b = (size_t)b;
    }
    return pairs;
}

static PyObject *describe_pair(const lx_field_diff *pair)
{
    uint64_t count = pair->count < LX_DIFF_FIRST ? pair->count : LX_DIFF_FIRST;
    PyObject *first = PyList_New((Py_ssize_t)count);
    for (uint64_t i = 0; first != NULL && i < count; i++) {
        PyObject *record = PyLong_FromUnsignedLongLong(NUMBER(pair->first[i]));
        if (record == NULL)
            Py_CLEAR(first);
        else
            PyList_SET_ITEM(first, (Py_ssize_t)i, record);
    }
    return first != NULL ? Py_BuildValue("KN", NUMBER(pair->count), first) : NULL;
}

static PyObject *describe_pairs(const lx_field_diff *pairs, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *described = describe_pair(&pairs[i]);
        if (described == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)i, described);
    }
    return list;
}

static PyObject *diff(PyObject *a, PyObject *b, lx_field_diff *pairs, size_t count,
                      lxpy_callbacks *callbacks)
{
    lxpy_reading here, there;
    lx_error error = LX_ERROR_INIT;
    if (lxpy_reading_begin(&here, a) < 0)
        return NULL;
    if (lxpy_reading_begin(&there, b) < 0) {
        lxpy_reading_end(&here);
        return NULL;
    }
    lxpy_callbacks_begin(callbacks);
    lx_dataset_diff(here.handle, there.handle, pairs, count, lxpy_report_progress, callbacks,
                    &error);
    lxpy_callbacks_end(callbacks);
    lxpy_reading_end(&there);
    lxpy_reading_end(&here);
    if (callbacks->raised)
        return NULL;
    return error.status == LX_OK ? describe_pairs(pairs, count) : lxpy_raise(here.state, &error);
}

PyObject *lxpy_dataset_diff(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"other", "pairs", "progress", NULL};
    lxpy_state *state = ((lxpy_dataset *)object)->state;
    PyObject *values[3];
    lxpy_callbacks callbacks;
    size_t pair_count;
    if (lxpy_arguments("_diff", names, 3, 3, args, count, NULL, values) < 0 ||
        lxpy_dataset_check(state, values[0], names[0]) < 0 ||
        lxpy_callbacks_init(&callbacks, state, values[2], Py_None) < 0)
        return NULL;
    lx_field_diff *pairs = take_pairs(values[1], &pair_count);
    PyObject *result = pairs != NULL ? diff(object, values[0], pairs, pair_count, &callbacks)
                                     : NULL;
    PyMem_Free(pairs);
    return result;
}

/* --------------------------------------------------------------------- backup */

PyObject *lxpy_dataset_backup(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"path", "progress", NULL};
    lxpy_reading reading;
    lx_error error = LX_ERROR_INIT;
    PyObject *values[2];
    lxpy_callbacks callbacks;
    if (lxpy_arguments("_backup", names, 2, 2, args, count, NULL, values) < 0 ||
        lxpy_callbacks_init(&callbacks, ((lxpy_dataset *)object)->state, values[1], Py_None) < 0)
        return NULL;
    PyObject *path = lxpy_path(values[0], names[0]);
    if (path == NULL || lxpy_reading_begin(&reading, object) < 0) {
        Py_XDECREF(path);
        return NULL;
    }
    lxpy_callbacks_begin(&callbacks);
    lx_dataset_backup(reading.handle, PyBytes_AS_STRING(path), lxpy_report_progress, &callbacks,
                      &error);
    lxpy_callbacks_end(&callbacks);
    lxpy_reading_end(&reading);
    Py_DECREF(path);
    if (callbacks.raised)
        return NULL;
    if (error.status != LX_OK)
        return lxpy_raise(reading.state, &error);
    Py_RETURN_NONE;
}

/* --------------------------------------------------------------------- export */

/** The arguments of an export. */
typedef struct exporting {
    Py_ssize_t field;
    PyObject *path;        /**< bytes */
    const char *suffix;    /**< NULL to write one .npy file. */
    lxpy_indices *indices; /**< NULL for all records. */
    lxpy_callbacks *callbacks;
} exporting;

static PyObject *export_records(lxpy_reading *self, const exporting *e)
{
    lx_error error = LX_ERROR_INIT;
    lx_export_result result;
    const uint64_t *numbers = e->indices != NULL ? e->indices->numbers : NULL;
    uint64_t count = e->indices != NULL ? e->indices->count : 0;
    const char *path = PyBytes_AS_STRING(e->path);
    lx_export_options *options = lx_export_options_new();
    if (options == NULL)
        return PyErr_NoMemory();
    lx_export_options_set_indices(options, numbers, count, &error);
    lx_export_options_set_progress(options, lxpy_report_progress, e->callbacks, &error);
    lx_status status = lx_export_options_set_suffix(options, e->suffix, &error);
    lxpy_callbacks_begin(e->callbacks);
    if (status == LX_OK && e->suffix == NULL)
        lx_dataset_export_npy(self->handle, (size_t)e->field, path, options, &result, &error);
    else if (status == LX_OK)
        lx_dataset_export_files(self->handle, (size_t)e->field, path, options, &result, &error);
    lxpy_callbacks_end(e->callbacks);
    lx_export_options_free(options);
    if (e->callbacks->raised)
        return NULL;
    if (error.status != LX_OK)
        return lxpy_raise(self->state, &error);
    return Py_BuildValue("{s:K, s:K, s:K, s:K}", "records", NUMBER(result.records), "missing",
                         NUMBER(result.missing), "damaged", NUMBER(result.damaged), "bytes",
                         NUMBER(result.bytes));
}

static PyObject *export_entered(lxpy_reading *self, exporting *e, PyObject *name, PyObject *which)
{
    lxpy_indices indices;
    e->field = lxpy_schema_find(self->schema, name);
    if (e->field < 0)
        return NULL;
    if (which == Py_None)
        return export_records(self, e);
    if (lxpy_indices_take(&indices, self->state, which, lx_dataset_get_length(self->handle),
                          "indices") < 0)
        return NULL;
    e->indices = &indices;
    PyObject *result = export_records(self, e);
    lxpy_indices_clear(&indices);
    return result;
}

PyObject *lxpy_dataset_export(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"field", "path", "indices", "suffix", "progress", NULL};
    PyObject *values[5], *result = NULL;
    lxpy_reading reading;
    lxpy_callbacks callbacks;
    exporting e = {.callbacks = &callbacks};
    if (lxpy_arguments("_export", names, 5, 5, args, count, NULL, values) < 0 ||
        lxpy_callbacks_init(&callbacks, ((lxpy_dataset *)object)->state, values[4], Py_None) < 0)
        return NULL;
    if (values[3] != Py_None && (e.suffix = lxpy_text(values[3], names[3])) == NULL)
        return NULL;
    e.path = lxpy_path(values[1], names[1]);
    if (e.path != NULL && lxpy_reading_begin(&reading, object) == 0) {
        result = export_entered(&reading, &e, values[0], values[2]);
        lxpy_reading_end(&reading);
    }
    Py_XDECREF(e.path);
    return result;
}

/* --------------------------------------------------------------------- repair */

static PyObject *make_finding(lxpy_callbacks *callbacks, const void *what)
{
    static const char *const actions[] = {"none", "missing", "delete", "drop", "cut", "restamp"};
    const lx_finding *finding = what;
    PyObject *dict = lxpy_damage_new(&finding->damage);
    PyObject *word = dict != NULL ? PyUnicode_FromString(actions[finding->action]) : NULL;
    (void)callbacks;
    if (word == NULL || PyDict_SetItemString(dict, "action", word) < 0)
        Py_CLEAR(dict);
    Py_XDECREF(word);
    return dict;
}

static lx_status take_finding(const lx_finding *finding, void *user, lx_error *error)
{
    (void)error;
    return lxpy_report_finding(user, make_finding, finding);
}

static PyObject *repair_result(const lx_repair_result *r, PyObject *exception)
{
    return Py_BuildValue(
        "({s:K, s:K, s:K, s:K, s:K, s:K, s:K, s:N}N)", "records", NUMBER(r->records), "values",
        NUMBER(r->values), "damages", NUMBER(r->damages), "missing", NUMBER(r->missing), "deleted",
        NUMBER(r->deleted), "cut_bytes", NUMBER(r->cut_bytes), "copied_bytes",
        NUMBER(r->copied_bytes), "changed", PyBool_FromLong(r->changed), exception);
}

/** The arguments of a repair. */
typedef struct repair_call {
    PyObject *path, *into; /**< bytes; @p into is NULL to repair in place. */
    int deletes, apply, loses;
    lxpy_callbacks callbacks;
} repair_call;

static void repair_without_gil(repair_call *call, lx_repair_result *r, lx_error *error)
{
    const char *path = PyBytes_AS_STRING(call->path);
    lx_repair_options *options = lx_repair_options_new();
    if (options == NULL) {
        error->status = LX_ERR_NOMEM;
        return;
    }
    (void)lx_repair_options_set_policy(options,
                                       call->deletes ? LX_REPAIR_DELETE : LX_REPAIR_MISSING, error);
    (void)lx_repair_options_set_apply(options, call->apply != 0, error);
    (void)lx_repair_options_set_lose_unreadable(options, call->loses != 0, error);
    (void)lx_repair_options_set_found(options, take_finding, &call->callbacks, error);
    (void)lx_repair_options_set_progress(options, lxpy_report_progress, &call->callbacks, error);
    if (call->into != NULL)
        (void)lx_dataset_recover(path, PyBytes_AS_STRING(call->into), options, r, error);
    else
        (void)lx_dataset_repair(path, options, r, error);
    lx_repair_options_free(options);
}

static PyObject *repair(lxpy_state *state, repair_call *call)
{
    lx_error error = LX_ERROR_INIT;
    lx_repair_result r = {0};
    lxpy_callbacks_begin(&call->callbacks);
    repair_without_gil(call, &r, &error);
    lxpy_callbacks_end(&call->callbacks);
    if (call->callbacks.raised)
        return NULL;
    if (error.status != LX_OK && error.status != LX_ERR_CORRUPT)
        return lxpy_raise(state, &error);
    PyObject *exception = error.status != LX_OK ? lxpy_exception_new(state, &error)
                                                : Py_NewRef(Py_None);
    return exception != NULL ? repair_result(&r, exception) : NULL;
}

/** Returns the report, and an exception that describes the remaining damage, or None. */
PyObject *lxpy_dataset_repair(PyObject *type, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"path",  "into",     "delete", "apply", "lose_unreadable",
                                        "found", "progress", NULL};
    lxpy_state *state = lxpy_state_find((PyTypeObject *)type);
    PyObject *values[7], *result = NULL;
    repair_call call = {0};
    if (state == NULL || lxpy_arguments("_repair", names, 7, 7, args, count, NULL, values) < 0 ||
        (call.deletes = PyObject_IsTrue(values[2])) < 0 ||
        (call.apply = PyObject_IsTrue(values[3])) < 0 ||
        (call.loses = PyObject_IsTrue(values[4])) < 0 ||
        lxpy_callbacks_init(&call.callbacks, state, values[6], values[5]) < 0)
        return NULL;
    call.path = lxpy_path(values[0], names[0]);
    if (call.path != NULL && values[1] != Py_None)
        call.into = lxpy_path(values[1], names[1]);
    if (call.path != NULL && (values[1] == Py_None || call.into != NULL))
        result = repair(state, &call);
    Py_XDECREF(call.into);
    Py_XDECREF(call.path);
    return result;
}

/* --------------------------------------------------------------- by path only */

static PyObject *call_with_path(PyObject *type, PyObject *object,
                                lx_status (*function)(const char *, lx_error *))
{
    lx_error error = LX_ERROR_INIT;
    lxpy_state *state = lxpy_state_find((PyTypeObject *)type);
    PyObject *path = state != NULL ? lxpy_path(object, "path") : NULL;
    if (path == NULL)
        return NULL;
    LXPY_WITHOUT_GIL(function(PyBytes_AS_STRING(path), &error));
    Py_DECREF(path);
    if (error.status != LX_OK)
        return lxpy_raise(state, &error);
    Py_RETURN_NONE;
}

PyObject *lxpy_dataset_remove(PyObject *type, PyObject *path)
{
    return call_with_path(type, path, lx_dataset_remove);
}

PyObject *lxpy_dataset_unseal(PyObject *type, PyObject *path)
{
    return call_with_path(type, path, lx_dataset_unseal);
}
