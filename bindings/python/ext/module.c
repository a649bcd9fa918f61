/* SPDX-License-Identifier: MIT */
/* The module loaderx._core: its state, and the list of functions by which other files add objects
 * to the module. */
#include "log.h"
#include "objects.h"

#include <string.h>

static int add_all(PyObject *module)
{
    int (*const adders[])(PyObject *) = {
        lxpy_add_memory,        lxpy_add_order,           lxpy_add_order_makers,
        lxpy_add_blend,         lxpy_add_weighted,        lxpy_add_budgeted,
        lxpy_add_grouped,       lxpy_add_parity_orders,   lxpy_add_source,
        lxpy_add_source_makers, lxpy_add_source_megatron, lxpy_add_source_tokens,
        lxpy_add_tokens,        lxpy_add_loader,          lxpy_add_pass,
        lxpy_add_trace,         lxpy_add_collate,         lxpy_add_pad,
        lxpy_add_arrow,         lxpy_add_ragged,          lxpy_add_executor,
        lxpy_add_dataset,       lxpy_add_import,          lxpy_add_writer,
        lxpy_add_ticket,        lxpy_add_recordio,        lxpy_add_capsule,
        lxpy_add_elsewhere,
    };
    for (size_t i = 0; i < sizeof adders / sizeof *adders; i++)
        if (adders[i](module) < 0)
            return -1;
    return 0;
}

/** Stores attribute @p name of module @p from in the state. */
static int keep(lxpy_state *state, enum lxpy_object place, const char *from, const char *name)
{
    PyObject *module = PyImport_ImportModule(from);
    if (module == NULL)
        return -1;
    state->objects[place] = PyObject_GetAttrString(module, name);
    Py_DECREF(module);
    return state->objects[place] != NULL ? 0 : -1;
}

static int keep_imports(lxpy_state *state)
{
    if (keep(state, LXPY_LOADERX_ERROR, "loaderx.errors", "LoaderxError") < 0 ||
        keep(state, LXPY_CORRUPT_ERROR, "loaderx.errors", "CorruptError") < 0 ||
        keep(state, LXPY_CONVERT_RECORD, "loaderx.values", "convert_record") < 0 ||
        keep(state, LXPY_CONVERT_COLUMN, "loaderx.values", "convert_column") < 0 ||
        keep(state, LXPY_BROADCAST_RECORD, "loaderx.values", "broadcast_record") < 0 ||
        keep(state, LXPY_LOG, "loaderx._logging", "log") < 0 ||
        keep(state, LXPY_BATCH, "loaderx.batch", "Batch") < 0 ||
        keep(state, LXPY_RAGGED, "loaderx.ragged", "Ragged") < 0 ||
        (LXPY(state, ORIGIN) = PyUnicode_InternFromString("_origin")) == NULL ||
        (LXPY(state, PRESENT) = PyUnicode_InternFromString("present")) == NULL ||
        keep(state, LXPY_COLUMNS_OF, "loaderx._tables", "columns_of") < 0 ||
        keep(state, LXPY_ARROW_OF, "loaderx._tables", "arrow_of") < 0 ||
        keep(state, LXPY_FIND_DTYPE, "loaderx._types", "find_dtype") < 0 ||
        keep(state, LXPY_CONVERT_VARYING, "loaderx.values", "convert_varying") < 0 ||
        keep(state, LXPY_TO_JSON, "loaderx.values", "to_json") < 0 ||
        keep(state, LXPY_FROM_JSON, "json", "loads") < 0 ||
        (LXPY(state, CASTING) = PyUnicode_InternFromString("casting")) == NULL ||
        keep(state, LXPY_NDARRAY, "numpy", "ndarray") < 0 ||
        keep(state, LXPY_EMPTY, "numpy", "empty") < 0 ||
        keep(state, LXPY_ASARRAY, "numpy", "asarray") < 0 ||
        keep(state, LXPY_NUMPY_DTYPE, "numpy", "dtype") < 0)
        return -1;
    return 0;
}

/** Stores the buffer protocol format of arrays of the type @p dtype. */
static int keep_format(lxpy_state *state, int dtype)
{
    PyObject *array = PyObject_CallFunction(LXPY(state, EMPTY), "iO", 0, state->dtypes[dtype]);
    Py_buffer view;
    if (array == NULL || PyObject_GetBuffer(array, &view, PyBUF_FORMAT | PyBUF_STRIDES) < 0) {
        Py_XDECREF(array);
        return -1;
    }
    strncpy(state->formats[dtype], view.format, sizeof state->formats[dtype] - 1);
    PyBuffer_Release(&view);
    Py_DECREF(array);
    return 0;
}

/** Returns the numpy.dtype of the named type in its stored form, which is little-endian. */
static PyObject *stored_dtype(lxpy_state *state, const char *name)
{
    PyObject *native = PyObject_CallFunction(LXPY(state, NUMPY_DTYPE), "s", name);
    PyObject *stored = native != NULL ? PyObject_CallMethod(native, "newbyteorder", "s", "<")
                                      : NULL;
    PyObject *text = stored != NULL ? PyObject_GetAttrString(stored, "str") : NULL;
    /* a lookup by this text returns the singleton that all arrays of the type share */
    PyObject *dtype = text != NULL ? PyObject_CallOneArg(LXPY(state, NUMPY_DTYPE), text) : NULL;
    Py_XDECREF(native);
    Py_XDECREF(stored);
    Py_XDECREF(text);
    return dtype;
}

static bool belongs_to_ml_dtypes(lx_dtype dtype)
{
    return (dtype >= LX_BFLOAT16 && dtype <= LX_FLOAT8_E5M2) ||
           (dtype >= LX_FLOAT8_E4M3FNUZ && dtype <= LX_FLOAT8_E8M0FNU);
}

/** Stores a type in the state. */
static int keep_dtype(lxpy_state *state, lx_dtype dtype)
{
    bool is_time = dtype >= LX_DATETIME64_D && dtype <= LX_DATETIME64_NS;
    if (lx_dtype_is_bytes(dtype))
        state->dtypes[dtype] = Py_NewRef(Py_None);
    else if (!belongs_to_ml_dtypes(dtype))
        state->dtypes[dtype] = stored_dtype(state, lx_dtype_get_name(dtype));
    else
        return 0;
    if (state->dtypes[dtype] == NULL)
        return -1;
    return lx_dtype_is_bytes(dtype) || is_time ? 0 : keep_format(state, (int)dtype);
}

/** Stores the types in the state. The module's dict DTYPES maps the names of all types to dtypes,
 * or to None for byte strings and for the types of ml_dtypes. */
static int keep_dtypes(PyObject *module, lxpy_state *state)
{
    PyObject *names = PyDict_New();
    if (names == NULL || PyModule_AddObject(module, "DTYPES", names) < 0) {
        Py_XDECREF(names);
        return -1;
    }
    for (int i = 0; i < LXPY_DTYPE_COUNT; i++) {
        lx_dtype dtype = (lx_dtype)i;
        if (keep_dtype(state, dtype) < 0)
            return -1;
        PyObject *known = state->dtypes[i] != NULL ? state->dtypes[i] : Py_None;
        if (PyDict_SetItemString(names, lx_dtype_get_name(dtype), known) < 0)
            return -1;
    }
    return 0;
}

PyObject *lxpy_dtype(lxpy_state *state, lx_dtype dtype)
{
    if (state->dtypes[dtype] == NULL)
        state->dtypes[dtype] = PyObject_CallFunction(LXPY(state, FIND_DTYPE), "s",
                                                     lx_dtype_get_name(dtype));
    return state->dtypes[dtype];
}

static int execute(PyObject *module)
{
    lxpy_state *state = lxpy_state_get(module);
    if (keep_imports(state) < 0 || keep_dtypes(module, state) < 0 || add_all(module) < 0)
        return -1;
    lxpy_log_init();
    return PyModule_AddStringConstant(module, "library_version", lx_get_version());
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    lxpy_state *state = lxpy_state_get(module);
    for (int i = 0; i < LXPY_OBJECT_COUNT; i++)
        Py_VISIT(state->objects[i]);
    for (int i = 0; i < LXPY_DTYPE_COUNT; i++)
        Py_VISIT(state->dtypes[i]);
    return 0;
}

static int clear(PyObject *module)
{
    lxpy_state *state = lxpy_state_get(module);
    for (int i = 0; i < LXPY_OBJECT_COUNT; i++)
        Py_CLEAR(state->objects[i]);
    for (int i = 0; i < LXPY_DTYPE_COUNT; i++)
        Py_CLEAR(state->dtypes[i]);
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
    .m_name = "loaderx._core",
    .m_doc = "The extension of loaderx. Use the package loaderx instead.",
    .m_size = sizeof(lxpy_state),
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = release,
};

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}

lxpy_state *lxpy_state_get(PyObject *module)
{
    return PyModule_GetState(module);
}

lxpy_state *lxpy_state_find(PyTypeObject *type)
{
    for (; type != NULL; type = type->tp_base) {
        PyObject *module = NULL;
        if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE))
            module = ((PyHeapTypeObject *)type)->ht_module;
        if (module != NULL && PyModule_GetDef(module) == &definition)
            return PyModule_GetState(module);
        PyErr_Clear();
    }
    PyErr_SetString(PyExc_SystemError, "a type of loaderx._core has no module");
    return NULL;
}

int lxpy_add_type(PyObject *module, PyType_Spec *spec, enum lxpy_object place)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (type == NULL)
        return -1;
    lxpy_state_get(module)->objects[place] = type;
    return PyModule_AddType(module, (PyTypeObject *)type);
}
