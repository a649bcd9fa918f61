/* SPDX-License-Identifier: MIT */
#include "zrecord/chunk-file.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "zrecord/fault.h"
#include "zrecord/names.h"
#include "zrecord/table.h"

/* Full chunks that stay open until the next sync. More are synced and closed as they fill up, so
 * that a writer of many small chunks does not run out of descriptors. */
#define OPEN_MAX 16

static bool is_full(const lx__chunk_files *files, const lx__chunk_item *item)
{
    return item->records >= files->records_limit || item->bytes >= files->bytes_limit;
}

/** Adds a chunk: @p fresh, or one that has the bytes of its item. */
static lx_status add(lx__chunk_files *files, const lx__chunk_item *item, bool fresh,
                     lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx_status status;
    lx__chunk_file *list =
        lx__grow_array(files->list, files->count, &files->capacity, sizeof *list);
    if (list == NULL)
        return lx__fail_memory(error, "a chunk");
    files->list = list;
    lx__chunk_file *chunk = &list[files->count];
    *chunk = (lx__chunk_file){.now = *item, .committed = *item};
    lx__chunk_name(item->id, name);
    if (fresh)
        status = lx__file_open(&chunk->file, files->directory, name, O_RDWR | O_CREAT | O_EXCL,
                               error);
    else
        status = lx__committed_open(&chunk->file, files->directory, name, O_RDWR, item->bytes,
                                    false, error);
    if (status == LX_OK)
        files->count++;
    return status;
}

lx_status lx__chunk_files_resume(lx__chunk_files *files, const lx__chunk_item *item,
                                 lx_error *error)
{
    return add(files, item, false, error);
}

/** The chunk that is appended to; NULL if there is none, or it is full. */
static lx__chunk_file *current(const lx__chunk_files *files)
{
    if (files->count == 0)
        return NULL;
    lx__chunk_file *last = lx__chunk_files_last(files);
    return is_full(files, &last->now) ? NULL : last;
}

bool lx__chunk_files_fits(const lx__chunk_files *files, uint64_t size, uint32_t align)
{
    const lx__chunk_file *chunk = current(files);
    /* A payload larger than the limit gets a chunk of its own. */
    return chunk != NULL &&
           (chunk->now.bytes == 0 ||
            lx__range_fits(lx__align_up(chunk->now.bytes, align), size, files->bytes_limit));
}

void lx__chunk_files_left(const lx__chunk_files *files, uint64_t *bytes, uint64_t *records)
{
    const lx__chunk_file *chunk = current(files);
    *bytes = chunk != NULL ? files->bytes_limit - chunk->now.bytes : 0;
    *records = chunk != NULL ? files->records_limit - chunk->now.records : 0;
}

static lx_status sync_one(lx__chunk_files *files, lx__chunk_file *chunk, lx_error *error)
{
    if (!chunk->dirty || LX__FAULT(CHUNK_SYNC))
        return LX_OK;
    lx_status status = lx__file_sync_data(&chunk->file, error);
    chunk->dirty = status != LX_OK;
    files->sync_failed = files->sync_failed || chunk->dirty;
    return status;
}

/** Lets go of descriptors of full chunks, all but the newest. What they hold may be committed
 * already, so a failure is that of a commit, and not only of what is being placed. */
static lx_status close_full(lx__chunk_files *files, lx_error *error)
{
    size_t open = 0;
    lx_status status = LX_OK;
    for (size_t i = files->count; status == LX_OK && i-- != 0;) {
        lx__chunk_file *chunk = &files->list[i];
        if (chunk->file.fd == -1 || ++open <= OPEN_MAX)
            continue;
        status = sync_one(files, chunk, error);
        if (status == LX_OK)
            lx__file_close(&chunk->file);
    }
    if (status != LX_OK && error != NULL && error->status == status)
        error->status = LX_ERR_POISONED;
    return status == LX_OK ? LX_OK : LX_ERR_POISONED;
}

static lx_status add_new(lx__chunk_files *files, lx_error *error)
{
    if (files->next_id > LX__CHUNK_ID_MAX)
        return lx__fail(error, LX_ERR_LIMIT, "all %u chunk ids are used up: copy the dataset",
                        LX__CHUNK_ID_MAX);
    lx_status status = close_full(files, error);
    if (status != LX_OK)
        return status;
    lx__chunk_item item = {.id = files->next_id};
    status = add(files, &item, true, error);
    if (status == LX_OK) {
        files->next_id++;
        files->directory_dirty = true;
    }
    return status;
}

/** A chunk that was full and closed may have room again after a rollback. */
static lx_status reopen(const lx__chunk_files *files, lx__chunk_file *chunk, lx_error *error)
{
    char name[LX__NAME_SIZE];
    if (chunk->file.fd != -1)
        return LX_OK;
    lx__chunk_name(chunk->now.id, name);
    return lx__file_open(&chunk->file, files->directory, name, O_RDWR, error);
}

lx_status lx__chunk_files_room(lx__chunk_files *files, uint64_t size, uint32_t align,
                               lx__chunk_file **chunk, uint64_t *start, lx_error *error)
{
    bool fits = lx__chunk_files_fits(files, size, align);
    lx_status status =
        fits ? reopen(files, lx__chunk_files_last(files), error) : add_new(files, error);
    if (status != LX_OK)
        return status;
    *chunk = lx__chunk_files_last(files);
    *start = lx__align_up((*chunk)->now.bytes, align);
    return LX_OK;
}

lx_status lx__chunk_files_sync(lx__chunk_files *files, lx_error *error)
{
    lx_status status = LX_OK;
    if (files->sync_failed)
        return lx__fail(error, LX_ERR_POISONED, "an earlier sync of a chunk failed");
#ifdef SYNC_FILE_RANGE_WRITE
    /* Start them all, then wait for each: the device sees them together. */
    for (size_t i = 0; files->count > 1 && i < files->count; i++)
        if (files->list[i].dirty)
            (void)sync_file_range(files->list[i].file.fd, 0, 0, SYNC_FILE_RANGE_WRITE);
#endif
    for (size_t i = 0; status == LX_OK && i < files->count; i++)
        status = sync_one(files, &files->list[i], error);
    if (status == LX_OK && files->directory_dirty && !LX__FAULT(CHUNK_DIRECTORY_SYNC)) {
        status = lx__file_sync(files->directory, error);
        if (status == LX_OK)
            files->directory_dirty = false;
    }
    return status;
}

void lx__chunk_files_committed(lx__chunk_files *files)
{
    size_t kept = 0;
    for (size_t i = 0; i < files->count; i++) {
        lx__chunk_file *chunk = &files->list[i];
        chunk->committed = chunk->now;
        if (is_full(files, &chunk->now) && !chunk->dirty)
            lx__file_close(&chunk->file);
        else
            files->list[kept++] = *chunk;
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
            files->list[kept++] = *chunk;
            continue;
        }
        char name[LX__NAME_SIZE];
        lx__chunk_name(chunk->now.id, name);
        lx__file_close(&chunk->file);
        lx_status removed = lx__file_remove(files->directory, name, error);
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
