/* SPDX-License-Identifier: MIT */
/* The GIL on the library's threads. Such a thread has one Python thread state for its lifetime. The
 * state is created and deleted only with the GIL held, because os.fork() in CPython 3.11 and
 * earlier hangs in the child if another thread creates or deletes a thread state without the GIL at
 * that moment. */
#ifndef LXPY_THREAD_STATE_H
#define LXPY_THREAD_STATE_H

#include "lxpy.h"

/** Allows threads that are started after this call to call lxpy_gil_take(). Must be called in each
 * process, with the GIL held; returns -1 with an exception set on failure. */
int lxpy_gil_prepare(void);

/** Takes the GIL on any thread; release it with lxpy_gil_release(). */
lx_status lxpy_gil_take(PyGILState_STATE *gil, lx_error *error);

/** Releases the GIL. The thread keeps its thread state. */
void lxpy_gil_release(PyGILState_STATE gil);

/** Makes all later calls to lxpy_gil_take() fail, and waits for threads that are deleting their
 * state. Must be called with the GIL held, before the interpreter ends. */
void lxpy_gil_stop(void);

#endif
