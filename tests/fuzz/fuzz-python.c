/* SPDX-License-Identifier: MIT */
/* The Python extension, through its public interface. Its sources are linked in, so that the engine
 * measures their coverage; an interpreter runs fuzz_python.py, which makes indices, buffers and
 * values from the bytes of the input. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "fuzz.h"

PyMODINIT_FUNC PyInit__core(void);

/* Suppresses leaks of the interpreter itself. Called by the sanitizer. */
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

/** Lets the package import this extension as its own: see fuzz_python.py. */
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
