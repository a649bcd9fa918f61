/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The chunks that a writer has in hand: the one it appends to, and those that have grown
 * since the last frame or the last sync.
 */
#ifndef LX_ZRECORD_CHUNK_FILE_H
#define LX_ZRECORD_CHUNK_FILE_H

#include "base/file.h"
#include "zrecord/meta.h"

/** One chunk. */
typedef struct lx__chunk_file {
    lx__file file; /**< Closed where it is full and synced, and only waits for its frame. */
    lx__chunk_item now;
    lx__chunk_item committed; /**< What the last frame says; bytes 0 if there is none. */
    bool dirty;               /**< Bytes were written since the last sync. */
} lx__chunk_file;

/** Whether the next frame has an item for it. */
static inline bool lx__chunk_file_has_grown(const lx__chunk_file *chunk)
{
    return chunk->now.bytes != chunk->committed.bytes ||
           chunk->now.records != chunk->committed.records;
}

/** Used by the thread that places, and by the committer while nothing is being placed. */
typedef struct lx__chunk_files {
    const lx__file *directory;
    uint64_t records_limit;
    uint64_t bytes_limit;
    lx__chunk_file *list; /**< The last one is being appended to, unless it is full. */
    size_t count;
    size_t capacity;
    uint32_t next_id;
    bool directory_dirty; /**< A file was made since the directory was synced. */
    bool sync_failed;     /**< For good: no later sync tells what that one lost. */
} lx__chunk_files;

/** Takes up the committed chunk @p item, which is not full, to append to it. */
lx_status lx__chunk_files_resume(lx__chunk_files *files, const lx__chunk_item *item,
                                 lx_error *error);

/**
 * The chunk in which a payload of @p size bytes with @p align has room, a new one if need be.
 * @p start is where the payload then lies.
 * @retval LX_ERR_POISONED  A chunk could not be synced, which is closed to make room for another.
 */
lx_status lx__chunk_files_room(lx__chunk_files *files, uint64_t size, uint32_t align,
                               lx__chunk_file **chunk, uint64_t *start, lx_error *error);

/** How many bytes and records the chunk takes that payloads go to now; 0 and 0 if it has to be a
 * new one. */
void lx__chunk_files_left(const lx__chunk_files *files, uint64_t *bytes, uint64_t *records);

/** Whether lx__chunk_files_room() would need no new chunk. */
bool lx__chunk_files_fits(const lx__chunk_files *files, uint64_t size, uint32_t align);

/** The chunk that was appended to last; there must be one. */
static inline lx__chunk_file *lx__chunk_files_last(const lx__chunk_files *files)
{
    return &files->list[files->count - 1];
}

/** Syncs all that is dirty, directory included. Fails if a sync has failed before. */
lx_status lx__chunk_files_sync(lx__chunk_files *files, lx_error *error);

/** After a frame: what is there now is committed. Chunks that are full and synced are let go. */
void lx__chunk_files_committed(lx__chunk_files *files);

/** Back to what the last frame says; chunks that it does not know are removed. */
lx_status lx__chunk_files_rollback(lx__chunk_files *files, lx_error *error);

void lx__chunk_files_close(lx__chunk_files *files);

#endif
