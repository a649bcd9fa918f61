/* SPDX-License-Identifier: MIT */
/* Order: an lx_order, and the sampler that take() advances. */
#include "objects.h"
#include "lock.h"

#include <stdlib.h>

/* The maximum number of indices that a quick order returns without releasing the GIL. */
#define SHORT_TAKE 512

typedef struct order {
    PyObject_HEAD
    lxpy_state *state;
    lx_order *handle;
    lx_sampler *sampler; /**< Protected by the lock. */
    lxpy_lock lock;
    uint64_t rank, world;
    bool quick; /**< See lxpy_order_set_quick(). */
} order;

PyObject *lxpy_order_new(lxpy_state *state, lx_order *handle, uint64_t rank, uint64_t world)
{
    PyTypeObject *type = (PyTypeObject *)LXPY(state, ORDER_TYPE);
    order *self = (order *)type->tp_alloc(type, 0);
    lx_error error = LX_ERROR_INIT;
    if (self == NULL)
        return NULL;
    self->state = state;
    self->handle = lx_order_ref(handle);
    self->rank = rank;
    self->world = world;
    if (lxpy_lock_init(&self->lock) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    if (lx_sampler_new(handle, rank, world, &self->sampler, &error) != LX_OK) {
        Py_DECREF(self);
        return lxpy_raise(state, &error);
    }
    return (PyObject *)self;
}

PyObject *lxpy_order_wrap(lxpy_state *state, lx_order *handle, const lx_error *error)
{
    if (handle == NULL)
        return lxpy_raise(state, error);
    PyObject *self = lxpy_order_new(state, handle, 0, 1);
    lx_order_unref(handle);
    return self;
}

void lxpy_order_set_quick(PyObject *object)
{
    ((order *)object)->quick = true;
}

static void order_dealloc(PyObject *object)
{
    order *self = (order *)object;
    PyTypeObject *type = Py_TYPE(object);
    lx_sampler_free(self->sampler);
    lx_order_unref(self->handle);
    lxpy_lock_free(&self->lock);
    type->tp_free(object);
    Py_DECREF(type);
}

/** Allocates and fills an array. Returns -1 with an exception on failure. */
static int take(order *self, uint64_t count, uint64_t **indices, uint64_t *returned)
{
    lx_error error = LX_ERROR_INIT;
    lx_status status;
    *indices = count <= SIZE_MAX / sizeof **indices
                   ? malloc(count != 0 ? (size_t)count * sizeof **indices : 1)
                   : NULL;
    if (*indices == NULL) {
        PyErr_Format(PyExc_MemoryError, "not enough memory for k = %llu indices",
                     (unsigned long long)count);
        return -1;
    }
    *returned = 0;
    if (count == 0)
        return 0;
    if (lxpy_lock_take(&self->lock) < 0) {
        free(*indices);
        return -1;
    }
    if (self->quick && count <= SHORT_TAKE)
        status = lx_sampler_take(self->sampler, count, *indices, returned, &error);
    else
        LXPY_WITHOUT_GIL(
            status = lx_sampler_take(self->sampler, count, *indices, returned, &error));
    lxpy_lock_release(&self->lock);
    if (status >= 0)
        return 0;
    free(*indices);
    lxpy_raise(self->state, &error);
    return -1;
}

PyObject *lxpy_order_numbers(lxpy_state *state, uint64_t *numbers, uint64_t count)
{
    PyObject *memory = lxpy_memory_new(state, numbers, (size_t)count * sizeof *numbers, true,
                                       numbers, free);
    if (memory == NULL) {
        free(numbers);
        return NULL;
    }
    PyObject *shape = lxpy_shape_new(count, NULL, 0);
    PyObject *array = shape != NULL
                          ? lxpy_array_new(state, memory, 0, state->dtypes[LX_UINT64], shape)
                          : NULL;
    Py_XDECREF(shape);
    Py_DECREF(memory);
    return array;
}

static PyObject *order_take(PyObject *object, PyObject *argument)
{
    order *self = (order *)object;
    uint64_t count, returned, *indices;
    if (lxpy_uint64(argument, "k", 0, UINT64_MAX, &count) < 0 ||
        take(self, count, &indices, &returned) < 0)
        return NULL;
    return lxpy_order_numbers(self->state, indices, returned);
}

/* The initial capacity: most batches have at most this many indices. */
#define USUAL_BATCH 1024

/** Takes the next batch of a budgeted order. The memory grows if needed. */
static lx_status take_batch(order *self, uint64_t **indices, uint64_t *returned, lx_error *error)
{
    lx_status status = LX_ERR_LIMIT;
    *indices = NULL;
    *returned = USUAL_BATCH;
    for (uint64_t room = 0; status == LX_ERR_LIMIT && *returned > room;) {
        room = *returned;
        uint64_t *larger = room <= SIZE_MAX / sizeof *larger
                               ? realloc(*indices, (size_t)room * sizeof *larger)
                               : NULL;
        lx_error_clear(error);
        if (larger == NULL) {
            error->status = LX_ERR_NOMEM;
            return LX_ERR_NOMEM;
        }
        *indices = larger;
        status = lx_sampler_take_batch(self->sampler, larger, room, returned, error);
    }
    return status;
}

static PyObject *order_take_batch(PyObject *object, PyObject *ignored)
{
    order *self = (order *)object;
    lx_error error = LX_ERROR_INIT;
    lx_status status;
    uint64_t *indices, returned;
    (void)ignored;
    if (lxpy_lock_take(&self->lock) < 0)
        return NULL;
    LXPY_WITHOUT_GIL(status = take_batch(self, &indices, &returned, &error));
    lxpy_lock_release(&self->lock);
    if (status >= 0)
        return lxpy_order_numbers(self->state, indices, returned);
    free(indices);
    return lxpy_raise(self->state, &error);
}

static PyObject *order_seek(PyObject *object, PyObject *argument)
{
    order *self = (order *)object;
    uint64_t position;
    if (lxpy_uint64(argument, "position", 0, UINT64_MAX, &position) < 0 ||
        lxpy_lock_take(&self->lock) < 0)
        return NULL;
    lx_sampler_seek(self->sampler, position, NULL);
    lxpy_lock_release(&self->lock);
    Py_RETURN_NONE;
}

static PyObject *order_tell(PyObject *object, PyObject *ignored)
{
    order *self = (order *)object;
    (void)ignored;
    if (lxpy_lock_take(&self->lock) < 0)
        return NULL;
    uint64_t position = lx_sampler_tell(self->sampler);
    lxpy_lock_release(&self->lock);
    return PyLong_FromUnsignedLongLong(position);
}

static PyObject *order_shard(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    order *self = (order *)object;
    uint64_t rank, world;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "shard() takes the arguments rank and world");
        return NULL;
    }
    if (lxpy_uint64(args[1], "world", 1, UINT64_MAX, &world) < 0 ||
        lxpy_uint64(args[0], "rank", 0, world - 1, &rank) < 0 || lxpy_lock_take(&self->lock) < 0)
        return NULL;
    uint64_t position = lx_sampler_tell(self->sampler);
    lxpy_lock_release(&self->lock);
    PyObject *shard = lxpy_order_new(self->state, self->handle, rank, world);
    if (shard == NULL)
        return NULL;
    ((order *)shard)->quick = self->quick;
    lx_sampler_seek(((order *)shard)->sampler, position, NULL);
    return shard;
}

static lx_status save(const void *sampler, char *text, size_t size, size_t *length, lx_error *error)
{
    return lx_sampler_save(sampler, text, size, length, error);
}

static PyObject *order_save(PyObject *object, PyObject *ignored)
{
    order *self = (order *)object;
    (void)ignored;
    if (lxpy_lock_take(&self->lock) < 0)
        return NULL;
    PyObject *text = lxpy_save(self->state, save, self->sampler);
    lxpy_lock_release(&self->lock);
    return text;
}

static PyObject *order_restore(PyObject *object, PyObject *argument)
{
    order *self = (order *)object;
    lx_error error = LX_ERROR_INIT;
    const char *text = lxpy_text(argument, "state");
    if (text == NULL || lxpy_lock_take(&self->lock) < 0)
        return NULL;
    lx_sampler_restore(self->sampler, text, &error);
    lxpy_lock_release(&self->lock);
    if (error.status != LX_OK)
        return lxpy_raise(self->state, &error);
    Py_RETURN_NONE;
}

static PyObject *order_get_length(PyObject *object, void *ignored)
{
    (void)ignored;
    return PyLong_FromUnsignedLongLong(lx_order_get_length(((order *)object)->handle));
}

static PyObject *order_get_rank(PyObject *object, void *ignored)
{
    (void)ignored;
    return PyLong_FromUnsignedLongLong(((order *)object)->rank);
}

static PyObject *order_get_world(PyObject *object, void *ignored)
{
    (void)ignored;
    return PyLong_FromUnsignedLongLong(((order *)object)->world);
}

static PyMethodDef order_methods[] = {
    {"take", order_take, METH_O, NULL},
    {"take_batch", order_take_batch, METH_NOARGS, NULL},
    {"seek", order_seek, METH_O, NULL},
    {"tell", order_tell, METH_NOARGS, NULL},
    {"shard", (PyCFunction)order_shard, METH_FASTCALL, NULL},
    {"save", order_save, METH_NOARGS, NULL},
    {"restore", order_restore, METH_O, NULL},
    {NULL},
};

static PyGetSetDef order_getset[] = {
    {"length", order_get_length, NULL, NULL, NULL},
    {"rank", order_get_rank, NULL, NULL, NULL},
    {"world", order_get_world, NULL, NULL, NULL},
    {NULL},
};

static PyType_Slot order_slots[] = {
    {Py_tp_doc, "An order of known length, and a position in it."},
    {Py_tp_dealloc, order_dealloc},
    {Py_tp_methods, order_methods},
    {Py_tp_getset, order_getset},
    {0, NULL},
};

static PyType_Spec order_spec = {
    .name = "loaderx._core.Order",
    .basicsize = sizeof(order),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = order_slots,
};

int lxpy_add_order(PyObject *module)
{
    return lxpy_add_type(module, &order_spec, LXPY_ORDER_TYPE);
}

lx_order *lxpy_order_get(lxpy_state *state, PyObject *object, const char *argument)
{
    if (Py_TYPE(object) == (PyTypeObject *)LXPY(state, ORDER_TYPE))
        return ((order *)object)->handle;
    PyErr_Format(PyExc_TypeError, "%s must be an order, not %.100s", argument,
                 Py_TYPE(object)->tp_name);
    return NULL;
}

PyObject *lxpy_save(lxpy_state *state, lxpy_save_function save, const void *object)
{
    char text[LX_MAX_SAMPLER_STATE], *longer = text;
    size_t length = 0;
    lx_error error = LX_ERROR_INIT;
    lx_status status = save(object, text, sizeof text, &length, &error);
    if (status == LX_ERR_LIMIT) {
        lx_error_clear(&error);
        longer = malloc(length + 1);
        if (longer == NULL)
            return PyErr_NoMemory();
        status = save(object, longer, length + 1, NULL, &error);
    }
    PyObject *result = status == LX_OK ? PyUnicode_FromString(longer) : lxpy_raise(state, &error);
    if (longer != text)
        free(longer);
    return result;
}
