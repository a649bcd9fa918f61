/* SPDX-License-Identifier: MIT */
/* A read-write lock for a handle of the library: many threads share it, or one thread holds it
 * exclusively. All functions require the GIL. A waiting thread releases the GIL and can be
 * interrupted by a signal. Threads that wait for exclusive use have priority. A child of fork()
 * finds the lock free. */
#ifndef LXPY_RWLOCK_H
#define LXPY_RWLOCK_H

#include "lxpy.h"

#include <pthread.h>

typedef struct lxpy_rwlock {
    Py_ssize_t sharing;           /**< Number of threads that share the lock. */
    Py_ssize_t exclusive_waiters; /**< Number of threads that wait for exclusive use. */
    Py_ssize_t waiters;           /**< Number of threads that wait for either use. */
    bool exclusive;               /**< One thread holds the lock exclusively. */
    bool initialized;             /**< @ref mutex and @ref changed are initialized. */
    unsigned forks;               /**< Fork count of the process to which the counts belong. */
    unsigned events; /**< Counts the changes that threads may wait for; guarded by @ref mutex. */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
} lxpy_rwlock;

/** Initializes a lock; returns -1 with MemoryError set on failure. A zeroed lock may be freed. */
int lxpy_rwlock_init(lxpy_rwlock *lock);
void lxpy_rwlock_free(lxpy_rwlock *lock);

/** Acquires the lock for shared use; returns -1 if a signal handler raised an exception. */
int lxpy_rwlock_take_shared(lxpy_rwlock *lock);
void lxpy_rwlock_release_shared(lxpy_rwlock *lock);

/** Acquires the lock for exclusive use; returns -1 if a signal handler raised an exception. */
int lxpy_rwlock_take_exclusive(lxpy_rwlock *lock);
void lxpy_rwlock_release_exclusive(lxpy_rwlock *lock);

#endif
