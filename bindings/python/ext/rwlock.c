/* SPDX-License-Identifier: MIT */
#include "rwlock.h"

#include "lock.h"

#include <time.h>

/** Initializes the lock. Called again in a child of fork(). */
static int make(lxpy_rwlock *lock)
{
    pthread_condattr_t clock;
    lock->sharing = lock->exclusive_waiters = lock->waiters = 0;
    lock->exclusive = false;
    lock->forks = lxpy_forks();
    int failed = pthread_mutex_init(&lock->mutex, NULL) != 0 || pthread_condattr_init(&clock) != 0;
    if (failed == 0) {
        pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
        failed = pthread_cond_init(&lock->changed, &clock) != 0;
        pthread_condattr_destroy(&clock);
    }
    if (failed == 0)
        return 0;
    PyErr_NoMemory();
    return -1;
}

int lxpy_rwlock_init(lxpy_rwlock *lock)
{
    if (make(lock) < 0)
        return -1;
    lock->initialized = true;
    return 0;
}

void lxpy_rwlock_free(lxpy_rwlock *lock)
{
    if (!lock->initialized || lock->forks != lxpy_forks())
        return;
    pthread_cond_destroy(&lock->changed);
    pthread_mutex_destroy(&lock->mutex);
    lock->initialized = false;
}

static struct timespec in_a_slice(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_nsec += LXPY_SLICE_NS;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

/** Waits until the event count differs from @p seen, or for LXPY_SLICE_NS. Called without the
 * GIL. */
static void wait_for_event(lxpy_rwlock *lock, unsigned seen)
{
    struct timespec until = in_a_slice();
    pthread_mutex_lock(&lock->mutex);
    int result = 0;
    while (lock->events == seen && result == 0)
        result = pthread_cond_timedwait(&lock->changed, &lock->mutex, &until);
    pthread_mutex_unlock(&lock->mutex);
}

/** Releases the GIL until the lock may have changed. Returns -1 if a signal handler raised an
 * exception. */
static int wait_a_slice(lxpy_rwlock *lock)
{
    unsigned seen = lock->events; /* this count changes only while the GIL is held */
    lock->waiters++;
    LXPY_WITHOUT_GIL(wait_for_event(lock, seen));
    lock->waiters--;
    return PyErr_CheckSignals();
}

static void wake(lxpy_rwlock *lock)
{
    if (lock->waiters == 0)
        return;
    pthread_mutex_lock(&lock->mutex);
    lock->events++;
    pthread_cond_broadcast(&lock->changed);
    pthread_mutex_unlock(&lock->mutex);
}

/** Initializes the lock again in a child of fork(), where threads that held it do not exist. */
static int renew(lxpy_rwlock *lock)
{
    return lock->forks == lxpy_forks() ? 0 : make(lock);
}

int lxpy_rwlock_take_shared(lxpy_rwlock *lock)
{
    if (renew(lock) < 0)
        return -1;
    while (lock->exclusive || lock->exclusive_waiters != 0)
        if (wait_a_slice(lock) < 0)
            return -1;
    lock->sharing++;
    return 0;
}

void lxpy_rwlock_release_shared(lxpy_rwlock *lock)
{
    if (lock->forks == lxpy_forks() && --lock->sharing == 0)
        wake(lock);
}

int lxpy_rwlock_take_exclusive(lxpy_rwlock *lock)
{
    int result = renew(lock);
    if (result < 0)
        return -1;
    lock->exclusive_waiters++;
    while (result == 0 && (lock->exclusive || lock->sharing != 0))
        result = wait_a_slice(lock);
    lock->exclusive_waiters--;
    if (result == 0)
        lock->exclusive = true;
    else
        wake(lock); /* other threads may be able to share the lock again */
    return result;
}

void lxpy_rwlock_release_exclusive(lxpy_rwlock *lock)
{
    if (lock->forks != lxpy_forks())
        return;
    lock->exclusive = false;
    wake(lock);
}
