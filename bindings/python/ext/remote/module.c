/* SPDX-License-Identifier: MIT */
/* The module loaderx._remote, which is separate from loaderx._core so that only users of
 * remote datasets load the libraries for networks. */
#include "module.h"

#include <stdio.h>
#include <string.h>

#include <loaderx/remote.h>

/** The state of the module. */
typedef struct remote_state {
    PyObject *core; /**< loaderx._core, to which @ref shared belongs. */
    const lxpy_capsule *shared;
} remote_state;

/** Functions that any thread may call, also after the module was freed: static. */
static lxpy_capsule threads;

/* ---- credentials */

/** Reports the exception that the function for credentials has raised. */
static lx_status fail_with_exception(lx_error *error)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *text = value != NULL ? PyObject_Str(value) : NULL;
    const char *shown = text != NULL ? PyUnicode_AsUTF8(text) : NULL;
    lx_status status = lx_fail(error, LX_ERR_IO, "the function for credentials raised %s: %s",
                               type != NULL ? ((PyTypeObject *)type)->tp_name : "an exception",
                               shown != NULL ? shown : "");
    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return status;
}

static int copy_text(char *to, size_t capacity, const char *name, const char *text)
{
    if (strlen(text) < capacity) {
        strcpy(to, text);
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "%s has %zu bytes or more", name, capacity);
    return -1;
}

/** Calls the function whose number is @p user. */
static lx_status get_credentials(void *user, lx_credentials *credentials, lx_error *error)
{
    PyGILState_STATE gil;
    const char *key, *secret, *token;
    unsigned long long expires;
    lx_status status = threads.take_gil(&gil, error);
    if (status != LX_OK)
        return status;
    PyObject *module = PyImport_ImportModule("loaderx._elsewhere");
    PyObject *found = module != NULL ? PyObject_CallMethod(module, "get_credentials", "K",
                                                           (unsigned long long)(uintptr_t)user)
                                     : NULL;
    if (found == NULL || !PyArg_ParseTuple(found, "sssK", &key, &secret, &token, &expires) ||
        copy_text(credentials->access_key, LX_CREDENTIALS_KEY_SIZE, "access_key", key) < 0 ||
        copy_text(credentials->secret_key, LX_CREDENTIALS_KEY_SIZE, "secret_key", secret) < 0 ||
        copy_text(credentials->token, LX_CREDENTIALS_TOKEN_SIZE, "token", token) < 0)
        status = fail_with_exception(error);
    else
        credentials->expires = expires;
    Py_XDECREF(found);
    Py_XDECREF(module);
    threads.release_gil(gil);
    return status;
}

/** Forgets a function. */
static void release_credentials(uintptr_t number)
{
    PyObject *type, *value, *trace, *done = NULL;
    if (number == 0)
        return;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *module = PyImport_ImportModule("loaderx._elsewhere");
    if (module != NULL)
        done = PyObject_CallMethod(module, "release_credentials", "K", (unsigned long long)number);
    if (done == NULL)
        PyErr_Clear(); /* the interpreter is ending */
    Py_XDECREF(done);
    Py_XDECREF(module);
    PyErr_Restore(type, value, trace);
}

static PyObject *prepare_threads(PyObject *module, PyObject *ignored)
{
    (void)module, (void)ignored;
    if (threads.prepare_gil() < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* ---- openers */

static lx_status open_dataset(const lxpy_opener *self, const char *url,
                              const lx_dataset_options *options, lx_dataset **dataset,
                              lx_error *error)
{
    return lx_remote_open(url, self->options, options, dataset, error);
}

static PyObject *get_stats(const lxpy_opener *self, lx_dataset *dataset)
{
    lx_error error = LX_ERROR_INIT;
    lx_remote_stats stats;
    if (lx_remote_get_stats(dataset, &stats, &error) != LX_OK)
        return self->shared->raise(self->shared->state, &error);
    return Py_BuildValue(
        "{s:K, s:K, s:K, s:K, s:K, s:K, s:K, s:K, s:K}", "requests",
        (unsigned long long)stats.requests, "bytes", (unsigned long long)stats.bytes, "retries",
        (unsigned long long)stats.retries, "throttled", (unsigned long long)stats.throttled,
        "cached_bytes", (unsigned long long)stats.cached_bytes, "stored_bytes",
        (unsigned long long)stats.stored_bytes, "wait_ns", (unsigned long long)stats.wait_ns,
        "replaced_bytes", (unsigned long long)stats.replaced_bytes, "tier_bytes",
        (unsigned long long)stats.tier_bytes);
}

static void release_opener(PyObject *capsule)
{
    lxpy_opener *opener = PyCapsule_GetPointer(capsule, LXPY_OPENER);
    lx_remote_options_free(opener->options);
    release_credentials(opener->credentials);
    PyMem_Free(opener);
}

/** Returns the capsule of a new opener, which owns @p options; frees them on failure. */
static PyObject *new_opener(const remote_state *state, lx_remote_options *options,
                            uintptr_t credentials)
{
    lxpy_opener *opener = PyMem_Malloc(sizeof *opener);
    PyObject *capsule = NULL;
    if (opener != NULL) {
        *opener = (lxpy_opener){.options = options,
                                .credentials = credentials,
                                .shared = state->shared,
                                .open = open_dataset,
                                .push = lxpy_remote_push,
                                .get_stats = get_stats};
        capsule = PyCapsule_New(opener, LXPY_OPENER, release_opener);
    } else {
        PyErr_NoMemory();
    }
    if (capsule == NULL) {
        lx_remote_options_free(options);
        PyMem_Free(opener);
    }
    return capsule;
}

/** Gets a number that Python code has checked; returns false, with @p number unchanged, if the
 * argument is None or an exception is set. */
static bool take_number(PyObject *argument, unsigned long long *number)
{
    if (argument == Py_None)
        return false;
    unsigned long long taken = PyLong_AsUnsignedLongLong(argument);
    if (PyErr_Occurred())
        return false;
    *number = taken;
    return true;
}

/** Sets the nodes of a tier, a tuple of str; sets an exception if it is not. */
static void set_tier(lx_remote_options *options, PyObject *tier, lx_error *error)
{
    Py_ssize_t count = PyTuple_Size(tier);
    const char **urls = PyMem_Malloc(((size_t)count + 1) * sizeof *urls);
    if (urls == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++)
        urls[i] = PyUnicode_AsUTF8(PyTuple_GET_ITEM(tier, i));
    if (!PyErr_Occurred())
        lx_remote_options_set_tier(options, urls, (size_t)count, error);
    PyMem_Free((void *)urls);
}

/** Sets the options for servers; returns the number of the function for credentials. */
static uintptr_t set_servers(lx_remote_options *options, const char *endpoint, const char *region,
                             int anonymous, PyObject *credentials, lx_error *error)
{
    unsigned long long number = 0;
    lx_remote_options_set_endpoint(options, endpoint, error);
    lx_remote_options_set_region(options, region, error);
    lx_remote_options_set_anonymous(options, anonymous != 0, error);
    if (take_number(credentials, &number))
        lx_remote_options_set_credentials(options, get_credentials, (void *)(uintptr_t)number,
                                          error);
    return (uintptr_t)number;
}

static PyObject *make_opener(PyObject *module, PyObject *args)
{
    const remote_state *state = PyModule_GetState(module);
    lx_error error = LX_ERROR_INIT;
    PyObject *cache, *limit, *memory, *connections, *patience, *tier, *credentials;
    const char *endpoint, *region;
    int anonymous;
    unsigned long long number = LX_NONE;
    if (!PyArg_ParseTuple(args, "OOOOOO!zzpO:opener", &cache, &limit, &memory, &connections,
                          &patience, &PyTuple_Type, &tier, &endpoint, &region, &anonymous,
                          &credentials))
        return NULL;
    lx_remote_options *options = lx_remote_options_new();
    if (options == NULL)
        return PyErr_NoMemory();
    take_number(limit, &number);
    const char *folder = cache != Py_None ? PyBytes_AsString(cache) : NULL;
    if (folder != NULL)
        lx_remote_options_set_cache(options, folder, number, &error);
    if (take_number(memory, &number))
        lx_remote_options_set_memory(options, number, &error);
    if (take_number(connections, &number))
        lx_remote_options_set_connections(options, (uint32_t)number, &error);
    if (take_number(patience, &number))
        lx_remote_options_set_patience(options, number, &error);
    set_tier(options, tier, &error);
    uintptr_t key = set_servers(options, endpoint, region, anonymous, credentials, &error);
    if (!PyErr_Occurred() && error.status == LX_OK)
        return new_opener(state, options, key);
    lx_remote_options_free(options);
    return PyErr_Occurred() ? NULL : state->shared->raise(state->shared->state, &error);
}

static PyMethodDef methods[] = {
    {"opener", make_opener, METH_VARARGS,
     "opener(cache, limit, memory, connections, patience, tier, endpoint, region, anonymous, "
     "credentials)\n--\n\n"
     "Return the capsule of an opener. Each argument but tier and anonymous may be None; the "
     "patience is in nanoseconds, tier is a tuple, and credentials is the number of a function."},
    {"prune", lxpy_remote_prune, METH_VARARGS,
     "prune(url, opener, older, dry_run)\n--\n\n"
     "Remove files at a URL that are older than a number of seconds and that no dataset needs; "
     "return a list of names, sizes and times."},
    {"prepare_threads", prepare_threads, METH_NOARGS,
     "Allow threads of the library to call Python; must be called in each process."},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module)
{
    remote_state *state = PyModule_GetState(module);
    state->core = PyImport_ImportModule("loaderx._core");
    state->shared = state->core != NULL ? PyCapsule_Import(LXPY_CAPSULE, 0) : NULL;
    if (state->shared == NULL)
        return -1;
    threads = *state->shared;
    return PyModule_AddIntConstant(module, "MAX_CONNECTIONS", LX_MAX_CONNECTIONS);
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    remote_state *state = PyModule_GetState(module);
    Py_VISIT(state->core);
    return 0;
}

static int clear(PyObject *module)
{
    remote_state *state = PyModule_GetState(module);
    Py_CLEAR(state->core);
    return 0;
}

static void release(void *module)
{
    clear(module);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "loaderx._remote",
    .m_doc = "The extension of loaderx for remote datasets; see loaderx.open().",
    .m_size = sizeof(remote_state),
    .m_methods = methods,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = release,
};

PyMODINIT_FUNC PyInit__remote(void)
{
    return PyModuleDef_Init(&definition);
}
