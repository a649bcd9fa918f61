/* SPDX-License-Identifier: MIT */
#include "zrecord/write/write-mutex.h"

void lx__write_mutex_init(lx__write_mutex *self)
{
    pthread_mutex_init(&self->mutex, NULL);
    pthread_cond_init(&self->over, NULL);
    self->calling = self->committing = false;
}

void lx__write_mutex_destroy(lx__write_mutex *self)
{
    pthread_cond_destroy(&self->over);
    pthread_mutex_destroy(&self->mutex);
}

void lx__write_mutex_lock(lx__write_mutex *self, bool alone)
{
    pthread_mutex_lock(&self->mutex);
    while (self->calling || (alone && self->committing))
        lx__write_mutex_wait(self);
}

bool lx__write_mutex_try_lock(lx__write_mutex *self)
{
    return pthread_mutex_trylock(&self->mutex) == 0;
}

void lx__write_mutex_unlock(lx__write_mutex *self)
{
    pthread_mutex_unlock(&self->mutex);
}

void lx__write_mutex_wait(lx__write_mutex *self)
{
    pthread_cond_wait(&self->over, &self->mutex);
}

void lx__write_mutex_wait_for_commit(lx__write_mutex *self)
{
    while (self->committing) {
        self->calling = true;
        lx__write_mutex_wait(self);
        self->calling = false;
        pthread_cond_broadcast(&self->over);
    }
}

void lx__write_mutex_begin_commit(lx__write_mutex *self)
{
    self->committing = true;
}

void lx__write_mutex_end_commit(lx__write_mutex *self)
{
    self->committing = false;
    pthread_cond_broadcast(&self->over);
}
