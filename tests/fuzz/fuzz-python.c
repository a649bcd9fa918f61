/* SPDX-License-Identifier: MIT */
/* The Python extension, as callers reach it: its own sources are linked in, so that the engine sees
 * which of their lines an input takes; an interpreter runs fuzz_python.py, which makes indices,
 * buffers and values of the input's bytes. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "fuzz.h"

PyMODINIT_FUNC PyInit__core(void);

/* What the interpreter itself keeps to its end is no leak of ours; the sanitizer asks for this. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return 1;
}

static PyObject *take_input;

static _Noreturn void fail(const char *what)
{
    PyErr_Print();
    fuzz_fail("%s", what);
}

static void add_path(const char *directory)
{
    PyObject *list = PySys_GetObject("path"), *path = PyUnicode_FromString(directory);
    if (list == NULL || path == NULL || PyList_Insert(list, 0, path) != 0)
        fail("sys.path");
    Py_DECREF(path);
}

/** The package finds this extension as its own: see fuzz_python.py. */
static void begin(void)
{
    char folder[4200];
    const char *top = getenv("top_srcdir");
    if (top == NULL)
        top = FUZZ_TOP;
    if (PyImport_AppendInittab("loaderx._core", PyInit__core) != 0)
        fail("the extension");
    Py_InitializeEx(0);
    snprintf(folder, sizeof folder, "%s/bindings/python", top);
    add_path(folder);
    snprintf(folder, sizeof folder, "%s/tests/fuzz", top);
    add_path(folder);
    PyObject *module = PyImport_ImportModule("fuzz_python");
    PyObject *made = module != NULL ? PyObject_CallMethod(module, "begin", "s", fuzz_directory())
                                    : NULL;
    take_input = made != NULL ? PyObject_GetAttrString(module, "take") : NULL;
    if (take_input == NULL)
        fail("fuzz_python.py");
    Py_DECREF(made);
    Py_DECREF(module);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (take_input == NULL)
        begin();
    PyObject *result = PyObject_CallFunction(take_input, "y#", (const char *)data,
                                             (Py_ssize_t)size);
    if (result == NULL)
        fail("an input");
    Py_DECREF(result);
    return 0;
}
