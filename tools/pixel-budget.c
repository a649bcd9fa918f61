/* SPDX-License-Identifier: MIT */
#include "pixel-budget.h"

/* An image of the most pixels fits, and so do 11 photographs of 24 megapixels. A pixel takes 3
 * bytes, and up to 11 in a progressive JPEG. */
#define BUDGET ((uint64_t)1 << 28)

void pixel_budget_take(pixel_budget *self, uint64_t pixels)
{
    pthread_mutex_lock(&self->mutex);
    while (self->taken != 0 && (pixels > BUDGET || self->taken > BUDGET - pixels))
        pthread_cond_wait(&self->given, &self->mutex);
    self->taken += pixels;
    pthread_mutex_unlock(&self->mutex);
}

void pixel_budget_give(pixel_budget *self, uint64_t pixels)
{
    pthread_mutex_lock(&self->mutex);
    self->taken -= pixels;
    pthread_cond_broadcast(&self->given);
    pthread_mutex_unlock(&self->mutex);
}
