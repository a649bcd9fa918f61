/* SPDX-License-Identifier: MIT */
/* Executor: threads with two task queues. */
#include "log.h"

typedef struct executor {
    PyObject_HEAD
    lxpy_state *state;
    lx_executor *handle; /**< NULL after close(). Protected by the GIL. */
} executor;

typedef lx_status (*count_setter)(lx_executor_options *, uint32_t, lx_error *);

/** Sets the number of threads if the argument is not NULL. */
static int set_count(lx_executor_options *options, PyObject *object, const char *argument,
                     uint64_t minimum, uint64_t maximum, count_setter setter, lx_error *error)
{
    uint64_t count;
    if (object == NULL || object == Py_None)
        return 0;
    if (lxpy_uint64(object, argument, minimum, maximum, &count) < 0)
        return -1;
    setter(options, (uint32_t)count, error);
    return 0;
}

static lx_executor_options *make_options(PyObject *args, PyObject *kwargs, lx_error *error)
{
    static char *names[] = {"readers", "writers", NULL};
    PyObject *readers = NULL, *writers = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:Executor", names, &readers, &writers))
        return NULL;
    lx_executor_options *options = lx_executor_options_new();
    if (options == NULL)
        return (lx_executor_options *)PyErr_NoMemory();
    if (set_count(options, readers, "readers", 0, LX_MAX_READERS,
                  lx_executor_options_set_reader_count, error) == 0 &&
        set_count(options, writers, "writers", 1, LX_MAX_WRITERS,
                  lx_executor_options_set_writer_count, error) == 0)
        return options;
    lx_executor_options_free(options);
    return NULL;
}

static PyObject *executor_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    lxpy_state *state = lxpy_state_find(type);
    lx_error error = LX_ERROR_INIT;
    lx_executor *handle = NULL;
    lx_executor_options *options = state != NULL ? make_options(args, kwargs, &error) : NULL;
    if (options == NULL)
        return NULL;
    lx_executor_open(options, &handle, &error);
    lx_executor_options_free(options);
    if (error.status != LX_OK) {
        lx_executor_unref(handle);
        return lxpy_raise(state, &error);
    }
    executor *self = (executor *)type->tp_alloc(type, 0);
    if (self == NULL) {
        lx_executor_unref(handle);
        return NULL;
    }
    self->state = state;
    self->handle = handle;
    lxpy_log_pass_on(state);
    return (PyObject *)self;
}

static void executor_dealloc(PyObject *object)
{
    executor *self = (executor *)object;
    PyTypeObject *type = Py_TYPE(object);
    lx_executor *handle = self->handle;
    self->handle = NULL;
    if (handle != NULL) /* dropping the last reference waits for callbacks that may need the GIL */
        LXPY_WITHOUT_GIL(lx_executor_unref(handle));
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *executor_close(PyObject *object, PyObject *ignored)
{
    executor *self = (executor *)object;
    lx_executor *handle = self->handle;
    (void)ignored;
    self->handle = NULL;
    if (handle != NULL)
        LXPY_WITHOUT_GIL(lx_executor_close(handle));
    Py_RETURN_NONE;
}

static PyObject *fail_closed(lxpy_state *state)
{
    return lxpy_raise_status(state, LX_ERR_STATE, "the executor is closed");
}

static PyObject *queue_stats(lxpy_state *state, lx_executor *handle, lx_queue queue)
{
    lx_queue_stats stats;
    lx_error error = LX_ERROR_INIT;
    if (lx_executor_get_stats(handle, queue, &stats, &error) != LX_OK)
        return lxpy_raise(state, &error);
    return Py_BuildValue(
        "{s:K, s:K, s:K, s:K, s:K, s:K}", "threads", (unsigned long long)stats.threads, "queued",
        (unsigned long long)stats.queued, "tasks", (unsigned long long)stats.tasks, "canceled",
        (unsigned long long)stats.canceled, "parts", (unsigned long long)stats.parts, "idle_ns",
        (unsigned long long)stats.idle_ns);
}

static PyObject *executor_stats(PyObject *object, PyObject *ignored)
{
    static const struct {
        const char *name;
        lx_queue queue;
    } queues[] = {{"read", LX_QUEUE_READ}, {"write", LX_QUEUE_WRITE}};
    executor *self = (executor *)object;
    (void)ignored;
    if (self->handle == NULL)
        return fail_closed(self->state);
    PyObject *all = PyDict_New();
    for (size_t i = 0; all != NULL && i < sizeof queues / sizeof *queues; i++) {
        PyObject *one = queue_stats(self->state, self->handle, queues[i].queue);
        if (one == NULL || PyDict_SetItemString(all, queues[i].name, one) < 0)
            Py_CLEAR(all);
        Py_XDECREF(one);
    }
    return all;
}

static PyObject *executor_get_count(PyObject *object, void *getter)
{
    executor *self = (executor *)object;
    uint32_t (*get)(const lx_executor *) = (uint32_t(*)(const lx_executor *))getter;
    if (self->handle == NULL)
        return fail_closed(self->state);
    return PyLong_FromUnsignedLong(get(self->handle));
}

static PyObject *executor_get_closed(PyObject *object, void *ignored)
{
    (void)ignored;
    return PyBool_FromLong(((executor *)object)->handle == NULL);
}

static PyMethodDef executor_methods[] = {
    {"close", executor_close, METH_NOARGS,
     "close($self)\n--\n\n"
     "Stop the threads, for all users of the executor.\n\n"
     "Tasks that have not begun are canceled. The call waits only for running callbacks and\n"
     "system calls. Further calls have no effect."},
    {"stats", executor_stats, METH_NOARGS,
     "stats($self)\n--\n\n"
     "Return queue statistics.\n\n"
     "Returns\n"
     "-------\n"
     "dict\n"
     "    For each of 'read' and 'write', a dict of ints: the current numbers of threads and\n"
     "    queued tasks; the total numbers of finished tasks, canceled tasks and parts run; and\n"
     "    the idle time of the threads, in nanoseconds."},
    {NULL},
};

static PyGetSetDef executor_getset[] = {
    {"readers", executor_get_count, NULL, "The maximum number of reader threads.",
     (void *)lx_executor_get_reader_count},
    {"writers", executor_get_count, NULL, "The maximum number of writer threads.",
     (void *)lx_executor_get_writer_count},
    {"closed", executor_get_closed, NULL, "Whether the executor is closed.", NULL},
    {NULL},
};

static PyType_Slot executor_slots[] = {
    {Py_tp_doc, "The threads of loaders and writers."},
    {Py_tp_new, executor_new},
    {Py_tp_dealloc, executor_dealloc},
    {Py_tp_methods, executor_methods},
    {Py_tp_getset, executor_getset},
    {0, NULL},
};

static PyType_Spec executor_spec = {
    .name = "loaderx._core.Executor",
    .basicsize = sizeof(executor),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = executor_slots,
};

int lxpy_add_executor(PyObject *module)
{
    return lxpy_add_type(module, &executor_spec, LXPY_EXECUTOR_TYPE);
}

int lxpy_executor_get(lxpy_state *state, PyObject *object, const char *argument,
                      lx_executor **handle)
{
    *handle = NULL;
    if (object == NULL || object == Py_None)
        return 0;
    if (!PyObject_TypeCheck(object, (PyTypeObject *)LXPY(state, EXECUTOR_TYPE))) {
        PyErr_Format(PyExc_TypeError, "%s must be a loaderx.Executor or None, not %.100s", argument,
                     Py_TYPE(object)->tp_name);
        return -1;
    }
    if (((executor *)object)->handle == NULL) {
        lxpy_raise_status(state, LX_ERR_STATE, "%s must not be a closed executor", argument);
        return -1;
    }
    *handle = lx_executor_ref(((executor *)object)->handle);
    return 0;
}
