/* SPDX-License-Identifier: MIT */
/* A read-write lock of an object of the library: many threads share it, or one has it exclusively.
 * All calls need the GIL. A thread that waits releases the GIL and can be interrupted by a signal.
 * Threads that wait for exclusive use go before those that wait to share. A child of fork() finds
 * the lock free. */
#ifndef LXPY_RWLOCK_H
#define LXPY_RWLOCK_H

#include "lxpy.h"

#include <pthread.h>

typedef struct lxpy_rwlock {
    Py_ssize_t sharing; /**< Threads that share it. */
    Py_ssize_t wanting; /**< Threads that wait for exclusive use. */
    Py_ssize_t waiting; /**< Threads that wait, for either. */
    bool exclusive;     /**< One thread has it exclusively. */
    bool made;          /**< @ref mutex and @ref changed are initialized. */
    unsigned forks;     /**< The process to which the counts belong. */
    unsigned events;    /**< Changes that a thread may wait for; under @ref mutex. */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
} lxpy_rwlock;

/** Initializes a lock; -1 with MemoryError raised. A lock of zeros may be freed. */
int lxpy_rwlock_init(lxpy_rwlock *lock);
void lxpy_rwlock_free(lxpy_rwlock *lock);

/** Takes the lock together with others; -1 with the exception of a signal handler. */
int lxpy_rwlock_take_shared(lxpy_rwlock *lock);
void lxpy_rwlock_release_shared(lxpy_rwlock *lock);

/** Takes the lock alone; -1 with the exception of a signal handler. */
int lxpy_rwlock_take_exclusive(lxpy_rwlock *lock);
void lxpy_rwlock_release_exclusive(lxpy_rwlock *lock);

#endif
