/* SPDX-License-Identifier: MIT */
/* The GIL on threads of the library. Such a thread has one Python thread state for its life, which
 * is created and deleted only while the GIL is held: os.fork() of CPython 3.11 and older hangs in
 * the child if another thread creates or deletes one without it at that moment. */
#ifndef LXPY_THREAD_STATE_H
#define LXPY_THREAD_STATE_H

#include "lxpy.h"

/** Allows threads that are started from now on to call lxpy_gil_take(). Takes place with the GIL
 * held, in each process anew; -1 with an exception raised. */
int lxpy_gil_prepare(void);

/**
 * Takes the GIL on any thread, for lxpy_gil_release().
 *
 * @retval LX_OK            The thread holds the GIL.
 * @retval LX_ERR_CANCELED  The interpreter is ending.
 * @retval LX_ERR_NOMEM     There is no memory for a thread state.
 */
lx_status lxpy_gil_take(PyGILState_STATE *gil, lx_error *error);

/** Releases the GIL. The thread keeps its thread state. */
void lxpy_gil_release(PyGILState_STATE gil);

/** Fails all later calls of lxpy_gil_take(), and waits for threads that delete their state. Called
 * with the GIL held, before the interpreter ends. */
void lxpy_gil_stop(void);

#endif
