/* SPDX-License-Identifier: MIT */
/* An endless source: its record p is the record that an order has at position p. A loader over it
 * in sequence cuts no batch where an epoch ends, so all its batches are full. */
#include "endless.h"
#include "source.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A sampler that is not in use. */
typedef struct walker {
    struct walker *next;
    lx_sampler *sampler;
} walker;

typedef struct endless {
    lx_source *inner;
    lx_order *order;
    pthread_mutex_t mutex;
    walker *idle; /* Under the mutex. */
} endless;

static void free_walker(walker *walker)
{
    lx_sampler_free(walker->sampler);
    free(walker);
}

static lx_status take_walker(endless *self, walker **taken, lx_error *error)
{
    pthread_mutex_lock(&self->mutex);
    *taken = self->idle;
    if (*taken != NULL)
        self->idle = (*taken)->next;
    pthread_mutex_unlock(&self->mutex);
    if (*taken != NULL)
        return LX_OK;
    *taken = calloc(1, sizeof **taken);
    if (*taken == NULL)
        return LX_ERR_NOMEM;
    lx_status status = lx_sampler_new(self->order, 0, 1, &(*taken)->sampler, error);
    if (status != LX_OK)
        free(*taken);
    return status;
}

static void give_walker(endless *self, walker *given)
{
    pthread_mutex_lock(&self->mutex);
    given->next = self->idle;
    self->idle = given;
    pthread_mutex_unlock(&self->mutex);
}

/* What stands at the positions, which follow one another as a loader asks for them; where they do
 * not, a run is one. */
static lx_status look_up(lx_sampler *sampler, const uint64_t *positions, size_t count,
                         uint64_t *indices, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t first = 0, run; status == LX_OK && first < count; first += run) {
        uint64_t taken;
        for (run = 1; first + run < count; run++)
            if (positions[first + run] != positions[first] + run)
                break;
        if (lx_sampler_tell(sampler) != positions[first])
            status = lx_sampler_seek(sampler, positions[first], error);
        if (status == LX_OK)
            status = lx_sampler_take(sampler, run, indices + first, &taken, error);
    }
    return status;
}

static lx_status fill(const uint64_t *positions, size_t count, const lx_target *targets, void *user,
                      lx_error *error)
{
    endless *self = user;
    walker *walker;
    uint64_t few[1024], *indices = few;
    if (count > sizeof few / sizeof *few)
        indices = malloc(count * sizeof *indices);
    lx_status status = indices != NULL ? take_walker(self, &walker, error) : LX_ERR_NOMEM;
    if (status == LX_OK) {
        status = look_up(walker->sampler, positions, count, indices, error);
        give_walker(self, walker);
    }
    if (status == LX_OK)
        status = lx_source_fill(self->inner, indices, count, targets, error);
    if (indices != few)
        free(indices);
    return status;
}

static void release(void *user)
{
    endless *self = user;
    while (self->idle != NULL) {
        walker *walker = self->idle;
        self->idle = walker->next;
        free_walker(walker);
    }
    pthread_mutex_destroy(&self->mutex);
    lx_source_unref(self->inner);
    lx_order_unref(self->order);
    free(self);
}

/* The order's own state at position 0 names its kind, formula, length and parameters. */
static lx_status identify(lx_order *order, char *text, size_t size, lx_error *error)
{
    lx_sampler *sampler;
    lx_status status = lx_sampler_new(order, 0, 1, &sampler, error);
    if (status != LX_OK)
        return status;
    status = lx_sampler_save(sampler, text, size, NULL, error);
    lx_sampler_free(sampler);
    return status;
}

static lx_status copy_columns(const lx_source *inner, lx_column_info **columns, size_t *count)
{
    *count = lx_source_get_column_count(inner);
    *columns = calloc(*count, sizeof **columns);
    if (*columns == NULL)
        return LX_ERR_NOMEM;
    for (size_t i = 0; i < *count; i++)
        (*columns)[i] = *lx_source_get_column(inner, i);
    return LX_OK;
}

lx_status lxpy_endless_new(lx_source *inner, lx_order *order, lx_source **source, lx_error *error)
{
    char identity[LX_MAX_SAMPLER_STATE];
    lx_column_info *columns;
    size_t count;
    lx_status status = identify(order, identity, sizeof identity, error);
    if (status == LX_OK)
        status = copy_columns(inner, &columns, &count);
    if (status != LX_OK)
        return status;
    endless *self = calloc(1, sizeof *self);
    if (self != NULL) {
        pthread_mutex_init(&self->mutex, NULL);
        self->inner = lx_source_ref(inner);
        self->order = lx_order_ref(order);
        status = lxpy_source_of_functions(fill, release, self, LXPY_ENDLESS, columns, count,
                                          identity, source, error);
        if (status != LX_OK)
            release(self);
    } else {
        status = LX_ERR_NOMEM;
    }
    free(columns);
    return status;
}
