/* SPDX-License-Identifier: MIT */
#include "remote/remote-file.h"

#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/pages.h"
#include "executor/clock.h"
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

/* ---- bits */

static size_t words_of(uint64_t size)
{
    return (size_t)(size / LX__PAGE_BYTES / 64 + 1);
}

/** Returns the size of the memory for pages, which is not 0 even if the file is empty. */
static size_t memory_size(const lx__remote_file *file)
{
    return (size_t)atomic_load(&file->size) + 1;
}

static bool is_kept(const lx__remote_file *file, uint64_t page)
{
    _Atomic uint64_t *kept = atomic_load_explicit(&file->kept, memory_order_acquire);
    return kept != NULL &&
           (atomic_load_explicit(&kept[page / 64], memory_order_acquire) >> page % 64 & 1) != 0;
}

static bool is_wanted(const lx__remote_file *file, uint64_t page)
{
    return file->wanted != NULL && (file->wanted[page / 64] >> page % 64 & 1) != 0;
}

static void set_wanted(lx__remote_file *file, lx__pages pages, bool wanted)
{
    for (uint64_t page = pages.first; page < pages.first + pages.count; page++) {
        uint64_t bit = 1ull << page % 64;
        if (wanted)
            file->wanted[page / 64] |= bit;
        else
            file->wanted[page / 64] &= ~bit;
    }
}

/* ---- files */

lx_status lx__remote_file_new(lx__place *place, const char *name, lx__remote_file **file,
                              lx_error *error)
{
    lx__remote_file *made = lx__alloc_array(1, sizeof *made);
    if (made == NULL)
        return lx__fail_memory(error, "a remote file");
    made->place = place;
    made->is_chunk = strncmp(name, LX__CHUNK_DIRECTORY "/", sizeof LX__CHUNK_DIRECTORY) == 0;
    made->name = lx__strdup(name);
    made->path = lx__path_join(place->url, name);
    pthread_rwlock_init(&made->lock, NULL);
    atomic_init(&made->size, LX_NONE);
    if (made->name == NULL || made->path == NULL) {
        lx__remote_file_free(made);
        return lx__fail_memory(error, "a remote file");
    }
    *file = made;
    return LX_OK;
}

void lx__remote_file_free(lx__remote_file *file)
{
    if (atomic_load(&file->cached) != NULL)
        lx__cache_file_close(atomic_load(&file->cached));
    if (atomic_load(&file->memory) != NULL)
        lx__pages_free(atomic_load(&file->memory), memory_size(file));
    lx__free((void *)atomic_load(&file->kept));
    pthread_rwlock_destroy(&file->lock);
    lx__free(file->wanted);
    lx__free(file->name);
    lx__free(file->path);
    lx__free(file);
}

void lx__remote_file_take_over(lx__remote_file *file)
{
    file->fetches = NULL; /* leaked: the parent's threads were using them */
    pthread_rwlock_init(&file->lock, NULL);
    if (file->wanted != NULL)
        memset(file->wanted, 0, words_of(atomic_load(&file->size)) * sizeof *file->wanted);
    if (atomic_load(&file->cached) != NULL)
        lx__cache_file_take_over(atomic_load(&file->cached));
}

/* ---- lengths */

static lx_status fail_size(const lx__remote_file *file, uint64_t total, uint64_t expected,
                           lx_error *error)
{
    lx_status status = lx_fail(error, LX_ERR_CORRUPT,
                               "the file has %llu bytes, but %llu are committed",
                               (unsigned long long)total, (unsigned long long)expected);
    lx_error_locate(error, file->path, NULL, LX_NONE, total < expected ? total : expected);
    return status;
}

/** Fails because an answer is of no use, although the file may be intact. */
static lx_status fail_answer(const lx__remote_file *file, const char *message, uint64_t offset,
                             lx_error *error)
{
    lx_status status = lx_fail(error, LX_ERR_IO, "%s", message);
    lx_error_locate(error, file->path, NULL, LX_NONE, offset);
    return status;
}

lx_status lx__remote_file_check_answer(lx__remote_file *file, const lx__request *request,
                                       const lx__answer *answer, lx_error *error)
{
    uint64_t size = atomic_load(&file->size), total = answer->total;
    if (size != LX_NONE && total != LX_NONE && (total < size || (file->exact && total != size)))
        return fail_size(file, total, size, error);
    if (size == LX_NONE && total == LX_NONE)
        return fail_answer(file, "the server does not tell the file's length", LX_NONE, error);
    uint64_t end = total != LX_NONE ? total : size;
    uint64_t left = request->offset < end ? end - request->offset : 0;
    if (answer->got != (left < request->size ? left : request->size))
        return fail_answer(file, "the server's answer has the wrong number of bytes",
                           request->offset + answer->got, error);
    uint64_t unknown = LX_NONE;
    atomic_compare_exchange_strong(&file->size, &unknown, total);
    return LX_OK;
}

/** Waits for a fetch, and returns its status. */
static lx_status wait_in(lx__fetch *fetch, lx__waiter *waiter, lx_error *error)
{
    lx__fetch_wait(fetch, waiter);
    if (waiter->status != LX_OK)
        lx__error_propagate(error, &waiter->why);
    return waiter->status;
}

lx_status lx__remote_file_get_size(lx__remote_file *file, uint64_t *size, lx_error *error)
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

/** Opens the cache file, once, of a file of known length. */
static void open_cached(lx__remote_file *file)
{
    lx__place *place = file->place;
    lx__cache_file *cached;
    lx_error why = LX_ERROR_INIT;
    const char *name = file->is_chunk ? file->name + sizeof LX__CHUNK_DIRECTORY : file->name;
    if (place->cache == NULL || atomic_load(&file->cached) != NULL)
        return;
    if (lx__cache_open_file(place->cache, file->is_chunk ? LX__CHUNK_DIRECTORY : place->tables,
                            name, atomic_load(&file->size), &cached, &why) == LX_OK)
        atomic_store(&file->cached, cached);
    else
        lx__place_report_cache(place, &why);
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
    if (known != LX_NONE)
        return known < size || (exact && known != size) ? fail_size(file, known, size, error)
                                                        : LX_OK;
    pthread_mutex_lock(&file->place->mutex);
    if (atomic_load(&file->size) == LX_NONE) {
        file->exact = exact;
        atomic_store(&file->size, size);
        open_cached(file);
    }
    pthread_mutex_unlock(&file->place->mutex);
    return LX_OK;
}

/* ---- fetches; the caller holds the mutex */

lx_status lx__remote_file_want(lx__remote_file *file, lx__fetch *fetch, lx_error *error)
{
    uint64_t size = atomic_load(&file->size);
    if (size != LX_NONE && file->wanted == NULL)
        file->wanted = lx__alloc_array(words_of(size), sizeof *file->wanted);
    if (size != LX_NONE && file->wanted == NULL)
        return lx__fail_memory(error, "a remote file");
    fetch->marked = size != LX_NONE;
    if (fetch->marked)
        set_wanted(file, fetch->pages, true);
    fetch->next = file->fetches;
    if (file->fetches != NULL)
        file->fetches->before = fetch;
    file->fetches = fetch;
    return LX_OK;
}

void lx__remote_file_forget(lx__remote_file *file, lx__fetch *fetch)
{
    if (fetch->marked)
        set_wanted(file, fetch->pages, false);
    if (fetch->next != NULL)
        fetch->next->before = fetch->before;
    if (fetch->before != NULL)
        fetch->before->next = fetch->next;
    else
        file->fetches = fetch->next;
}

static lx__fetch *find_fetch(const lx__remote_file *file, uint64_t page)
{
    lx__fetch *fetch = file->fetches;
    while (page < fetch->pages.first || page - fetch->pages.first >= fetch->pages.count)
        fetch = fetch->next;
    return fetch;
}

/* ---- bytes that are there */

lx_status lx__remote_file_keep(lx__remote_file *file, uint64_t first, const uint8_t *data,
                               size_t size, lx_error *error)
{
    lx_status status = LX_OK;
    uint64_t whole = atomic_load(&file->size);
    pthread_mutex_lock(&file->place->mutex);
    if (atomic_load(&file->kept) == NULL) {
        uint8_t *memory = lx__pages_alloc(memory_size(file));
        _Atomic uint64_t *kept = lx__alloc_array(words_of(whole), sizeof *kept);
        if (memory == NULL || kept == NULL) {
            lx__pages_free(memory, memory_size(file));
            lx__free((void *)kept);
            status = lx__fail_memory(error, "a remote file");
        } else {
            atomic_store(&file->memory, memory);
            atomic_store_explicit(&file->kept, kept, memory_order_release);
        }
    }
    pthread_mutex_unlock(&file->place->mutex);
    /* A fetch that began before the length was known may have more. */
    uint64_t start = first * LX__PAGE_BYTES, left = start < whole ? whole - start : 0;
    size = size < left ? size : (size_t)left;
    if (status != LX_OK || size == 0)
        return status;
    pthread_rwlock_wrlock(&file->lock);
    memcpy(atomic_load(&file->memory) + start, data, size);
    lx__pages pages = lx__pages_of(start, size);
    for (uint64_t page = pages.first; page < pages.first + pages.count; page++)
        atomic_fetch_or_explicit(&atomic_load(&file->kept)[page / 64], 1ull << page % 64,
                                 memory_order_release);
    pthread_rwlock_unlock(&file->lock);
    return LX_OK;
}

/** Returns how many of the pages, from the first, are there: in the cache, in memory or in the
 * ring. */
static uint64_t count_there(const lx__remote_file *file, lx__pages pages)
{
    lx__cache_file *cached = atomic_load_explicit(&file->cached, memory_order_acquire);
    uint64_t count = cached != NULL ? lx__cache_file_count_present(cached, pages) : 0;
    if (count == 0 && file->is_chunk)
        count = lx__page_ring_count_present(file->place->ring, file->number, pages);
    while (count < pages.count && is_kept(file, pages.first + count))
        count++;
    return count;
}

/** Copies bytes from the cache; 0 if the first is not there, or the disk failed. */
static size_t copy_cached(lx__remote_file *file, uint8_t *data, size_t size, uint64_t offset)
{
    lx__cache_file *cached = atomic_load_explicit(&file->cached, memory_order_acquire);
    lx_error why = LX_ERROR_INIT;
    if (cached == NULL)
        return 0;
    lx__pages pages = lx__pages_of(offset, size);
    uint64_t count = lx__cache_file_count_present(cached, pages);
    if (count == 0)
        return 0;
    uint64_t end = (pages.first + count) * LX__PAGE_BYTES;
    size_t here = end - offset < size ? (size_t)(end - offset) : size;
    if (lx__cache_file_read(cached, data, here, offset, &why) == LX_OK) {
        atomic_fetch_add_explicit(&file->place->counts.cached_bytes, here, memory_order_relaxed);
        return here;
    }
    lx__cache_file_drop(cached, (lx__pages){pages.first, count});
    lx__place_report_cache(file->place, &why);
    return 0;
}

static size_t copy_kept(lx__remote_file *file, uint8_t *data, size_t size, uint64_t offset)
{
    size_t here = 0;
    if (atomic_load_explicit(&file->kept, memory_order_relaxed) == NULL)
        return 0; /* chunks */
    pthread_rwlock_rdlock(&file->lock);
    while (here < size && is_kept(file, (offset + here) / LX__PAGE_BYTES)) {
        uint64_t left = LX__PAGE_BYTES - (offset + here) % LX__PAGE_BYTES;
        here += left < size - here ? (size_t)left : size - here;
    }
    if (here != 0)
        memcpy(data, atomic_load(&file->memory) + offset, here);
    pthread_rwlock_unlock(&file->lock);
    return here;
}

/** Copies the bytes that are there, up to the first that is not; returns their number. */
static size_t copy_there(lx__remote_file *file, uint8_t *data, size_t size, uint64_t offset)
{
    size_t done = 0, here = 1;
    while (done < size && here != 0) {
        here = copy_cached(file, data + done, size - done, offset + done);
        if (here == 0)
            here = copy_kept(file, data + done, size - done, offset + done);
        if (here == 0 && file->is_chunk)
            here = lx__page_ring_read(file->place->ring, file->number, offset + done, data + done,
                                      size - done);
        done += here;
    }
    return done;
}

/* ---- bytes that are not there; the caller holds the mutex */

static bool is_absent(const lx__remote_file *file, uint64_t page)
{
    return !is_wanted(file, page) && count_there(file, (lx__pages){page, 1}) == 0;
}

/** Starts to fetch absent pages, of which @p pages.first must be the first, up to the first page
 * that is not absent. For tables, adds absent pages around them. */
static lx_status fetch_absent(lx__remote_file *file, lx__pages pages, bool urgent, bool impatient,
                              lx__fetch **fetch, lx_error *error)
{
    uint64_t size = atomic_load(&file->size), first = pages.first, end = first + 1;
    uint64_t last = pages.first + pages.count, pages_end = (size - 1) / LX__PAGE_BYTES + 1;
    if (!file->is_chunk) {
        uint64_t begin = first - first % TABLE_PAGES;
        last += (TABLE_PAGES - last % TABLE_PAGES) % TABLE_PAGES;
        while (first > begin && is_absent(file, first - 1))
            first--;
    }
    last = last < pages_end ? last : pages_end;
    last = last - first < FETCH_PAGES ? last : first + FETCH_PAGES;
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
    lx__fetch *fetch = is_wanted(file, pages.first) ? find_fetch(file, pages.first) : NULL;
    /* The page may have come since the reader looked. */
    if (fetch == NULL && is_absent(file, pages.first))
        status = fetch_absent(file, pages, true, impatient, &fetch, error);
    if (fetch != NULL)
        status = wait_in(fetch, waiter, error);
    pthread_mutex_unlock(&file->place->mutex);
    return status;
}

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
    while (status == LX_OK &&
           (done += copy_there(file, data + done, size - done, offset + done)) < size) {
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
    uint64_t whole = atomic_load_explicit(&file->size, memory_order_acquire);
    if (whole == LX_NONE)
        status = lx__remote_file_get_size(file, &whole, error);
    *got = 0;
    if (status != LX_OK || offset >= whole)
        return status;
    if (size > whole - offset)
        size = (size_t)(whole - offset);
    status = read_all(file, data, size, offset, error);
    if (status == LX_OK)
        *got = size;
    else
        lx_error_locate(error, file->path, NULL, LX_NONE, offset);
    return status;
}

void lx__remote_file_will_need(lx__remote_file *file, uint64_t offset, uint64_t size)
{
    uint64_t whole = atomic_load(&file->size);
    if (whole == LX_NONE || offset >= whole || size == 0)
        return;
    lx__pages pages = lx__pages_of(offset, size < whole - offset ? size : whole - offset);
    uint64_t end = pages.first + pages.count, there;
    for (uint64_t page = pages.first; page < end; page += there) {
        there = count_there(file, (lx__pages){page, end - page});
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
           count_there(file, (lx__pages){offset / LX__PAGE_BYTES, 1}) == 0;
}

bool lx__remote_file_renew(lx__remote_file *file, uint64_t offset, uint64_t size)
{
    lx__cache_file *cached = atomic_load(&file->cached);
    uint64_t whole = atomic_load(&file->size);
    if (whole == LX_NONE || offset >= whole || size == 0)
        return false;
    lx__pages pages = lx__pages_of(offset, size < whole - offset ? size : whole - offset);
    if (cached != NULL)
        lx__cache_file_drop(cached, pages);
    if (file->is_chunk)
        lx__page_ring_drop(file->place->ring, file->number, pages);
    _Atomic uint64_t *kept = atomic_load_explicit(&file->kept, memory_order_acquire);
    for (uint64_t page = pages.first; kept != NULL && page < pages.first + pages.count; page++)
        atomic_fetch_and(&kept[page / 64], ~(1ull << page % 64));
    return true;
}
