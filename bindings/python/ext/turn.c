/* SPDX-License-Identifier: MIT */
#include "turn.h"

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
    /* It fails for want of memory alone; then a child may wait for a thread it does not have. */
    (void)pthread_atfork(NULL, NULL, count_fork);
}

unsigned lxpy_forks(void)
{
    pthread_once(&watching, watch);
    return atomic_load_explicit(&forks, memory_order_relaxed);
}

int lxpy_turn_init(lxpy_turn *turn)
{
    turn->forks = lxpy_forks();
    turn->lock = PyThread_allocate_lock();
    if (turn->lock != NULL)
        return 0;
    PyErr_NoMemory();
    return -1;
}

void lxpy_turn_free(lxpy_turn *turn)
{
    if (turn->lock != NULL && turn->forks == lxpy_forks())
        PyThread_free_lock(turn->lock);
    turn->lock = NULL;
}

/* In a child the lock may be one that a thread of the parent held: it is left to itself. */
static int renew(lxpy_turn *turn)
{
    return turn->forks == lxpy_forks() ? 0 : lxpy_turn_init(turn);
}

int lxpy_turn_take(lxpy_turn *turn)
{
    if (renew(turn) < 0)
        return -1;
    if (PyThread_acquire_lock(turn->lock, NOWAIT_LOCK))
        return 0;
    for (;;) {
        PyLockStatus status;
        Py_BEGIN_ALLOW_THREADS
        status = PyThread_acquire_lock_timed(turn->lock, -1, 1);
        Py_END_ALLOW_THREADS
        if (status == PY_LOCK_ACQUIRED)
            return 0;
        if (PyErr_CheckSignals() < 0)
            return -1;
    }
}

void lxpy_turn_insist(lxpy_turn *turn)
{
    if (renew(turn) < 0) {
        PyErr_Clear(); /* no memory for a lock: in a child there is one thread, which needs none */
        return;
    }
    if (PyThread_acquire_lock(turn->lock, NOWAIT_LOCK))
        return;
    Py_BEGIN_ALLOW_THREADS
    PyThread_acquire_lock(turn->lock, WAIT_LOCK);
    Py_END_ALLOW_THREADS
}

void lxpy_turn_give(lxpy_turn *turn)
{
    if (turn->forks == lxpy_forks())
        PyThread_release_lock(turn->lock);
}
