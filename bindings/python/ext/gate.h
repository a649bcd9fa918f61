/* SPDX-License-Identifier: MIT */
/* Who is within an object of the library: any number of threads side by side, or one alone. All
 * calls need the GIL. Who waits gives it up, can be interrupted by a signal, and comes in only
 * after those who want to be alone. In a child of fork() nobody is within. */
#ifndef LXPY_GATE_H
#define LXPY_GATE_H

#include "lxpy.h"

#include <pthread.h>

typedef struct lxpy_gate {
    Py_ssize_t inside;  /**< Threads within that are not alone. */
    Py_ssize_t wanting; /**< Threads that wait to be alone. */
    Py_ssize_t waiting; /**< Threads that wait, for either. */
    bool alone;         /**< One is. */
    bool made;          /**< The last two are there. */
    unsigned forks;     /**< In which process this counts. */
    unsigned events;    /**< Changes that somebody may wait for; under @ref mutex. */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
} lxpy_gate;

/** 0, or -1 with an exception raised. A gate of zeros may be freed. */
int lxpy_gate_init(lxpy_gate *gate);
void lxpy_gate_free(lxpy_gate *gate);

/** Goes in; -1 with an exception raised where a signal's handler raised one. */
int lxpy_gate_enter(lxpy_gate *gate);
void lxpy_gate_leave(lxpy_gate *gate);

/** Goes in once all others have left, and keeps them out. */
int lxpy_gate_enter_alone(lxpy_gate *gate);
void lxpy_gate_leave_alone(lxpy_gate *gate);

#endif
