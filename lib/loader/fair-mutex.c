/* SPDX-License-Identifier: MIT */
#include "loader/fair-mutex.h"

void lx__turn_init(lx__turn *turn)
{
    pthread_mutex_init(&turn->mutex, NULL);
    lx__clock_condition(&turn->changed);
    turn->taken = false;
    turn->users = 0;
}

bool lx__turn_take(lx__turn *turn, uint64_t deadline)
{
    bool in_time = true;
    pthread_mutex_lock(&turn->mutex);
    turn->users++;
    while (turn->taken && in_time)
        in_time = lx__clock_wait(&turn->changed, &turn->mutex, deadline);
    bool ours = !turn->taken;
    if (ours) {
        turn->taken = true;
    } else {
        turn->users--;
        pthread_cond_broadcast(&turn->changed);
    }
    pthread_mutex_unlock(&turn->mutex);
    return ours;
}

void lx__turn_give(lx__turn *turn)
{
    pthread_mutex_lock(&turn->mutex);
    turn->taken = false;
    turn->users--;
    pthread_cond_broadcast(&turn->changed);
    pthread_mutex_unlock(&turn->mutex);
}

void lx__turn_end(lx__turn *turn)
{
    pthread_mutex_lock(&turn->mutex);
    while (turn->users != 0)
        (void)lx__clock_wait(&turn->changed, &turn->mutex, LX__NEVER);
    pthread_mutex_unlock(&turn->mutex);
    pthread_cond_destroy(&turn->changed);
    pthread_mutex_destroy(&turn->mutex);
}
