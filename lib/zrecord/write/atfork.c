/* SPDX-License-Identifier: MIT */
#include "zrecord/write/atfork.h"

#include <pthread.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* A leaf lock, held across fork(). */
static lx__atfork *first;

static void before_fork(void)
{
    pthread_mutex_lock(&mutex);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&mutex);
}

/** Closes only the descriptors, because threads that do not exist in the child may have been
 * changing the rest of a writer. */
static void in_child(void)
{
    while (first != NULL) {
        lx__atfork *self = first;
        first = self->next;
        close(self->lock->fd);
        self->lock->fd = -1;
        self->lock = NULL;
    }
    pthread_mutex_unlock(&mutex);
}

static void register_handlers(void)
{
    /* This fails only when out of memory. A child will then keep the lock, and the next writer will
     * get an error saying that a process forked from the last writer still has the dataset open. */
    (void)pthread_atfork(before_fork, in_parent, in_child);
}

void lx__atfork_add(lx__atfork *self, lx__file *lock)
{
    pthread_once(&once, register_handlers);
    pthread_mutex_lock(&mutex);
    self->lock = lock;
    self->next = first;
    first = self;
    pthread_mutex_unlock(&mutex);
}

void lx__atfork_remove(lx__atfork *self)
{
    pthread_mutex_lock(&mutex);
    lx__atfork **place = &first;
    while (self->lock != NULL && *place != self)
        place = &(*place)->next;
    if (self->lock != NULL)
        *place = self->next;
    self->lock = NULL;
    pthread_mutex_unlock(&mutex);
}
