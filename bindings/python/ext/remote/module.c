/* SPDX-License-Identifier: MIT */
/* The module loaderx._remote, which is separate from loaderx._core so that only users of datasets
 * that are elsewhere load the libraries for networks. */
#include "../capsule.h"

#include <loaderx/remote.h>

/** The state of the module. */
typedef struct remote_state {
    PyObject *core; /**< loaderx._core, to which @ref shared belongs. */
    const lxpy_capsule *shared;
} remote_state;

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
        "{s:K, s:K, s:K, s:K, s:K, s:K, s:K, s:K}", "requests", (unsigned long long)stats.requests,
        "bytes", (unsigned long long)stats.bytes, "retries", (unsigned long long)stats.retries,
        "throttled", (unsigned long long)stats.throttled, "cached_bytes",
        (unsigned long long)stats.cached_bytes, "stored_bytes",
        (unsigned long long)stats.stored_bytes, "wait_ns", (unsigned long long)stats.wait_ns,
        "replaced_bytes", (unsigned long long)stats.replaced_bytes);
}

static void release_opener(PyObject *capsule)
{
    lxpy_opener *opener = PyCapsule_GetPointer(capsule, LXPY_OPENER);
    lx_remote_options_free(opener->options);
    PyMem_Free(opener);
}

/** Returns the capsule of a new opener, which owns @p options; frees them on failure. */
static PyObject *new_opener(const remote_state *state, lx_remote_options *options)
{
    lxpy_opener *opener = PyMem_Malloc(sizeof *opener);
    PyObject *capsule = NULL;
    if (opener != NULL) {
        *opener = (lxpy_opener){options, state->shared, open_dataset, get_stats};
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

static PyObject *make_opener(PyObject *module, PyObject *args)
{
    const remote_state *state = PyModule_GetState(module);
    lx_error error = LX_ERROR_INIT;
    PyObject *cache, *limit, *memory, *connections, *patience;
    unsigned long long number = LX_NONE;
    if (!PyArg_ParseTuple(args, "OOOOO:opener", &cache, &limit, &memory, &connections, &patience))
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
    if (!PyErr_Occurred() && error.status == LX_OK)
        return new_opener(state, options);
    lx_remote_options_free(options);
    return PyErr_Occurred() ? NULL : state->shared->raise(state->shared->state, &error);
}

static PyMethodDef methods[] = {
    {"opener", make_opener, METH_VARARGS,
     "opener(cache, limit, memory, connections, patience)\n--\n\n"
     "Return the capsule of an opener. Each argument may be None; the patience is in nanoseconds."},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module)
{
    remote_state *state = PyModule_GetState(module);
    state->core = PyImport_ImportModule("loaderx._core");
    state->shared = state->core != NULL ? PyCapsule_Import(LXPY_CAPSULE, 0) : NULL;
    if (state->shared == NULL)
        return -1;
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
    .m_doc = "The extension of loaderx for datasets that are elsewhere; see loaderx.open().",
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
