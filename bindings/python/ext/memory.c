/* SPDX-License-Identifier: MIT */
/* Memory: owns memory from the library or malloc, and exposes it through the buffer protocol. */
#include "lxpy.h"

typedef struct memory {
    PyObject_HEAD
    void *data;
    Py_ssize_t size;
    bool writable;
    void *owner;                  /**< Passed to @ref release. */
    void (*release)(void *owner); /**< Releases the memory. */
} memory;

/* The address of an empty Memory, because NumPy interprets NULL as a request to allocate. */
static char nothing[1];

static void memory_dealloc(PyObject *self)
{
    memory *m = (memory *)self;
    PyTypeObject *type = Py_TYPE(self);
    m->release(m->owner);
    type->tp_free(self);
    Py_DECREF(type);
}

static int memory_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
    memory *m = (memory *)self;
    return PyBuffer_FillInfo(view, self, m->data, m->size, !m->writable, flags);
}

static Py_ssize_t memory_length(PyObject *self)
{
    return ((memory *)self)->size;
}

static PyType_Slot memory_slots[] = {
    {Py_tp_doc, "A block of memory that lives as long as its views."},
    {Py_tp_dealloc, memory_dealloc},
    {Py_bf_getbuffer, memory_getbuffer},
    {Py_mp_length, memory_length},
    {0, NULL},
};

static PyType_Spec memory_spec = {
    .name = "loaderx._core.Memory",
    .basicsize = sizeof(memory),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = memory_slots,
};

int lxpy_add_memory(PyObject *module)
{
    return lxpy_add_type(module, &memory_spec, LXPY_MEMORY_TYPE);
}

PyObject *lxpy_memory_new(lxpy_state *state, void *data, size_t size, bool writable, void *owner,
                          void (*release)(void *owner))
{
    if (size > PY_SSIZE_T_MAX) {
        PyErr_Format(PyExc_ValueError, "%zu bytes exceed the maximum size of an object", size);
        return NULL;
    }
    memory *m = PyObject_New(memory, (PyTypeObject *)LXPY(state, MEMORY_TYPE));
    if (m == NULL)
        return NULL;
    m->data = data != NULL ? data : nothing;
    m->size = (Py_ssize_t)size;
    m->writable = writable;
    m->owner = owner;
    m->release = release;
    return (PyObject *)m;
}

PyObject *lxpy_array_new(lxpy_state *state, PyObject *memory, size_t offset, PyObject *dtype,
                         PyObject *shape)
{
    PyObject *position = PyLong_FromSize_t(offset);
    if (position == NULL)
        return NULL;
    PyObject *args[] = {shape, dtype, memory, position};
    PyObject *array = PyObject_Vectorcall(LXPY(state, NDARRAY), args, 4, NULL);
    Py_DECREF(position);
    return array;
}

PyObject *lxpy_shape_new(uint64_t rows, const uint64_t *shape, size_t ndim)
{
    size_t first = rows != LX_NONE;
    PyObject *tuple = PyTuple_New((Py_ssize_t)(first + ndim));
    for (size_t i = 0; tuple != NULL && i < first + ndim; i++) {
        uint64_t number = i < first ? rows : shape[i - first];
        PyObject *extent = number != LX_NONE ? PyLong_FromUnsignedLongLong(number)
                                             : Py_NewRef(Py_None);
        if (extent == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, extent);
    }
    return tuple;
}
