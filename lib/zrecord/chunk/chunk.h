/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The chunks that a writer has in hand: those it appends to, and those that have grown since
 * the last frame or the last sync.
 *
 * Each lane of a writer has its own chunk to append to; ids and limits are shared.
 */
#ifndef LX_ZRECORD_CHUNK_H
#define LX_ZRECORD_CHUNK_H

#include <pthread.h>

#include "base/file.h"
#include "zrecord/format/meta.h"
#include "zrecord/wal/sync-list.h"

/** Committed chunks that are not full and that no lane has in hand: so many are remembered. */
#define LX__SPARE_CHUNKS 16

/** What the lanes of a writer share. */
typedef struct lx__chunk_pool {
    const lx__file *directory;
    uint64_t records_limit;
    uint64_t bytes_limit;
    bool each_synced; /**< Each commit waits for the disk. */
    pthread_mutex_t mutex; /**< For all that follows. A leaf. */
    uint32_t next_id;
    lx__chunk_item spare[LX__SPARE_CHUNKS]; /**< Those with the most room. */
    size_t spare_count;
    bool directory_dirty; /**< A file was made since the directory was synced. */
    bool sync_failed;     /**< For good: no later sync tells what that one lost. */
} lx__chunk_pool;

/** One chunk. */
typedef struct lx__chunk_file {
    lx__file file; /**< Closed where it is full and synced, and only waits for its frame. */
    lx__chunk_item now;
    lx__chunk_item committed; /**< What the last frame says; bytes 0 if there is none. */
    bool dirty;               /**< Bytes were written since the last sync. */
    bool held;                /**< A barrier has the descriptor: it is not closed. */
} lx__chunk_file;

/** Those of one lane: the lane's own, and the committer's while nothing is being placed. */
typedef struct lx__chunk_files {
    lx__chunk_pool *pool;
    lx__chunk_file *list; /**< The last one is being appended to, unless it is full. */
    size_t count;
    size_t capacity;
} lx__chunk_files;

/** Makes a pool; what it shares but the mutex is set after that. */
void lx__chunk_pool_init(lx__chunk_pool *pool);

/** Offers a committed chunk that no lane has in hand, to be appended to; full ones are ignored. */
void lx__chunk_pool_offer(lx__chunk_pool *pool, const lx__chunk_item *item);

/** No chunk there was is appended to any more: the next payload begins a new one. */
void lx__chunk_pool_forget(lx__chunk_pool *pool);

/** The id of the next new chunk. */
uint32_t lx__chunk_pool_next(lx__chunk_pool *pool);

void lx__chunk_pool_free(lx__chunk_pool *pool);

/** Whether the last frame does not say of a chunk what it is now. */
static inline bool lx__chunk_file_has_grown(const lx__chunk_file *chunk)
{
    return chunk->now.bytes != chunk->committed.bytes ||
           chunk->now.records != chunk->committed.records;
}

/**
 * The chunk in which a payload of @p size bytes with @p align has room, another one if need be.
 * @p start is where the payload then lies.
 * @retval LX_ERR_POISONED  A chunk could not be synced, which is closed to make room for another.
 */
lx_status lx__chunk_files_room(lx__chunk_files *files, uint64_t size, uint32_t align,
                               lx__chunk_file **chunk, uint64_t *start, lx_error *error);

/** How many bytes and records the chunk takes that payloads go to now; 0 and 0 if it has to be
 * another one. */
void lx__chunk_files_left(const lx__chunk_files *files, uint64_t *bytes, uint64_t *records);

/** Whether lx__chunk_files_room() would need no other chunk. */
bool lx__chunk_files_fits(const lx__chunk_files *files, uint64_t size, uint32_t align);

/** The chunk that was appended to last; there must be one. */
static inline lx__chunk_file *lx__chunk_files_last(const lx__chunk_files *files)
{
    return &files->list[files->count - 1];
}

/** Adds to @p barrier what was written since the last sync, the directory included; it counts as
 * synced from here on. Fails if a sync has failed before. */
lx_status lx__chunk_files_barrier(lx__chunk_files *files, lx__barrier *barrier, lx_error *error);

/** After the barrier was run: its descriptors may be closed. */
void lx__chunk_files_release(lx__chunk_files *files);

/** After a frame, which names the @p count chunks of @p items, ascending by id, or fewer: what they
 * say is committed. Chunks to which nothing more goes are let go. */
void lx__chunk_files_committed(lx__chunk_files *files, const lx__chunk_item *items, size_t count);

/** Back to what the last frame says; chunks that it does not know are removed. */
lx_status lx__chunk_files_rollback(lx__chunk_files *files, lx_error *error);

void lx__chunk_files_close(lx__chunk_files *files);

#endif
