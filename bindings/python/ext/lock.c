/* SPDX-License-Identifier: MIT */
#include "lock.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_uint forks;
static pthread_once_t watching = PTHREAD_ONCE_INIT;

static void count_fork(void)
{
    atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed);
}

static void watch(void)
{
    /* This fails only if memory runs out. In that case, a child may wait for a thread that exists
     * only in its parent. */
    (void)pthread_atfork(NULL, NULL, count_fork);
}

unsigned lxpy_forks(void)
{
    pthread_once(&watching, watch);
    return atomic_load_explicit(&forks, memory_order_relaxed);
}

int lxpy_lock_init(lxpy_lock *lock)
{
    lock->forks = lxpy_forks();
    lock->handle = PyThread_allocate_lock();
    if (lock->handle != NULL)
        return 0;
    PyErr_NoMemory();
    return -1;
}

void lxpy_lock_free(lxpy_lock *lock)
{
    if (lock->handle != NULL && lock->forks == lxpy_forks())
        PyThread_free_lock(lock->handle);
    lock->handle = NULL;
}

/** Replaces the handle in a child of fork(), where a parent's thread may hold the old handle. */
static int renew(lxpy_lock *lock)
{
    return lock->forks == lxpy_forks() ? 0 : lxpy_lock_init(lock);
}

int lxpy_lock_take(lxpy_lock *lock)
{
    if (renew(lock) < 0)
        return -1;
    if (PyThread_acquire_lock(lock->handle, NOWAIT_LOCK))
        return 0;
    for (;;) {
        PyLockStatus status;
        Py_BEGIN_ALLOW_THREADS
        status = PyThread_acquire_lock_timed(lock->handle, -1, 1);
        Py_END_ALLOW_THREADS if (status == PY_LOCK_ACQUIRED) return 0;
        if (PyErr_CheckSignals() < 0)
            return -1;
    }
}

void lxpy_lock_take_always(lxpy_lock *lock)
{
    if (renew(lock) < 0) {
        PyErr_Clear(); /* out of memory; a child begins with one thread, which needs no lock */
        return;
    }
    if (PyThread_acquire_lock(lock->handle, NOWAIT_LOCK))
        return;
    Py_BEGIN_ALLOW_THREADS
    PyThread_acquire_lock(lock->handle, WAIT_LOCK);
    Py_END_ALLOW_THREADS
}

void lxpy_lock_release(lxpy_lock *lock)
{
    if (lock->forks == lxpy_forks())
        PyThread_release_lock(lock->handle);
}
