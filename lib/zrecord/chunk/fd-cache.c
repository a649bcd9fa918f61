/* SPDX-License-Identifier: MIT */
#include "zrecord/chunk/fd-cache.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/format/names.h"
#include "zrecord/table/table-file.h"

/* How many times to try to open a file while the system has no free descriptors. Each failed
 * attempt closes the idle files and halves the size of the cache. Retrying is needed because other
 * threads may take the freed descriptors first. */
#define TRIES 10

void lx__fd_cache_init(lx__fd_cache *cache, size_t max, lx__fd_open *open, void *user)
{
    *cache = (lx__fd_cache){.open = open, .user = user, .max = max};
    pthread_mutex_init(&cache->mutex, NULL);
}

/* ---- the list, under the mutex */

static void put_first(lx__fd_cache *cache, lx__open_file *file)
{
    file->next = cache->files;
    cache->files = file;
}

static lx__open_file *find(lx__fd_cache *cache, const lx__file_name *name)
{
    lx__open_file **at = &cache->files, *file;
    while (*at != NULL && ((*at)->part != name->part || (*at)->number != name->number))
        at = &(*at)->next;
    if ((file = *at) == NULL)
        return NULL;
    *at = file->next;
    put_first(cache, file);
    file->users++;
    return file;
}

/** Removes the least recently used idle file from the list; NULL if all files are in use. */
static lx__open_file *take_out_oldest(lx__fd_cache *cache)
{
    lx__open_file **oldest = NULL, *file;
    for (lx__open_file **at = &cache->files; *at != NULL; at = &(*at)->next)
        if ((*at)->users == 0)
            oldest = at;
    if (oldest == NULL)
        return NULL;
    file = *oldest;
    *oldest = file->next;
    cache->count--;
    return file;
}

/* ---- opening */

lx_status lx__fd_open_chunk(void *user, const lx__file_name *name, lx__file *file, lx_error *error)
{
    char text[LX__NAME_SIZE];
    lx__chunk_name(name->number, text);
    return lx__committed_open(file, user, text, O_RDONLY, name->bytes, false, error);
}

static void close_file(lx__open_file *file)
{
    lx__file_close(&file->file);
    lx__free(file);
}

/** Closes idle files, least recently used first, until at most @p left files are open. */
static void close_idle(lx__fd_cache *cache, size_t left)
{
    lx__open_file *file;
    do {
        pthread_mutex_lock(&cache->mutex);
        file = cache->count > left ? take_out_oldest(cache) : NULL;
        pthread_mutex_unlock(&cache->mutex);
        if (file != NULL)
            close_file(file);
    } while (file != NULL);
}

/** Closes all idle files after the system ran out of descriptors, and makes the cache keep fewer
 * files open from then on. Otherwise, other threads could take all the descriptors before this one
 * gets any. */
static void keep_fewer(lx__fd_cache *cache)
{
    pthread_mutex_lock(&cache->mutex);
    if (cache->max > 1)
        cache->max /= 2;
    pthread_mutex_unlock(&cache->mutex);
    close_idle(cache, 0);
}

static lx_status open_file(lx__fd_cache *cache, const lx__file_name *name, lx__file *file,
                           lx_error *error)
{
    for (int tries = 1;; tries++) {
        lx_error why = LX_ERROR_INIT;
        lx_status status = cache->open(cache->user, name, file, &why);
        if (status == LX_OK)
            return LX_OK;
        if (tries == TRIES || (why.errnum != EMFILE && why.errnum != ENFILE)) {
            lx__error_propagate(error, &why);
            return status;
        }
        keep_fewer(cache);
    }
}

void lx__fd_cache_keep(lx__fd_cache *cache, size_t max)
{
    pthread_mutex_lock(&cache->mutex);
    cache->max = max;
    pthread_mutex_unlock(&cache->mutex);
}

lx_status lx__fd_cache_take(lx__fd_cache *cache, const lx__file_name *name, lx__open_file **file,
                            lx_error *error)
{
    pthread_mutex_lock(&cache->mutex);
    *file = find(cache, name);
    size_t max = cache->max;
    pthread_mutex_unlock(&cache->mutex);
    if (*file != NULL)
        return LX_OK;
    lx__open_file *made = lx__alloc_array(1, sizeof *made);
    if (made == NULL)
        return lx__fail_memory(error, "an open file");
    made->part = name->part;
    made->number = name->number;
    made->users = 1;
    lx_status status = open_file(cache, name, &made->file, error);
    if (status != LX_OK) {
        lx__free(made);
        return status;
    }
    close_idle(cache, max - 1);
    pthread_mutex_lock(&cache->mutex);
    put_first(cache, made); /* a harmless duplicate if another thread opened the same file */
    cache->count++;
    pthread_mutex_unlock(&cache->mutex);
    *file = made;
    return LX_OK;
}

void lx__fd_cache_release(lx__fd_cache *cache, lx__open_file *file)
{
    if (file == NULL)
        return;
    pthread_mutex_lock(&cache->mutex);
    file->users--;
    pthread_mutex_unlock(&cache->mutex);
}

void lx__fd_cache_take_over(lx__fd_cache *cache)
{
    if (pthread_mutex_trylock(&cache->mutex) == 0) {
        pthread_mutex_unlock(&cache->mutex);
        return;
    }
    pthread_mutex_init(&cache->mutex, NULL);
    cache->files = NULL;
    cache->count = 0;
}

void lx__fd_cache_close(lx__fd_cache *cache)
{
    while (cache->files != NULL) {
        lx__open_file *file = cache->files;
        cache->files = file->next;
        close_file(file);
    }
    pthread_mutex_destroy(&cache->mutex);
}
