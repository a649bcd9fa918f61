/* SPDX-License-Identifier: MIT */
/* Imports of files of other formats. */
#include <loaderx/import.h>

#include "progress.h"
#include "writer.h"

/** The arguments of an import, as importing.py passes them. */
typedef struct import_call {
    PyObject *path, *format, *inputs, *options, *types, *storages;
    int skip, append, resume;
    lxpy_writer_arguments writing;
    lxpy_callbacks callbacks;
} import_call;

/* ------------------------------------------------------------------- settings */

/** Calls @p set for each item of a sequence; returns -1 with an exception set if one fails. */
static int for_each(PyObject *items, lx_importer *importer, lxpy_state *state,
                    int (*set)(lx_importer *, PyObject *, lx_error *))
{
    lx_error error = LX_ERROR_INIT;
    PyObject *list = PySequence_Fast(items, "expected a sequence");
    int failed = list == NULL;
    for (Py_ssize_t i = 0; !failed && i < PySequence_Fast_GET_SIZE(list); i++) {
        failed = set(importer, PySequence_Fast_GET_ITEM(list, i), &error) < 0;
        if (!failed && error.status != LX_OK) {
            lxpy_raise(state, &error);
            failed = 1;
        }
    }
    Py_XDECREF(list);
    return failed ? -1 : 0;
}

static int add_input(lx_importer *importer, PyObject *item, lx_error *error)
{
    PyObject *path = lxpy_path(item, "inputs");
    if (path == NULL)
        return -1;
    lx_importer_add_input(importer, PyBytes_AS_STRING(path), error);
    Py_DECREF(path);
    return 0;
}

static int set_option(lx_importer *importer, PyObject *item, lx_error *error)
{
    const char *name, *value;
    if (!PyArg_ParseTuple(item, "ss", &name, &value))
        return -1;
    lx_importer_set_option(importer, name, value, error);
    return 0;
}

static int set_type(lx_importer *importer, PyObject *item, lx_error *error)
{
    const char *name, *type;
    if (!PyArg_ParseTuple(item, "ss", &name, &type))
        return -1;
    lx_importer_set_field(importer, name, type, error);
    return 0;
}

static int set_storage(lx_importer *importer, PyObject *item, lx_error *error)
{
    const char *name;
    PyObject *compress;
    lx_compression compression;
    int level;
    unsigned dictionary;
    if (!PyArg_ParseTuple(item, "zOiI", &name, &compress, &level, &dictionary) ||
        lxpy_compression_take(compress, &compression) < 0)
        return -1;
    lx_importer_set_compression(importer, name, compression, level, dictionary, error);
    return 0;
}

static int set_all(lx_importer *importer, lxpy_state *state, import_call *call)
{
    lx_error error = LX_ERROR_INIT;
    const char *format = lxpy_text(call->format, "format");
    if (format == NULL)
        return -1;
    lx_importer_set_format(importer, format, &error);
    lx_importer_set_bad_policy(importer, call->skip ? LX_BAD_SKIP : LX_BAD_STOP, &error);
    lx_importer_set_append(importer, call->append, &error);
    lx_importer_set_resume(importer, call->resume, &error);
    lx_importer_set_progress(importer, lxpy_report_progress, &call->callbacks, &error);
    if (error.status != LX_OK) {
        lxpy_raise(state, &error);
        return -1;
    }
    return for_each(call->inputs, importer, state, add_input) < 0 ||
                   for_each(call->options, importer, state, set_option) < 0 ||
                   for_each(call->types, importer, state, set_type) < 0 ||
                   for_each(call->storages, importer, state, set_storage) < 0
               ? -1
               : 0;
}

/* --------------------------------------------------------------------- import */

/** Returns the counts, and a dict for each bad record that is listed. */
static PyObject *make_result(const lx_importer *importer)
{
    lx_import_result result;
    const lx_error *bad;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && (bad = lx_importer_get_bad(importer, i)) != NULL; i++) {
        PyObject *dict = lxpy_damage_new(bad);
        if (dict == NULL || PyList_Append(list, dict) < 0)
            Py_CLEAR(list);
        Py_XDECREF(dict);
    }
    lx_importer_get_result(importer, &result);
    return list == NULL ? NULL
                        : Py_BuildValue("({s:K, s:K, s:K, s:K, s:K}N)", "records",
                                        (unsigned long long)result.records, "resumed",
                                        (unsigned long long)result.resumed, "length",
                                        (unsigned long long)result.length, "bytes",
                                        (unsigned long long)result.bytes, "bad",
                                        (unsigned long long)result.bad, list);
}

static PyObject *run(lx_importer *importer, lxpy_state *state, import_call *call)
{
    lx_error error = LX_ERROR_INIT;
    PyObject *path = lxpy_path(call->path, "path");
    lx_writer_options *options = path != NULL ? lxpy_writer_options(state, &call->writing, &error)
                                              : NULL;
    if (options == NULL) {
        Py_XDECREF(path);
        return NULL;
    }
    lxpy_callbacks_begin(&call->callbacks);
    if (error.status == LX_OK)
        lx_importer_run(importer, PyBytes_AS_STRING(path), options, &error);
    lxpy_callbacks_end(&call->callbacks);
    lx_writer_options_free(options);
    Py_DECREF(path);
    if (call->callbacks.raised)
        return NULL;
    return error.status != LX_OK ? lxpy_raise(state, &error) : make_result(importer);
}

static PyObject *import_files(PyObject *module, PyObject *args)
{
    lxpy_state *state = lxpy_state_get(module);
    import_call call = {0};
    PyObject *progress, *made = NULL;
    if (!PyArg_ParseTuple(args, "OOOOOOpppOOOO:import_files", &call.path, &call.format,
                          &call.inputs, &call.options, &call.types, &call.storages, &call.skip,
                          &call.append, &call.resume, &call.writing.durability,
                          &call.writing.executor, &call.writing.card, &progress) ||
        lxpy_callbacks_init(&call.callbacks, state, progress, Py_None) < 0)
        return NULL;
    lx_importer *importer = lx_importer_new();
    if (importer == NULL)
        return PyErr_NoMemory();
    if (set_all(importer, state, &call) == 0)
        made = run(importer, state, &call);
    lx_importer_free(importer);
    return made;
}

static PyMethodDef functions[] = {{"import_files", import_files, METH_VARARGS, NULL}, {0}};

int lxpy_add_import(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
