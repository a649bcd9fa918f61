/* SPDX-License-Identifier: MIT */
/* What is done to datasets from outside: a backup of one that is read, and what takes a path. */
#include "dataset.h"
#include "progress.h"

#define NUMBER(value) ((unsigned long long)(value))

/* --------------------------------------------------------------------- backup */

PyObject *lxpy_dataset_backup(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"path", "progress", NULL};
    lxpy_reading reading;
    lx_error error = LX_ERROR_INIT;
    PyObject *values[2];
    lxpy_teller teller;
    if (lxpy_arguments("_backup", names, 2, 2, args, count, NULL, values) < 0 ||
        lxpy_teller_init(&teller, ((lxpy_dataset *)object)->state, values[1], Py_None) < 0)
        return NULL;
    PyObject *path = lxpy_path(values[0], names[0]);
    if (path == NULL || lxpy_reading_begin(&reading, object) < 0) {
        Py_XDECREF(path);
        return NULL;
    }
    lxpy_teller_begin(&teller);
    lx_dataset_backup(reading.handle, PyBytes_AS_STRING(path), lxpy_tell_progress, &teller, &error);
    lxpy_teller_end(&teller);
    lxpy_reading_end(&reading);
    Py_DECREF(path);
    if (teller.raised)
        return NULL;
    if (error.status != LX_OK)
        return lxpy_raise(reading.state, &error);
    Py_RETURN_NONE;
}

/* --------------------------------------------------------------------- export */

/** What is exported, and where to. */
typedef struct exporting {
    Py_ssize_t field;
    PyObject *path;     /**< bytes */
    const char *suffix; /**< NULL: to one .npy file. */
    lxpy_indices *indices; /**< NULL: all. */
    lxpy_teller *teller;
} exporting;

static PyObject *export_records(lxpy_reading *self, const exporting *e)
{
    lx_error error = LX_ERROR_INIT;
    lx_export result;
    const uint64_t *numbers = e->indices != NULL ? e->indices->numbers : NULL;
    uint64_t count = e->indices != NULL ? e->indices->count : 0;
    const char *path = PyBytes_AS_STRING(e->path);
    lxpy_teller_begin(e->teller);
    if (e->suffix == NULL)
        lx_dataset_export_npy(self->handle, (size_t)e->field, numbers, count, path,
                              lxpy_tell_progress, e->teller, &result, &error);
    else
        lx_dataset_export_files(self->handle, (size_t)e->field, numbers, count, path, e->suffix,
                                lxpy_tell_progress, e->teller, &result, &error);
    lxpy_teller_end(e->teller);
    if (e->teller->raised)
        return NULL;
    if (error.status != LX_OK)
        return lxpy_raise(self->state, &error);
    return Py_BuildValue("{s:K, s:K, s:K, s:K}", "records", NUMBER(result.records), "missing",
                         NUMBER(result.missing), "damaged", NUMBER(result.damaged), "bytes",
                         NUMBER(result.bytes));
}

static PyObject *export_entered(lxpy_reading *self, exporting *e, PyObject *name,
                                PyObject *which)
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
    lxpy_teller teller;
    exporting e = {.teller = &teller};
    if (lxpy_arguments("_export", names, 5, 5, args, count, NULL, values) < 0 ||
        lxpy_teller_init(&teller, ((lxpy_dataset *)object)->state, values[4], Py_None) < 0)
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

static const char *remedy_word(const lx_finding *finding)
{
    switch (finding->remedy) {
    case LX_REMEDY_MISSING:
        return "missing";
    case LX_REMEDY_DELETE:
        return "delete";
    case LX_REMEDY_FORGET:
        return "forget";
    case LX_REMEDY_LEFTOVER:
        return "leftover";
    case LX_REMEDY_RESTAMP:
        return "restamp";
    default:
        return finding->damage.status == LX_ERR_EXISTS ? "foreign" : "none";
    }
}

static PyObject *make_finding(lxpy_teller *teller, const void *what)
{
    const lx_finding *finding = what;
    PyObject *dict = lxpy_damage_new(&finding->damage);
    PyObject *word = dict != NULL ? PyUnicode_FromString(remedy_word(finding)) : NULL;
    (void)teller;
    if (word == NULL || PyDict_SetItemString(dict, "remedy", word) < 0)
        Py_CLEAR(dict);
    Py_XDECREF(word);
    return dict;
}

static lx_status take_finding(const lx_finding *finding, void *user)
{
    return lxpy_tell_found(user, make_finding, finding);
}

static PyObject *repair_result(const lx_repair_result *r, PyObject *exception)
{
    PyObject *aside = r->aside[0] != '\0' ? PyUnicode_DecodeFSDefault(r->aside)
                                          : Py_NewRef(Py_None);
    if (aside == NULL) {
        Py_DECREF(exception);
        return NULL;
    }
    return Py_BuildValue("({s:K, s:K, s:K, s:K, s:K, s:K, s:K, s:N, s:N}N)", "records",
                         NUMBER(r->records), "values", NUMBER(r->values), "damages",
                         NUMBER(r->damages), "missing", NUMBER(r->missing), "deleted",
                         NUMBER(r->deleted), "kept_bytes", NUMBER(r->kept_bytes), "foreign",
                         NUMBER(r->foreign), "aside", aside, "changed",
                         PyBool_FromLong(r->changed != 0), exception);
}

/** What was done, and as an exception why not all that is damaged was repaired, or None. */
PyObject *lxpy_dataset_repair(PyObject *type, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"path", "mode", "found", "progress", NULL};
    static const char *const modes[] = {"report", "values", "records", "report-records", NULL};
    lxpy_state *state = lxpy_state_find((PyTypeObject *)type);
    lx_error error = LX_ERROR_INIT;
    lx_repair_result r = {0};
    PyObject *values[4];
    lxpy_teller teller;
    int mode;
    if (state == NULL || lxpy_arguments("_repair", names, 4, 4, args, count, NULL, values) < 0 ||
        lxpy_choice(values[1], names[1], modes, &mode) < 0 ||
        lxpy_teller_init(&teller, state, values[3], values[2]) < 0)
        return NULL;
    PyObject *path = lxpy_path(values[0], names[0]);
    if (path == NULL)
        return NULL;
    lxpy_teller_begin(&teller);
    lx_dataset_repair(PyBytes_AS_STRING(path), (lx_repair)mode, take_finding, lxpy_tell_progress,
                      &teller, &r, &error);
    lxpy_teller_end(&teller);
    Py_DECREF(path);
    if (teller.raised)
        return NULL;
    if (error.status != LX_OK && error.status != LX_ERR_CORRUPT)
        return lxpy_raise(state, &error);
    PyObject *exception =
        error.status != LX_OK ? lxpy_exception_new(state, &error) : Py_NewRef(Py_None);
    return exception != NULL ? repair_result(&r, exception) : NULL;
}

/* --------------------------------------------------------------- by path alone */

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
