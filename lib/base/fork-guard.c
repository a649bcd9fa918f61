/* SPDX-License-Identifier: MIT */
#include "base/fork-guard.h"

#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t forking = PTHREAD_MUTEX_INITIALIZER; /* Guards the counts below. */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static size_t opening; /* Number of files that are being opened. */
static size_t waiting; /* Number of threads that wait in fork(). */
static pthread_once_t fork_handlers = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    pthread_mutex_lock(&forking);
    waiting++;
    while (opening != 0)
        pthread_cond_wait(&changed, &forking);
    waiting--;
}

static void after_fork_in_parent(void)
{
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&forking);
}

/** Forgets the other threads that waited. */
static void after_fork_in_child(void)
{
    waiting = 0;
    changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pthread_mutex_unlock(&forking);
}

static void register_fork_handlers(void)
{
    /* This fails only if memory runs out; the race that the mutex prevents can then occur. */
    (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

void lx__fork_guard_enter(void)
{
    pthread_once(&fork_handlers, register_fork_handlers);
    pthread_mutex_lock(&forking);
    while (waiting != 0)
        pthread_cond_wait(&changed, &forking);
    opening++;
    pthread_mutex_unlock(&forking);
}

void lx__fork_guard_leave(void)
{
    pthread_mutex_lock(&forking);
    if (--opening == 0)
        pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&forking);
}
