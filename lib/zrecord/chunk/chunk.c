/* SPDX-License-Identifier: MIT */
#include "zrecord/chunk/chunk.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "zrecord/fault.h"
#include "zrecord/format/names.h"
#include "zrecord/table/table-file.h"

/* Number of full chunks that stay open until the next sync. Any others are synced and closed as
 * they fill up, so that a writer of many small chunks does not run out of descriptors. */
#define OPEN_MAX 16

bool lx__chunk_has_room(const lx__chunk_item *chunk, uint64_t size, uint32_t align,
                        uint64_t records_limit, uint64_t bytes_limit)
{
    return chunk->records < records_limit && chunk->bytes < bytes_limit &&
           (chunk->bytes == 0 ||
            lx__range_fits(lx__align_up(chunk->bytes, align), size, bytes_limit));
}

static bool is_full(const lx__chunk_pool *pool, const lx__chunk_item *item)
{
    return item->records >= pool->records_limit || item->bytes >= pool->bytes_limit;
}

/* ---- the pool */

void lx__chunk_pool_init(lx__chunk_pool *pool)
{
    *pool = (lx__chunk_pool){0};
    pthread_mutex_init(&pool->mutex, NULL);
}

void lx__chunk_pool_free(lx__chunk_pool *pool)
{
    pthread_mutex_destroy(&pool->mutex);
}

void lx__chunk_pool_offer(lx__chunk_pool *pool, const lx__chunk_item *item)
{
    if (is_full(pool, item))
        return;
    pthread_mutex_lock(&pool->mutex);
    if (pool->spare_count < LX__SPARE_CHUNKS) {
        pool->spare[pool->spare_count++] = *item;
    } else {
        size_t fullest = 0;
        for (size_t i = 1; i < LX__SPARE_CHUNKS; i++)
            if (pool->spare[i].bytes > pool->spare[fullest].bytes)
                fullest = i;
        if (item->bytes < pool->spare[fullest].bytes)
            pool->spare[fullest] = *item;
    }
    pthread_mutex_unlock(&pool->mutex);
}

void lx__chunk_pool_drop_spare(lx__chunk_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    pool->spare_count = 0;
    pthread_mutex_unlock(&pool->mutex);
}

uint32_t lx__chunk_pool_next(lx__chunk_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    uint32_t next = pool->next_id;
    pthread_mutex_unlock(&pool->mutex);
    return next;
}

/** Takes a spare chunk with room for a payload; returns false if there is none. */
static bool take_spare(lx__chunk_pool *pool, uint64_t size, uint32_t align, lx__chunk_item *item)
{
    bool found = false;
    pthread_mutex_lock(&pool->mutex);
    for (size_t i = 0; i < pool->spare_count && !found; i++) {
        lx__chunk_item spare = pool->spare[i];
        found = lx__range_fits(lx__align_up(spare.bytes, align), size, pool->bytes_limit);
        if (!found)
            continue;
        *item = spare;
        pool->spare[i] = pool->spare[--pool->spare_count];
    }
    pthread_mutex_unlock(&pool->mutex);
    return found;
}

/** Allocates a chunk id; ids are never reused. */
static lx_status take_id(lx__chunk_pool *pool, uint32_t *id, lx_error *error)
{
    lx_status status = LX_OK;
    pthread_mutex_lock(&pool->mutex);
    if (pool->next_id > LX__CHUNK_ID_MAX)
        status = lx_fail(error, LX_ERR_LIMIT,
                         "all %u chunk ids have been used: copy the dataset to continue",
                         LX__CHUNK_ID_MAX);
    else
        *id = pool->next_id++;
    pthread_mutex_unlock(&pool->mutex);
    return status;
}

static void set_flag(lx__chunk_pool *pool, bool *flag)
{
    pthread_mutex_lock(&pool->mutex);
    *flag = true;
    pthread_mutex_unlock(&pool->mutex);
}

/* ---- the chunks of a flush task */

/** Opens a chunk and adds it to the list. If @p fresh is set, creates its file; otherwise, the file
 * must exist and have at least as many bytes as @p item says. */
static lx_status add(lx__chunk_files *files, const lx__chunk_item *item, bool fresh,
                     lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx_status status;
    const lx__file *directory = files->pool->directory;
    lx__chunk_file *list = lx__grow_array(files->list, files->count, &files->capacity,
                                          sizeof *list);
    if (list == NULL)
        return lx__fail_memory(error, "a chunk");
    files->list = list;
    lx__chunk_file *chunk = &list[files->count];
    *chunk = (lx__chunk_file){.now = *item, .committed = *item};
    lx__chunk_name(item->id, name);
    if (fresh)
        status = lx__file_open(&chunk->file, directory, name, O_RDWR | O_CREAT | O_EXCL, error);
    else
        status = lx__committed_open(&chunk->file, directory, name, O_RDWR, item->bytes, false,
                                    error);
    if (status == LX_OK)
        files->count++;
    return status;
}

/** Returns the chunk to append to; NULL if the list is empty or its last chunk is full. */
static lx__chunk_file *current(const lx__chunk_files *files)
{
    if (files->count == 0)
        return NULL;
    lx__chunk_file *last = lx__chunk_files_last(files);
    return is_full(files->pool, &last->now) ? NULL : last;
}

bool lx__chunk_files_fits(const lx__chunk_files *files, uint64_t size, uint32_t align)
{
    const lx__chunk_file *chunk = current(files);
    return chunk != NULL && lx__chunk_has_room(&chunk->now, size, align, files->pool->records_limit,
                                               files->pool->bytes_limit);
}

void lx__chunk_files_left(const lx__chunk_files *files, uint64_t *bytes, uint64_t *records)
{
    const lx__chunk_file *chunk = current(files);
    *bytes = chunk != NULL ? files->pool->bytes_limit - chunk->now.bytes : 0;
    *records = chunk != NULL ? files->pool->records_limit - chunk->now.records : 0;
}

static lx_status sync_one(lx__chunk_files *files, lx__chunk_file *chunk, lx_error *error)
{
    if (!chunk->dirty || LX__FAULT(CHUNK_SYNC))
        return LX_OK;
    lx_status status = lx__file_sync_data(&chunk->file, error);
    chunk->dirty = status != LX_OK;
    if (chunk->dirty)
        set_flag(files->pool, &files->pool->sync_failed);
    return status;
}

/** Syncs and closes all full chunks except the OPEN_MAX newest ones. Their bytes may already belong
 * to a commit, so a failed sync does not just fail the current flush: it poisons the writer. */
static lx_status close_full(lx__chunk_files *files, lx_error *error)
{
    size_t open = 0;
    lx_status status = LX_OK;
    for (size_t i = files->count; status == LX_OK && i-- != 0;) {
        lx__chunk_file *chunk = &files->list[i];
        if (chunk->file.fd == -1 || chunk->held || ++open <= OPEN_MAX)
            continue;
        status = sync_one(files, chunk, error);
        if (status == LX_OK)
            lx__file_close(&chunk->file);
    }
    if (status != LX_OK && error != NULL && error->status == status)
        error->status = LX_ERR_POISONED;
    return status == LX_OK ? LX_OK : LX_ERR_POISONED;
}

static lx_status add_another(lx__chunk_files *files, uint64_t size, uint32_t align, lx_error *error)
{
    lx__chunk_item item = {0};
    lx_status status = close_full(files, error);
    if (status != LX_OK)
        return status;
    bool fresh = !take_spare(files->pool, size, align, &item);
    if (fresh)
        status = take_id(files->pool, &item.id, error);
    if (status == LX_OK)
        status = add(files, &item, fresh, error);
    if (status == LX_OK &&
        item.bytes == 0) /* an empty chunk may have no file, even if it is committed */
        set_flag(files->pool, &files->pool->directory_dirty);
    return status;
}

/** Reopens a chunk that was full, and therefore closed, but has room again after a rollback. */
static lx_status reopen(const lx__chunk_files *files, lx__chunk_file *chunk, lx_error *error)
{
    char name[LX__NAME_SIZE];
    if (chunk->file.fd != -1)
        return LX_OK;
    lx__chunk_name(chunk->now.id, name);
    return lx__file_open(&chunk->file, files->pool->directory, name, O_RDWR, error);
}

lx_status lx__chunk_files_room(lx__chunk_files *files, uint64_t size, uint32_t align,
                               lx__chunk_file **chunk, uint64_t *start, lx_error *error)
{
    bool fits = lx__chunk_files_fits(files, size, align);
    lx_status status = fits ? reopen(files, lx__chunk_files_last(files), error)
                            : add_another(files, size, align, error);
    if (status != LX_OK)
        return status;
    *chunk = lx__chunk_files_last(files);
    *start = lx__align_up((*chunk)->now.bytes, align);
    return LX_OK;
}

lx_status lx__chunk_files_list_syncs(lx__chunk_files *files, lx__sync_list *list, lx_error *error)
{
    lx__chunk_pool *pool = files->pool;
    lx_status status = lx__sync_list_reserve(list, files->count + 1, error);
    if (status != LX_OK)
        return status;
    pthread_mutex_lock(&pool->mutex);
    bool failed = pool->sync_failed;
    if (!failed && pool->directory_dirty && !LX__FAULT(CHUNK_DIRECTORY_SYNC)) {
        lx__sync_list_add_directory(list, pool->directory);
        pool->directory_dirty = false;
    }
    pthread_mutex_unlock(&pool->mutex);
    if (failed)
        return lx_fail(
            error, LX_ERR_POISONED,
            "an earlier sync of a chunk failed: close this writer and open the dataset again");
    for (size_t i = 0; i < files->count; i++) {
        lx__chunk_file *chunk = &files->list[i];
        if (chunk->dirty && !LX__FAULT(CHUNK_SYNC)) {
            lx__sync_list_add(list, &chunk->file);
            chunk->dirty = false;
            chunk->held = true;
        }
    }
    return LX_OK;
}

void lx__chunk_files_release(lx__chunk_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        files->list[i].held = false;
}

void lx__chunk_files_committed(lx__chunk_files *files, const lx__chunk_item *items, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < files->count; i++) {
        lx__chunk_file *chunk = &files->list[i];
        const lx__chunk_item *item = count != 0 ? bsearch(&chunk->now, items, count, sizeof *items,
                                                          lx__chunk_item_compare)
                                                : NULL;
        if (item != NULL)
            chunk->committed = *item;
        bool waits = chunk->dirty || lx__chunk_file_has_grown(chunk);
        bool is_appended_to = i + 1 == files->count && !is_full(files->pool, &chunk->now);
        if (waits || is_appended_to) {
            files->list[kept++] = *chunk;
            continue;
        }
        lx__file_close(&chunk->file);
        lx__chunk_pool_offer(files->pool, &chunk->now); /* a smaller payload may still fit */
    }
    files->count = kept;
}

lx_status lx__chunk_files_rollback(lx__chunk_files *files, lx_error *error)
{
    size_t kept = 0;
    lx_status status = LX_OK;
    for (size_t i = 0; i < files->count; i++) {
        lx__chunk_file *chunk = &files->list[i];
        if (chunk->committed.bytes != 0 || !lx__chunk_file_has_grown(chunk)) {
            chunk->now = chunk->committed;
            if (reopen(files, chunk, NULL) == LX_OK)
                lx__file_trim(&chunk->file, chunk->committed.bytes);
            files->list[kept++] = *chunk;
            continue;
        }
        char name[LX__NAME_SIZE];
        lx__chunk_name(chunk->now.id, name);
        lx__file_close(&chunk->file);
        lx_status removed = lx__file_remove(files->pool->directory, name, error);
        if (status == LX_OK)
            status = removed;
    }
    files->count = kept;
    return status;
}

void lx__chunk_files_close(lx__chunk_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        lx__file_close(&files->list[i].file);
    lx__free(files->list);
    files->list = NULL;
    files->count = files->capacity = 0;
}
