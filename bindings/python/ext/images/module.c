/* SPDX-License-Identifier: MIT */
/* The module loaderx._images. */
#include "images.h"

static int execute(PyObject *module)
{
    images_state *state = PyModule_GetState(module);
    state->core = PyImport_ImportModule("loaderx._core");
    state->shared = state->core != NULL ? PyCapsule_Import(LXPY_CAPSULE, 0) : NULL;
    if (state->shared == NULL || images_add_encoder(module) < 0 || images_add_image(module) < 0)
        return -1;
    return images_add_transform(module);
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    images_state *state = PyModule_GetState(module);
    Py_VISIT(state->core);
    return 0;
}

static int clear(PyObject *module)
{
    images_state *state = PyModule_GetState(module);
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
    .m_name = "loaderx._images",
    .m_doc = "The extension of loaderx for images. Use loaderx.images instead.",
    .m_size = sizeof(images_state),
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = release,
};

PyMODINIT_FUNC PyInit__images(void)
{
    return PyModuleDef_Init(&definition);
}

images_state *images_state_find(PyTypeObject *type)
{
    return PyType_GetModuleState(type);
}

int images_add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    int result = type != NULL ? PyModule_AddType(module, (PyTypeObject *)type) : -1;
    Py_XDECREF(type);
    return result;
}
