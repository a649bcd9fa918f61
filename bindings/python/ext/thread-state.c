/* SPDX-License-Identifier: MIT */
#include "thread-state.h"

#include "lock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

/* The state with which a thread takes the GIL in order to create its own state. A thread holds the
 * mutex while it uses the starter state, even while it waits for the GIL, so no thread may wait for
 * the mutex with the GIL held. */
static pthread_mutex_t starter_mutex;
static PyThreadState *starter;
static unsigned starter_forks; /* The fork count of the process that owns the mutex and state. */

/* A thread's own state; the key's destructor deletes it. */
static pthread_key_t own_key;
static pthread_once_t own_key_once = PTHREAD_ONCE_INIT;
static bool has_own_key;

/* Set when the interpreter ends. From then on, a thread that waits for the GIL never returns. */
static atomic_bool stopped;

/* The number of threads that are inside delete_own(). */
static atomic_uint deleting;

/** Creates a thread state and takes the GIL with it. Returns NULL, without the GIL, if memory runs
 * out. */
static PyThreadState *attach_new(void)
{
    pthread_mutex_lock(&starter_mutex);
    PyEval_RestoreThread(starter);
    PyThreadState *state = PyThreadState_New(PyInterpreterState_Main());
    if (state != NULL)
        PyThreadState_Swap(state);
    else
        PyEval_SaveThread();
    pthread_mutex_unlock(&starter_mutex);
    return state;
}

/** Deletes the current state and releases the GIL. */
static void detach(PyThreadState *state)
{
    PyThreadState_Clear(state);
    PyThreadState_DeleteCurrent();
}

/** Deletes the state of a thread that is ending. The C library has already removed the
 * interpreter's thread-specific data. If PyThreadState_Clear() ran a destructor that calls
 * PyGILState_Ensure(), that call would not find the state, so it would create a new one and wait
 * for the GIL forever. Therefore, a second state, which PyGILState_Ensure() finds, is made current
 * in the meantime. */
static void delete_own(void *own)
{
    atomic_fetch_add(&deleting, 1);
    PyThreadState *second = NULL;
    if (!atomic_load(&stopped) && starter_forks == lxpy_forks())
        second = attach_new();
    if (second != NULL) { /* otherwise, the state remains until the interpreter ends */
        PyThreadState_Clear(own);
        PyThreadState_Delete(own);
        detach(second);
    }
    atomic_fetch_sub(&deleting, 1);
}

static void make_own_key(void)
{
    has_own_key = pthread_key_create(&own_key, delete_own) == 0;
}

int lxpy_gil_prepare(void)
{
    pthread_once(&own_key_once, make_own_key);
    if (starter != NULL && starter_forks == lxpy_forks())
        return 0;
    /* In a child of fork(), CPython has deleted the starter state, and the mutex may be locked
     * forever. */
    starter = has_own_key ? PyThreadState_New(PyInterpreterState_Main()) : NULL;
    if (starter == NULL || pthread_mutex_init(&starter_mutex, NULL) != 0) {
        PyErr_NoMemory();
        return -1;
    }
    starter_forks = lxpy_forks();
    atomic_store(&deleting, 0);
    return 0;
}

/** Creates the state of a library thread. */
static bool make_own(void)
{
    PyThreadState *own = attach_new();
    if (own != NULL && pthread_setspecific(own_key, own) != 0) {
        detach(own);
        return false;
    }
    if (own != NULL)
        PyEval_SaveThread();
    return own != NULL;
}

lx_status lxpy_gil_take(PyGILState_STATE *gil, lx_error *error)
{
    if (atomic_load(&stopped))
        return lx_fail(error, LX_ERR_CANCELED, "cannot call Python: the interpreter is ending");
    if (PyGILState_GetThisThreadState() == NULL && !make_own())
        return lx_fail(error, LX_ERR_NOMEM,
                       "cannot call Python: not enough memory for a thread state");
    *gil = PyGILState_Ensure();
    return LX_OK;
}

void lxpy_gil_release(PyGILState_STATE gil)
{
    PyGILState_Release(gil);
}

void lxpy_gil_stop(void)
{
    const struct timespec moment = {0, 1000000};
    atomic_store(&stopped, true);
    while (starter_forks == lxpy_forks() && atomic_load(&deleting) != 0)
        LXPY_WITHOUT_GIL(nanosleep(&moment, NULL));
}
