/* SPDX-License-Identifier: MIT */
/* Ticket: a commit in progress that can be waited for. */
#include "ticket.h"

typedef struct ticket {
    PyObject_HEAD
    lxpy_state *state;
    lx_ticket *handle;
} ticket;

PyObject *lxpy_ticket_new(lxpy_state *state, lx_ticket *handle)
{
    ticket *self = PyObject_New(ticket, (PyTypeObject *)LXPY(state, TICKET_TYPE));
    if (self == NULL) {
        lx_ticket_unref(handle);
        return NULL;
    }
    self->state = state;
    self->handle = handle;
    return (PyObject *)self;
}

static void ticket_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    lx_ticket_unref(((ticket *)object)->handle);
    PyObject_Free(object);
    Py_DECREF(type);
}

/** Waits for at most @p nanoseconds. Returns -1 if a signal handler raised an exception. */
static int wait_for(ticket *self, uint64_t nanoseconds, lx_status *status, lx_error *error)
{
    for (;;) {
        uint64_t slice = nanoseconds < LXPY_SLICE_NS ? nanoseconds : LXPY_SLICE_NS;
        LXPY_WITHOUT_GIL(*status = lx_ticket_wait_timed(self->handle, slice, error));
        if (*status != LX_ERR_TIMEOUT || error->status != LX_OK)
            return 0;
        if (PyErr_CheckSignals() < 0)
            return -1;
        if (nanoseconds != LX_NONE)
            nanoseconds -= slice;
        if (nanoseconds == 0)
            return 0;
    }
}

static PyObject *ticket_wait(PyObject *object, PyObject *const *args, Py_ssize_t count,
                             PyObject *kwnames)
{
    static const char *const names[] = {"timeout", NULL};
    ticket *self = (ticket *)object;
    lx_error error = LX_ERROR_INIT;
    lx_status status;
    PyObject *values[1];
    uint64_t nanoseconds;
    if (lxpy_arguments("wait", names, 1, 0, args, count, kwnames, values) < 0 ||
        lxpy_timeout(values[0], names[0], &nanoseconds) < 0 ||
        wait_for(self, nanoseconds, &status, &error) < 0)
        return NULL;
    if (status == LX_OK)
        Py_RETURN_NONE;
    if (error.status == LX_OK)
        return lxpy_raise_status(self->state, status, "the commit is not done yet");
    return lxpy_raise(self->state, &error);
}

static PyObject *ticket_get_done(PyObject *object, void *ignored)
{
    ticket *self = (ticket *)object;
    lx_status status;
    (void)ignored;
    LXPY_WITHOUT_GIL(status = lx_ticket_wait_timed(self->handle, 0, NULL));
    return PyBool_FromLong(status != LX_ERR_TIMEOUT);
}

static PyMethodDef ticket_methods[] = {
    {"wait", (PyCFunction)(void (*)(void))ticket_wait, METH_FASTCALL | METH_KEYWORDS,
     "wait($self, timeout=None)\n--\n\n"
     "Wait until the commit is done.\n\n"
     "Several threads can wait, and the method can be called more than once.\n\n"
     "Parameters\n"
     "----------\n"
     "timeout : float, optional\n"
     "    The maximum time to wait, in seconds; None: no limit.\n\n"
     "Raises\n"
     "------\n"
     "TimeoutError\n"
     "    The commit is not done yet.\n"
     "LoaderxError, OSError\n"
     "    The commit failed. The error is the same as for a commit that waits."},
    {NULL},
};

static PyGetSetDef ticket_getset[] = {
    {"done", ticket_get_done, NULL,
     "Whether the commit has ended. If it failed, wait() raises an error.", NULL},
    {NULL},
};

static PyType_Slot ticket_slots[] = {
    {Py_tp_doc, "A commit in progress, returned by Writer.commit(wait=False).\n\n"
                "Dropping the ticket does not cancel the commit."},
    {Py_tp_dealloc, ticket_dealloc},
    {Py_tp_methods, ticket_methods},
    {Py_tp_getset, ticket_getset},
    {0, NULL},
};

static PyType_Spec ticket_spec = {
    .name = "loaderx._core.Ticket",
    .basicsize = sizeof(ticket),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = ticket_slots,
};

int lxpy_add_ticket(PyObject *module)
{
    return lxpy_add_type(module, &ticket_spec, LXPY_TICKET_TYPE);
}
