/* SPDX-License-Identifier: MIT */
/* The log hook, which any thread may call, with locks of the library held, and with or without the
 * GIL. Taking the GIL there could deadlock with a thread that holds it and waits for such a lock.
 * Therefore, the hook only keeps messages, and the calls that may cause messages pass them on. A
 * lock-free list also survives a fork() while the hook is running. */
#include "log.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct message {
    struct message *next;
    lx_log_level level;
    char text[];
} message;

/** The messages that have not been passed on yet, from the newest to the oldest. */
static _Atomic(message *) newest;

static void keep_message(lx_log_level level, const char *text, void *user)
{
    size_t size = strlen(text) + 1;
    message *kept = malloc(sizeof *kept + size);
    (void)user;
    if (kept == NULL)
        return; /* an operation must not fail because its message is lost */
    kept->level = level;
    memcpy(kept->text, text, size);
    kept->next = atomic_load(&newest);
    while (!atomic_compare_exchange_weak(&newest, &kept->next, kept)) {
    }
}

void lxpy_log_init(void)
{
    lx_set_log_hook(keep_message, NULL);
}

/** Takes all messages, from the oldest to the newest. */
static message *take_messages(void)
{
    message *taken = atomic_exchange(&newest, NULL), *oldest = NULL;
    while (taken != NULL) {
        message *next = taken->next;
        taken->next = oldest;
        oldest = taken;
        taken = next;
    }
    return oldest;
}

static int raise_again(void *exception)
{
    PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_DECREF(exception);
    return -1;
}

/** Handles an exception that was raised while a message was being passed on. A signal handler may
 * have raised KeyboardInterrupt or SystemExit: it is raised again after the call, whose result is
 * not lost. */
static void handle_exception(void)
{
    PyObject *type, *value, *trace;
    if (PyErr_ExceptionMatches(PyExc_Exception)) {
        PyErr_WriteUnraisable(NULL);
        return;
    }
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    if (value != NULL && Py_AddPendingCall(raise_again, value) < 0)
        Py_DECREF(value);
}

static void pass_on(lxpy_state *state, const message *one)
{
    /* a path may contain any bytes, and a long message may be cut within a character */
    PyObject *text = PyUnicode_DecodeUTF8(one->text, (Py_ssize_t)strlen(one->text),
                                          "surrogateescape");
    PyObject *result = text != NULL ? PyObject_CallFunction(LXPY(state, LOG), "Oi", text,
                                                            one->level == LX_LOG_WARNING)
                                    : NULL;
    Py_XDECREF(text);
    if (result == NULL)
        handle_exception();
    Py_XDECREF(result);
}

void lxpy_log_pass_on(lxpy_state *state)
{
    PyObject *type, *value, *trace;
    if (atomic_load_explicit(&newest, memory_order_relaxed) == NULL || LXPY(state, LOG) == NULL)
        return; /* no messages, or the interpreter is ending */
    PyErr_Fetch(&type, &value, &trace);
    for (message *one = take_messages(), *next; one != NULL; one = next) {
        next = one->next;
        pass_on(state, one);
        free(one);
    }
    PyErr_Restore(type, value, trace);
}
