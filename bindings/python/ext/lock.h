/* SPDX-License-Identifier: MIT */
/* A mutex that may be held while the GIL is released. A signal interrupts a thread that waits for
 * the mutex, and a child of fork() finds the mutex unlocked. All functions require the GIL. */
#ifndef LXPY_LOCK_H
#define LXPY_LOCK_H

#include "lxpy.h"

typedef struct lxpy_lock {
    PyThread_type_lock handle;
    unsigned forks; /**< Value of lxpy_forks() in the process that created the handle. */
} lxpy_lock;

/** Returns how many calls to fork() separate this process from the first one. An object that has
 * stored a different number belongs to an ancestor of this process. */
unsigned lxpy_forks(void);

/** Initializes a lock; returns -1 with MemoryError set on failure. A zeroed lock may be freed. */
int lxpy_lock_init(lxpy_lock *lock);
void lxpy_lock_free(lxpy_lock *lock);

/** Waits for the lock; returns -1 if a signal handler raised an exception. */
int lxpy_lock_take(lxpy_lock *lock);

/** Waits for the lock without handling signals. */
void lxpy_lock_take_always(lxpy_lock *lock);

void lxpy_lock_release(lxpy_lock *lock);

#endif
