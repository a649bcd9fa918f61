/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The chunks that a writer keeps open: those that it appends to, and those that have grown
 * since the last frame or the last sync.
 *
 * Each flush task of a writer appends to a chunk of its own; all tasks share the chunk ids and
 * limits.
 */
#ifndef LX_ZRECORD_CHUNK_H
#define LX_ZRECORD_CHUNK_H

#include <pthread.h>

#include "base/file.h"
#include "zrecord/wal/frame.h"
#include "zrecord/wal/sync-list.h"

/** Maximum number of committed chunks with free space that the pool keeps for reuse. */
#define LX__SPARE_CHUNKS 16

/** Whether a payload of @p size bytes aligned to @p align may be appended to a chunk. A payload
 * that exceeds the limit fits only in an empty chunk. */
bool lx__chunk_has_room(const lx__chunk_item *chunk, uint64_t size, uint32_t align,
                        uint64_t records_limit, uint64_t bytes_limit);

/** State shared by all flush tasks of a writer. */
typedef struct lx__chunk_pool {
    const lx__file *directory;
    uint64_t records_limit;
    uint64_t bytes_limit;
    bool each_synced;      /**< Every commit waits until it is synced. */
    pthread_mutex_t mutex; /**< Guards the members below. A leaf lock. */
    uint32_t next_id;
    lx__chunk_item spare[LX__SPARE_CHUNKS]; /**< The chunks with the most free space. */
    size_t spare_count;
    bool directory_dirty; /**< A file was created since the last sync of the directory. */
    bool sync_failed;     /**< Permanent, because a later sync does not report the data that the
                               failed sync lost. */
} lx__chunk_pool;

typedef struct lx__chunk_file {
    lx__file file; /**< Closed once the chunk is full and synced and is only waiting for its
                        frame. */
    lx__chunk_item now;
    lx__chunk_item committed; /**< As in the last frame; bytes is 0 in an uncommitted chunk. */
    bool dirty;               /**< Bytes were written since the last sync. */
    bool held;                /**< A sync list uses the descriptor, which must stay open. */
} lx__chunk_file;

/** The chunks of one flush task. The task owns the chunks while it runs; while no task is running,
 * the committing thread owns them. */
typedef struct lx__chunk_files {
    lx__chunk_pool *pool;
    lx__chunk_file *list; /**< Payloads are appended to the last chunk unless it is full. */
    size_t count;
    size_t capacity;
} lx__chunk_files;

/** Zeroes a pool and initializes its mutex; the caller then sets the other members. */
void lx__chunk_pool_init(lx__chunk_pool *pool);

/** Offers a committed chunk for reuse; no flush task may have it open. Ignores a full chunk. */
void lx__chunk_pool_offer(lx__chunk_pool *pool, const lx__chunk_item *item);

/** Drops all spare chunks, so that the next chunk of each flush task is a new one. */
void lx__chunk_pool_drop_spare(lx__chunk_pool *pool);

uint32_t lx__chunk_pool_next(lx__chunk_pool *pool);

void lx__chunk_pool_free(lx__chunk_pool *pool);

/** Whether a chunk differs from its item in the last frame. */
static inline bool lx__chunk_file_has_grown(const lx__chunk_file *chunk)
{
    return chunk->now.bytes != chunk->committed.bytes ||
           chunk->now.records != chunk->committed.records;
}

/**
 * Finds a chunk with room for a payload of @p size bytes aligned to @p align: the current one, a
 * spare one, or a new one. Sets @p start to the payload's offset in the chunk.
 * @retval LX_ERR_POISONED  A full chunk had to be closed, and its sync failed.
 */
lx_status lx__chunk_files_room(lx__chunk_files *files, uint64_t size, uint32_t align,
                               lx__chunk_file **chunk, uint64_t *start, lx_error *error);

/** Gets how many more bytes and records fit into the current chunk; both numbers are 0 if the next
 * payload needs a new chunk. */
void lx__chunk_files_left(const lx__chunk_files *files, uint64_t *bytes, uint64_t *records);

/** Whether lx__chunk_files_room() would return the current chunk. */
bool lx__chunk_files_fits(const lx__chunk_files *files, uint64_t size, uint32_t align);

/** Returns the chunk that was appended to last. The list must not be empty. */
static inline lx__chunk_file *lx__chunk_files_last(const lx__chunk_files *files)
{
    return &files->list[files->count - 1];
}

/** Adds each file written since the last sync to the sync list @p list, and also the directory if
 * it changed. After that, the files and the directory count as synced. Fails if any earlier sync
 * failed. */
lx_status lx__chunk_files_list_syncs(lx__chunk_files *files, lx__sync_list *list, lx_error *error);

/** Called after the sync list has been run; from then on, the descriptors in the list may be
 * closed. */
void lx__chunk_files_release(lx__chunk_files *files);

/** Called after a frame: marks the chunks in @p items, which are in ascending order of id, as
 * committed. @p items need not list all chunks of @p files. Closes the chunks that will not be
 * appended to. */
void lx__chunk_files_committed(lx__chunk_files *files, const lx__chunk_item *items, size_t count);

/** Resets the chunks and their files to their state in the last frame, and removes the files of
 * chunks that are not in that frame. */
lx_status lx__chunk_files_rollback(lx__chunk_files *files, lx_error *error);

void lx__chunk_files_close(lx__chunk_files *files);

#endif
