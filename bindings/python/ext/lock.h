/* SPDX-License-Identifier: MIT */
/* A mutex that is held while the GIL is released. A signal interrupts a thread that waits for it,
 * and a child of fork() finds it unlocked. All calls need the GIL. */
#ifndef LXPY_LOCK_H
#define LXPY_LOCK_H

#include "lxpy.h"

typedef struct lxpy_lock {
    PyThread_type_lock handle;
    unsigned forks; /**< The process in which the handle was made, as lxpy_forks() counts. */
} lxpy_lock;

/** How many calls of fork() lie between the first process and this one. An object that has stored
 * another number belongs to a parent process. */
unsigned lxpy_forks(void);

/** Initializes a lock; -1 with MemoryError raised. A lock of zeros may be freed. */
int lxpy_lock_init(lxpy_lock *lock);
void lxpy_lock_free(lxpy_lock *lock);

/** Waits for the lock; -1 with the exception of a signal handler. */
int lxpy_lock_take(lxpy_lock *lock);

/** Waits for the lock, without handling signals. */
void lxpy_lock_take_always(lxpy_lock *lock);

void lxpy_lock_release(lxpy_lock *lock);

#endif
