/* SPDX-License-Identifier: MIT */
#include "remote/page-fetch.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "executor/clock.h"
#include "remote/remote-file.h"

/* How often a waiting reader looks whether it was interrupted. */
#define LOOK_NS ((uint64_t)50 * 1000 * 1000)

static lx__fetch *fetch_of(lx__request *request)
{
    return (lx__fetch *)request;
}

/* ---- on the threads of the queue */

/** Returns the pages to claim: without those at the ends, in which another process's range may end.
 * Both processes fetch such a page. */
static lx__pages to_claim(lx__pages pages)
{
    return pages.count > 2 ? (lx__pages){pages.first + 1, pages.count - 2} : pages;
}

static void unclaim(lx__fetch *fetch)
{
    lx__cache_file *cached = atomic_load(&fetch->file->cached);
    if (fetch->claimed)
        lx__cache_file_unclaim(cached, to_claim(fetch->pages));
    fetch->claimed = false;
}

static bool is_present(lx__cache_file *cached, lx__pages pages)
{
    return lx__cache_file_count_present(cached, pages) == pages.count;
}

/** Claims the pages, and reserves their bytes. Returns false if another process is fetching them or
 * has just done so. */
static bool prepare(lx__fetch *fetch)
{
    lx__cache_file *cached = atomic_load(&fetch->file->cached);
    uint64_t bytes = fetch->pages.count * LX__PAGE_BYTES;
    if (cached == NULL)
        return true;
    if (is_present(cached, fetch->pages))
        return false;
    fetch->claimed = lx__cache_file_claim(cached, to_claim(fetch->pages));
    fetch->elsewhere = !fetch->claimed && !fetch->impatient;
    /* Another process may have stored the pages after the look above, and before the claim. */
    if (fetch->elsewhere || is_present(cached, fetch->pages)) {
        unclaim(fetch);
        return false;
    }
    if (lx__cache_reserve(fetch->file->place->cache, bytes))
        fetch->reserved = bytes;
    else
        unclaim(fetch); /* the pages are not for the cache */
    return true;
}

static bool begin(lx__request *request)
{
    lx__fetch *fetch = fetch_of(request);
    lx__remote_file_use(fetch->file);
    fetch->begun = true;
    fetch->skipped = !prepare(fetch);
    return !fetch->skipped;
}

/** Keeps the bytes that were fetched: in the cache if they are admitted, else in memory. */
static lx_status keep(lx__fetch *fetch, const uint8_t *data, size_t size, lx_error *error)
{
    lx__remote_file *file = fetch->file;
    lx__place *place = file->place;
    lx_error why = LX_ERROR_INIT;
    if (fetch->reserved != 0) {
        if (lx__cache_file_store(atomic_load(&file->cached), fetch->pages.first, data, size,
                                 &why) == LX_OK) {
            atomic_fetch_add(&place->counts.stored_bytes, size);
            return LX_OK;
        }
        lx__cache_unreserve(place->cache, fetch->reserved);
        lx__remote_file_report_cache(file, &why);
    }
    if (!file->is_chunk)
        return lx__remote_file_keep(file, fetch->pages.first, data, size, error);
    lx__page_ring_store(place->ring, file->number, fetch->pages.first, data, size);
    return LX_OK;
}

/** Copies to a reader what it needs of @p size bytes at @p start. */
static void serve(lx__waiter *waiter, uint64_t start, const uint8_t *data, size_t size)
{
    if (waiter->data == NULL || waiter->offset < start || waiter->offset >= start + size)
        return;
    size_t skipped = (size_t)(waiter->offset - start), left = size - skipped;
    waiter->copied = left < waiter->size ? left : waiter->size;
    memcpy(waiter->data, data + skipped, waiter->copied);
}

/** Takes the waiters off a fetch, after which it ends: the pages are kept, or absent again. */
static lx__waiter *end(lx__fetch *fetch)
{
    lx__place *place = fetch->file->place;
    pthread_mutex_lock(&place->mutex);
    lx__waiter *waiters = fetch->waiters;
    for (lx__waiter *at = waiters; at != NULL; at = at->next)
        at->taken = true;
    lx__remote_file_forget(fetch->file, fetch);
    pthread_mutex_unlock(&place->mutex);
    return waiters;
}

static void finish(lx__request *request, lx_status status, const uint8_t *data,
                   const lx__answer *answer, const lx_error *why)
{
    lx__fetch *fetch = fetch_of(request);
    lx__place *place = fetch->file->place;
    lx_error failure = LX_ERROR_INIT;
    if (fetch->skipped)
        status = LX_OK;
    else if (status == LX_OK)
        status = lx__remote_file_check_answer(fetch->file, request, answer, &failure);
    else if (why != NULL)
        failure = *why;
    bool fetched = status == LX_OK && !fetch->skipped;
    if (fetched)
        status = keep(fetch, data, answer->got, &failure);
    else if (fetch->reserved != 0)
        lx__cache_unreserve(place->cache, fetch->reserved);
    unclaim(fetch);
    if (fetch->begun)
        lx__remote_file_leave(fetch->file);
    for (lx__waiter *waiter = end(fetch), *next; waiter != NULL; waiter = next) {
        next = waiter->next; /* a waiter that is done may be gone */
        if (fetched && status == LX_OK)
            serve(waiter, request->offset, data, answer->got);
        waiter->elsewhere = fetch->elsewhere;
        waiter->status = status;
        waiter->why = failure;
        pthread_mutex_lock(&place->mutex);
        waiter->done = true;
        pthread_cond_signal(&waiter->done_condition);
        pthread_mutex_unlock(&place->mutex);
    }
    lx__free(fetch);
}

/* ---- for readers */

lx_status lx__fetch_start(lx__remote_file *file, lx__pages pages, uint64_t size, bool urgent,
                          bool impatient, lx__fetch **fetch, lx_error *error)
{
    lx__fetch *made = lx__alloc_array(1, sizeof *made);
    if (made == NULL)
        return lx__fail_memory(error, "a request");
    made->file = file;
    made->pages = pages;
    made->impatient = impatient;
    made->request = (lx__request){.name = file->name,
                                  .offset = pages.first * LX__PAGE_BYTES,
                                  .size = (size_t)size,
                                  .urgent = urgent,
                                  .past_tier = atomic_load(&file->doubtful),
                                  .begin = begin,
                                  .finish = finish};
    lx_status status = lx__remote_file_want(file, made, error);
    if (status == LX_OK) {
        status = lx__request_queue_add(file->place->queue, &made->request, error);
        if (status != LX_OK)
            lx__remote_file_forget(file, made);
    }
    if (status == LX_OK)
        *fetch = made;
    else
        lx__free(made);
    return status;
}

/** Leaves a fetch that has not ended. */
static void leave(lx__fetch *fetch, lx__waiter *waiter)
{
    lx__waiter **at = &fetch->waiters;
    while (*at != waiter)
        at = &(*at)->next;
    *at = waiter->next;
    waiter->status = lx_fail(&waiter->why, LX_ERR_CANCELED, "the read was canceled");
}

void lx__fetch_wait(lx__fetch *fetch, lx__waiter *waiter)
{
    lx__place *place = fetch->file->place;
    lx__clock_condition(&waiter->done_condition);
    waiter->next = fetch->waiters;
    fetch->waiters = waiter;
    lx__request_queue_hurry(place->queue, &fetch->request);
    uint64_t since = lx__clock_now();
    while (!waiter->done) {
        lx__clock_wait(&waiter->done_condition, &place->mutex, lx__clock_after(LOOK_NS));
        if (!waiter->done && !waiter->taken && lx__interrupted()) {
            leave(fetch, waiter);
            break;
        }
    }
    atomic_fetch_add(&place->counts.wait_ns, lx__clock_now() - since);
    pthread_cond_destroy(&waiter->done_condition);
}
