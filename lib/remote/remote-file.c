/* SPDX-License-Identifier: MIT */
#include "remote/remote-file.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/pages.h"
#include "zrecord/format/names.h"

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
    made->is_chunk = strchr(name, '/') != NULL; /* only chunks are in folders */
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

/* ---- the cache */

void lx__remote_file_report_cache(const lx__remote_file *file, const lx_error *why)
{
    char text[1200];
    if (atomic_exchange(&file->place->cache_failed, true))
        return;
    lx_error_describe(why, text, sizeof text);
    lx__log(LX_LOG_WARNING, "%s: the cache cannot be used, so reading is slower: %s",
            file->place->url, text);
}

/** Writes the name of the cache file of a chunk. The cache has one folder for all chunks, so those
 * of parts have the names of their folders before their own: "part~a~chunk~0.zr". No name in a path
 * contains "~". */
static void name_chunk(const lx__remote_file *file, char name[LX__CHUNK_PATH_SIZE])
{
    const char *path = file->name;
    if (strncmp(path, LX__CHUNK_DIRECTORY "/", sizeof LX__CHUNK_DIRECTORY) == 0 &&
        strchr(path + sizeof LX__CHUNK_DIRECTORY, '/') == NULL)
        path += sizeof LX__CHUNK_DIRECTORY;
    snprintf(name, LX__CHUNK_PATH_SIZE, "%s", path);
    for (char *slash = name; (slash = strchr(slash, '/')) != NULL;)
        *slash = '~';
}

/** Opens the cache file of a file of known length. The caller holds the mutex. */
static void open_cached(lx__remote_file *file)
{
    lx__place *place = file->place;
    lx__cache_file *cached;
    lx_error why = LX_ERROR_INIT;
    char chunk[LX__CHUNK_PATH_SIZE];
    const char *name = file->is_chunk ? chunk : file->name;
    if (place->cache == NULL)
        return;
    if (file->is_chunk)
        name_chunk(file, chunk);
    if (lx__cache_open_file(place->cache, file->is_chunk ? LX__CHUNK_DIRECTORY : place->tables,
                            name, atomic_load(&file->size), &cached, &why) != LX_OK) {
        lx__remote_file_report_cache(file, &why);
        return;
    }
    if (!file->is_chunk)
        lx__cache_file_distrust(cached);
    atomic_store(&file->cached, cached);
}

static void remove_idle(lx__remote_file *file)
{
    lx__list_remove(&file->idle);
    file->place->idle_count--;
}

void lx__remote_file_use(lx__remote_file *file)
{
    pthread_mutex_lock(&file->place->mutex);
    bool is_open = atomic_load(&file->cached) != NULL;
    if (file->users++ == 0 && is_open)
        remove_idle(file);
    if (file->is_cached && !is_open)
        open_cached(file);
    pthread_mutex_unlock(&file->place->mutex);
}

static void close_cached(lx__remote_file *file)
{
    lx__cache_file_close(atomic_exchange(&file->cached, NULL));
}

void lx__remote_file_leave(lx__remote_file *file)
{
    lx__place *place = file->place;
    pthread_mutex_lock(&place->mutex);
    if (--file->users == 0 && atomic_load(&file->cached) != NULL) {
        lx__list_insert(&place->idle, &file->idle);
        place->idle_count++;
    }
    if (place->idle_count > place->idle_max) {
        lx__remote_file *oldest = LX__CONTAINER_OF(place->idle.next, lx__remote_file, idle);
        remove_idle(oldest);
        close_cached(oldest);
    }
    pthread_mutex_unlock(&place->mutex);
}

void lx__remote_file_take_over(lx__remote_file *file)
{
    file->fetches = NULL; /* leaked: the parent's threads were using them */
    pthread_rwlock_init(&file->lock, NULL);
    if (file->wanted != NULL)
        memset(file->wanted, 0, words_of(atomic_load(&file->size)) * sizeof *file->wanted);
    if (file->users == 0)
        close_cached(file);
    else if (atomic_load(&file->cached) != NULL)
        lx__cache_file_take_over(atomic_load(&file->cached));
}

/* ---- lengths */

lx_status lx__remote_file_fail_size(const lx__remote_file *file, uint64_t total, uint64_t expected,
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
        return lx__remote_file_fail_size(file, total, size, error);
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

void lx__remote_file_set_size(lx__remote_file *file, uint64_t size, bool exact)
{
    file->exact = exact;
    atomic_store(&file->size, size);
    file->is_cached = true;
    open_cached(file);
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

lx__fetch *lx__remote_file_find_fetch(const lx__remote_file *file, uint64_t page)
{
    lx__fetch *fetch = file->fetches;
    if (!is_wanted(file, page))
        return NULL;
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

uint64_t lx__remote_file_count_here(const lx__remote_file *file, lx__pages pages)
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
    lx__remote_file_report_cache(file, &why);
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

size_t lx__remote_file_copy_here(lx__remote_file *file, uint8_t *data, size_t size, uint64_t offset)
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

void lx__remote_file_drop(lx__remote_file *file, lx__pages pages)
{
    lx__cache_file *cached = atomic_load(&file->cached);
    if (cached != NULL)
        lx__cache_file_drop(cached, pages);
    if (file->is_chunk)
        lx__page_ring_drop(file->place->ring, file->number, pages);
    _Atomic uint64_t *kept = atomic_load_explicit(&file->kept, memory_order_acquire);
    for (uint64_t page = pages.first; kept != NULL && page < pages.first + pages.count; page++)
        atomic_fetch_and(&kept[page / 64], ~(1ull << page % 64));
}
