/* SPDX-License-Identifier: MIT */
#include "loader/fair-mutex.h"

void lx__fair_mutex_init(lx__fair_mutex *self)
{
    pthread_mutex_init(&self->mutex, NULL);
    lx__clock_condition(&self->changed);
    self->locked = false;
    self->users = 0;
}

bool lx__fair_mutex_lock(lx__fair_mutex *self, uint64_t deadline)
{
    bool in_time = true;
    pthread_mutex_lock(&self->mutex);
    self->users++;
    while (self->locked && in_time)
        in_time = lx__clock_wait(&self->changed, &self->mutex, deadline);
    bool ours = !self->locked;
    if (ours) {
        self->locked = true;
    } else {
        self->users--;
        pthread_cond_broadcast(&self->changed);
    }
    pthread_mutex_unlock(&self->mutex);
    return ours;
}

void lx__fair_mutex_unlock(lx__fair_mutex *self)
{
    pthread_mutex_lock(&self->mutex);
    self->locked = false;
    self->users--;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

void lx__fair_mutex_destroy(lx__fair_mutex *self)
{
    pthread_mutex_lock(&self->mutex);
    while (self->users != 0)
        (void)lx__clock_wait(&self->changed, &self->mutex, LX__NEVER);
    pthread_mutex_unlock(&self->mutex);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->mutex);
}
