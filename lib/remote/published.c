/* SPDX-License-Identifier: MIT */
#include "remote/published.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "executor/clock.h"
#include "remote/remote-file.h"
#include "zrecord/format/names.h"

/** A request for meta.json. */
typedef struct look {
    lx__request request;   /* must be first */
    const uint8_t *opened; /* what meta.json was */
    size_t size;
    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t ended;
    bool done, replaced;
} look;

static bool begin(lx__request *request)
{
    (void)request;
    return true;
}

static void finish(lx__request *request, lx_status status, const uint8_t *data,
                   const lx__answer *answer, const lx_error *why)
{
    look *self = (look *)request;
    (void)why;
    pthread_mutex_lock(&self->lock);
    self->replaced = status == LX_ERR_NOT_FOUND ||
                     (status == LX_OK &&
                      (answer->got != self->size || memcmp(data, self->opened, self->size) != 0));
    self->done = true; /* the request is gone once the lock is released */
    pthread_cond_signal(&self->ended);
    pthread_mutex_unlock(&self->lock);
}

/** Fetches meta.json, and compares it with what it was. */
static bool is_replaced(lx__place *place, const uint8_t *opened, size_t size)
{
    look self = {.request = {.name = LX__META_NAME,
                             .size = size + 1, /* it may be longer now */
                             .urgent = true,
                             .begin = begin,
                             .finish = finish},
                 .opened = opened,
                 .size = size,
                 .lock = PTHREAD_MUTEX_INITIALIZER};
    lx__clock_condition(&self.ended);
    bool added = lx__request_queue_add(place->queue, &self.request, NULL) == LX_OK;
    pthread_mutex_lock(&self.lock);
    while (added && !self.done)
        lx__clock_wait(&self.ended, &self.lock, LX__NEVER);
    pthread_mutex_unlock(&self.lock);
    pthread_cond_destroy(&self.ended);
    pthread_mutex_destroy(&self.lock);
    return self.replaced;
}

lx_status lx__place_explain(lx__place *place, lx_error *why)
{
    lx__remote_file *meta;
    if (lx__place_find_file(place, LX__META_NAME, &meta, NULL) != LX_OK)
        return why->status;
    uint64_t size = atomic_load(&meta->size);
    uint8_t *opened = size != LX_NONE ? lx__alloc((size_t)size) : NULL;
    if (opened != NULL && lx__remote_file_copy_here(meta, opened, (size_t)size, 0) == size &&
        is_replaced(place, opened, (size_t)size)) {
        lx_error_clear(why);
        lx_fail(why, LX_ERR_STATE,
                "this generation was replaced or removed since the dataset was opened: open the "
                "dataset again");
    }
    lx__free(opened);
    return why->status;
}
