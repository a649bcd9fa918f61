/* SPDX-License-Identifier: MIT */
#include "remote/remote-read.h"

#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "executor/clock.h"
#include "remote/page-fetch.h"
#include "remote/published.h"
#include "zrecord/format/names.h"

/* How much to fetch of a file whose length is unknown: all of a usual meta.json or LOG. */
#define FIRST_BYTES ((uint64_t)256 << 10)
/* Rows of tables are fetched in units of this size: rows that are near are soon needed, too. */
#define TABLE_PAGES ((uint64_t)64)
/* Maximum number of pages in a fetch. */
#define FETCH_PAGES ((uint64_t)2048)
/* A length above this must be confirmed before memory is allocated that depends on it. */
#define TRUSTED_BYTES ((uint64_t)1 << 40)
/* Pauses while another process fetches what is needed, and when to stop believing that. */
#define PAUSE_MIN_NS 1000000u
#define PAUSE_MAX_NS 50000000u
#define BELIEF_NS ((uint64_t)10 * 1000 * 1000 * 1000)

/* ---- lengths */

/** Waits for a fetch, and returns its status. */
static lx_status wait_in(lx__fetch *fetch, lx__waiter *waiter, lx_error *error)
{
    lx__fetch_wait(fetch, waiter);
    if (waiter->status != LX_OK)
        lx__error_propagate(error, &waiter->why);
    return waiter->status;
}

/** Passes on a failure. If the file is missing or does not have its length, finds out whether it was
 * removed or replaced since the dataset was opened. The caller does not hold the mutex. */
static lx_status fail(const lx__remote_file *file, lx_error *why, lx_error *error)
{
    if ((why->status == LX_ERR_NOT_FOUND || why->status == LX_ERR_CORRUPT) &&
        strcmp(file->name, LX__META_NAME) != 0)
        lx__place_explain(file->place, why);
    lx_status status = why->status;
    lx__error_propagate(error, why);
    return status;
}

/** Gets the length of a file. */
static lx_status find_size(lx__remote_file *file, uint64_t *size, lx_error *error)
{
    static const lx__pages first = {0, FIRST_BYTES / LX__PAGE_BYTES};
    lx_status status = LX_OK;
    pthread_mutex_lock(&file->place->mutex);
    while (status == LX_OK && (*size = atomic_load(&file->size)) == LX_NONE) {
        lx__waiter waiter = {0};
        lx__fetch *fetch = file->fetches;
        if (fetch == NULL)
            status = lx__fetch_start(file, first, FIRST_BYTES, true, false, &fetch, error);
        if (status == LX_OK)
            status = wait_in(fetch, &waiter, error);
    }
    pthread_mutex_unlock(&file->place->mutex);
    return status;
}

lx_status lx__remote_file_get_size(lx__remote_file *file, uint64_t *size, lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    return find_size(file, size, &why) == LX_OK ? LX_OK : fail(file, &why, error);
}

lx_status lx__remote_file_expect_size(lx__remote_file *file, uint64_t size, bool exact,
                                      lx_error *error)
{
    uint64_t known = atomic_load(&file->size), real;
    if (known == LX_NONE && size > TRUSTED_BYTES) {
        lx_status status = lx__remote_file_get_size(file, &real, error);
        if (status != LX_OK)
            return status;
        known = real;
    }
    if (known != LX_NONE && (known < size || (exact && known != size))) {
        lx_error why = LX_ERROR_INIT;
        lx__remote_file_fail_size(file, known, size, &why);
        return fail(file, &why, error);
    }
    if (known != LX_NONE)
        return LX_OK;
    pthread_mutex_lock(&file->place->mutex);
    if (atomic_load(&file->size) == LX_NONE)
        lx__remote_file_set_size(file, size, exact);
    pthread_mutex_unlock(&file->place->mutex);
    return LX_OK;
}

/* ---- bytes that are not there; the caller holds the mutex */

static bool is_absent(const lx__remote_file *file, uint64_t page)
{
    return lx__remote_file_find_fetch(file, page) == NULL &&
           lx__remote_file_count_here(file, (lx__pages){page, 1}) == 0;
}

/** Starts to fetch absent pages, of which @p pages.first must be the first, up to the first page
 * that is not absent, or to the end of the segment. For tables, adds absent pages around them. */
static lx_status fetch_absent(lx__remote_file *file, lx__pages pages, bool urgent, bool impatient,
                              lx__fetch **fetch, lx_error *error)
{
    uint64_t size = atomic_load(&file->size), first = pages.first, end = first + 1;
    uint64_t last = pages.first + pages.count, pages_end = (size - 1) / LX__PAGE_BYTES + 1;
    uint64_t segment = file->place->segment / LX__PAGE_BYTES;
    if (!file->is_chunk) {
        uint64_t begin = first - first % TABLE_PAGES;
        last += (TABLE_PAGES - last % TABLE_PAGES) % TABLE_PAGES;
        while (first > begin && is_absent(file, first - 1))
            first--;
    }
    last = last < pages_end ? last : pages_end;
    last = last - first < FETCH_PAGES ? last : first + FETCH_PAGES;
    if (segment != 0 && last - first > segment - first % segment)
        last = first + segment - first % segment;
    while (end < last && is_absent(file, end))
        end++;
    uint64_t bytes = (end - first) * LX__PAGE_BYTES, left = size - first * LX__PAGE_BYTES;
    return lx__fetch_start(file, (lx__pages){first, end - first}, bytes < left ? bytes : left,
                           urgent, impatient, fetch, error);
}

/** Waits for the page at @p offset: for the fetch that wants it, or for a new one. */
static lx_status wait_for(lx__remote_file *file, lx__waiter *waiter, bool impatient,
                          lx_error *error)
{
    lx_status status = LX_OK;
    lx__pages pages = lx__pages_of(waiter->offset, waiter->size);
    pthread_mutex_lock(&file->place->mutex);
    lx__fetch *fetch = lx__remote_file_find_fetch(file, pages.first);
    /* The page may have come since the reader looked. */
    if (fetch == NULL && is_absent(file, pages.first))
        status = fetch_absent(file, pages, true, impatient, &fetch, error);
    if (fetch != NULL)
        status = wait_in(fetch, waiter, error);
    pthread_mutex_unlock(&file->place->mutex);
    return status;
}

/* ---- reading */

/** A reader's patience with another process that is fetching what the reader needs. */
typedef struct other {
    uint64_t since; /**< When the reader began to wait; 0: it is not waiting. */
    unsigned pause_ns;
} other;

static void pause_for(other *process)
{
    if (process->since == 0)
        *process = (other){lx__clock_now(), PAUSE_MIN_NS};
    const struct timespec time = {0, (long)process->pause_ns};
    (void)nanosleep(&time, NULL);
    if (process->pause_ns < PAUSE_MAX_NS)
        process->pause_ns *= 2;
}

/** Whether the other process takes so long that it may have been stopped. */
static bool is_late(const other *process)
{
    return process->since != 0 && lx__clock_now() - process->since >= BELIEF_NS;
}

static lx_status read_all(lx__remote_file *file, uint8_t *data, size_t size, uint64_t offset,
                          lx_error *error)
{
    size_t done = 0;
    other process = {0};
    lx_status status = LX_OK;
    while (status == LX_OK && (done += lx__remote_file_copy_here(file, data + done, size - done,
                                                                 offset + done)) < size) {
        lx__waiter waiter = {.data = data + done, .size = size - done, .offset = offset + done};
        status = wait_for(file, &waiter, is_late(&process), error);
        done += waiter.copied;
        if (waiter.elsewhere && lx__interrupted())
            status = lx_fail(error, LX_ERR_CANCELED, "the read was canceled");
        else if (waiter.elsewhere)
            pause_for(&process);
        else
            process.since = 0;
    }
    return status;
}

lx_status lx__remote_file_read(lx__remote_file *file, void *data, size_t size, uint64_t offset,
                               size_t *got, lx_error *error)
{
    lx_status status = LX_OK;
    lx_error why = LX_ERROR_INIT;
    uint64_t whole = atomic_load_explicit(&file->size, memory_order_acquire);
    if (whole == LX_NONE)
        status = lx__remote_file_get_size(file, &whole, error);
    *got = 0;
    if (status != LX_OK || offset >= whole)
        return status;
    if (size > whole - offset)
        size = (size_t)(whole - offset);
    status = read_all(file, data, size, offset, &why);
    if (status == LX_OK) {
        *got = size;
        return LX_OK;
    }
    status = fail(file, &why, error);
    lx_error_locate(error, file->path, NULL, LX_NONE, offset);
    return status;
}

/** Keeps pages that were read in memory if nothing of a range is absent. Else, the rest of the range
 * is fetched with one request, not with one for each gap. */
static void prepare_ring(lx__remote_file *file, lx__pages pages)
{
    uint64_t here = 0, more = 1;
    for (; here < pages.count && more != 0; here += more)
        more = lx__remote_file_count_here(file,
                                          (lx__pages){pages.first + here, pages.count - here});
    if (here == pages.count)
        lx__page_ring_renew(file->place->ring, file->number, pages);
    else
        lx__page_ring_drop_read(file->place->ring, file->number, pages);
}

void lx__remote_file_will_need(lx__remote_file *file, uint64_t offset, uint64_t size)
{
    uint64_t whole = atomic_load(&file->size);
    if (whole == LX_NONE || offset >= whole || size == 0)
        return;
    lx__pages pages = lx__pages_of(offset, size < whole - offset ? size : whole - offset);
    uint64_t end = pages.first + pages.count, there;
    if (file->is_chunk)
        prepare_ring(file, pages);
    for (uint64_t page = pages.first; page < end; page += there) {
        there = lx__remote_file_count_here(file, (lx__pages){page, end - page});
        if (there != 0)
            continue;
        there = 1;
        pthread_mutex_lock(&file->place->mutex);
        lx__fetch *fetch;
        if (is_absent(file, page) &&
            fetch_absent(file, (lx__pages){page, end - page}, false, false, &fetch, NULL) == LX_OK)
            there = fetch->pages.first + fetch->pages.count - page;
        pthread_mutex_unlock(&file->place->mutex);
    }
}

bool lx__remote_file_is_absent(lx__remote_file *file, uint64_t offset)
{
    return offset < atomic_load(&file->size) &&
           lx__remote_file_count_here(file, (lx__pages){offset / LX__PAGE_BYTES, 1}) == 0;
}

/* ---- bytes that were wrong */

/** Waits for fetches of the pages that began before the file was doubtful, and what they keep. One
 * may still be keeping its last pages when its first ones are read. */
static void outlast_fetches(lx__remote_file *file, lx__pages pages)
{
    pthread_mutex_lock(&file->place->mutex);
    for (uint64_t page = pages.first; page < pages.first + pages.count; page++) {
        lx__fetch *fetch = lx__remote_file_find_fetch(file, page);
        lx__waiter waiter = {0};
        if (fetch != NULL && !fetch->request.past_tier)
            lx__fetch_wait(fetch, &waiter);
    }
    pthread_mutex_unlock(&file->place->mutex);
}

bool lx__remote_file_renew(lx__remote_file *file, uint64_t offset, uint64_t size)
{
    uint64_t whole = atomic_load(&file->size);
    if (whole == LX_NONE || offset >= whole || size == 0)
        return false;
    lx__pages pages = lx__pages_of(offset, size < whole - offset ? size : whole - offset);
    atomic_store(&file->doubtful, true);
    outlast_fetches(file, pages);
    lx__remote_file_drop(file, pages);
    return true;
}
