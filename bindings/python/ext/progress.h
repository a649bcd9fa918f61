/* SPDX-License-Identifier: MIT */
/* Callbacks of a long job of the library: progress, and findings. The library calls them on the
 * caller's thread, without the GIL. */
#ifndef LXPY_PROGRESS_H
#define LXPY_PROGRESS_H

#include "lxpy.h"

typedef struct lxpy_teller {
    lxpy_state *state;
    PyObject *progress;      /**< Called with the numbers done and in total; may be NULL. */
    PyObject *found;         /**< Called with each finding; may be NULL. */
    unsigned long *reporter; /**< Where the thread is noted while it is in these; may be NULL. */
    PyThreadState *thread;   /**< While the GIL is given up. */
    bool raised;             /**< An exception is set, which ended the job. */
} lxpy_teller;

/** Takes callables, or None; -1 with TypeError raised, which names the argument. */
int lxpy_teller_init(lxpy_teller *teller, lxpy_state *state, PyObject *progress, PyObject *found);

/** Releases the GIL for the job, and takes it back. */
void lxpy_teller_begin(lxpy_teller *teller);
void lxpy_teller_end(lxpy_teller *teller);

/** The lx_progress_function of all jobs; @p user is the teller. It looks at the signals, too. */
lx_status lxpy_tell_progress(uint64_t done, uint64_t total, void *user, lx_error *error);

/** Takes the GIL, and calls the callable for findings with @p make(user). */
lx_status lxpy_tell_found(lxpy_teller *teller, PyObject *(*make)(lxpy_teller *, const void *),
                          const void *what);

#endif
