/* SPDX-License-Identifier: MIT */
/* Children of fork() let go of the locks of their parent's writers: else a child that outlives a
 * killed parent would keep every other writer out. */
#include <pthread.h>
#include <unistd.h>

#include "zrecord/write/writer.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* A leaf, held while a child is made. */
static lx_writer *first;                                  /* Of those with a lock. */

static void before_fork(void)
{
    pthread_mutex_lock(&mutex);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&mutex);
}

/** All else of a writer is as its threads left it, in the midst of anything. */
static void in_child(void)
{
    while (first != NULL) {
        lx_writer *writer = first;
        first = writer->next_with_lock;
        writer->has_heirs = false;
        close(writer->lock.fd);
        writer->lock.fd = -1;
    }
    pthread_mutex_unlock(&mutex);
}

static void begin(void)
{
    /* It fails for want of memory alone; then whom such a child keeps out is told so. */
    (void)pthread_atfork(before_fork, in_parent, in_child);
}

void lx__heirs_begin(lx_writer *writer)
{
    pthread_once(&once, begin);
    pthread_mutex_lock(&mutex);
    writer->next_with_lock = first;
    writer->has_heirs = true;
    first = writer;
    pthread_mutex_unlock(&mutex);
}

void lx__heirs_end(lx_writer *writer)
{
    pthread_mutex_lock(&mutex);
    lx_writer **place = &first;
    while (writer->has_heirs && *place != writer)
        place = &(*place)->next_with_lock;
    if (writer->has_heirs)
        *place = writer->next_with_lock;
    writer->has_heirs = false;
    pthread_mutex_unlock(&mutex);
}
