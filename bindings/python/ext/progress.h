/* SPDX-License-Identifier: MIT */
/* Callbacks of a long library operation: progress and findings. The library calls these callbacks
 * on the caller's thread, without the GIL. */
#ifndef LXPY_PROGRESS_H
#define LXPY_PROGRESS_H

#include "lxpy.h"

typedef struct lxpy_callbacks {
    lxpy_state *state;
    PyObject *progress;             /**< Called with the amount done and the total; may be NULL. */
    PyObject *found;                /**< Called with each finding; may be NULL. */
    unsigned long *callback_thread; /**< Set to the thread's ID while a callback runs; may be
                                         NULL. */
    PyThreadState *thread;          /**< The thread state while the GIL is released. */
    bool raised;                    /**< An exception was raised and ended the operation. */
} lxpy_callbacks;

/** Accepts callables or None; otherwise, returns -1 with a TypeError set that names the
 * argument. */
int lxpy_callbacks_init(lxpy_callbacks *callbacks, lxpy_state *state, PyObject *progress,
                        PyObject *found);

/** Releases the GIL before the operation, and takes it again afterwards. */
void lxpy_callbacks_begin(lxpy_callbacks *callbacks);
void lxpy_callbacks_end(lxpy_callbacks *callbacks);

/** The lx_progress_function of all operations; @p user is an lxpy_callbacks. Also handles
 * signals. */
lx_status lxpy_report_progress(uint64_t done, uint64_t total, void *user, lx_error *error);

/** Takes the GIL, and calls the callable for findings with the object that @p make creates from @p
 * what. */
lx_status lxpy_report_finding(lxpy_callbacks *callbacks,
                              PyObject *(*make)(lxpy_callbacks *, const void *), const void *what);

/** Takes the GIL, and calls @p function with the tuple that @p make creates; @p take receives the
 * result. */
lx_status lxpy_call_back(lxpy_callbacks *callbacks, PyObject *function,
                         PyObject *(*make)(void *user), int (*take)(PyObject *result, void *user),
                         void *user);

#endif
