/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A dataset open for writing.
 *
 * The way of an operation: operations.c takes it from the caller, add.c copies it into a write
 * buffer, flush.c writes the values of that into chunks, reap.c waits for this, apply.c turns the
 * operation into entries, and commit.c makes these visible and durable by a frame of the log.
 *
 * Lock order: writer.mutex, then flush.mutex, then the chunk pool's. The executor's locks come
 * after them. Each part below is used under writer.mutex, unless its header says otherwise.
 */
#ifndef LX_ZRECORD_WRITER_H
#define LX_ZRECORD_WRITER_H

#include "zrecord/table/table-writer.h"
#include "zrecord/wal/sync-list.h"
#include "zrecord/wal/wal-writer.h"
#include "zrecord/write/applied.h"
#include "zrecord/write/atfork.h"
#include "zrecord/write/calls.h"
#include "zrecord/write/commit-requests.h"
#include "zrecord/write/committed.h"
#include "zrecord/write/flush.h"
#include "zrecord/write/orphans.h"
#include "zrecord/write/sync-timer.h"
#include "zrecord/write/write-mutex.h"
#include "zrecord/write/write-ring.h"

struct lx_writer {
    lx__write_mutex mutex;
    lx_durability durability;
    int level;
    lx_executor *executor; /**< Referenced. */
    bool own_executor;

    lx__file directory, chunk_directory, lock;
    bool lock_linked; /**< LOCK had a name when it was opened: the file system counts its links. */
    lx__atfork atfork;

    lx__meta meta;
    lx__entry_rules *rules; /**< One a field. */
    struct {
        lx_schema **list;
        size_t count, capacity;
    } former; /**< Schemas before a change of fields: callers may still hold them. */

    /* Operations, from the caller to the log. */
    uint64_t length;        /**< With all operations so far. */
    uint64_t pending_bytes; /**< Of payloads since the last frame. */
    bool transaction;
    lx__calls calls;
    lx__commit_requests requests;
    lx__write_ring ring;
    lx__flush flush;
    lx__applied applied;
    lx__table_writer tables; /**< Its first is never below committed.state.rows. */
    lx__sync_list sync_list;
    lx__committed committed;
    lx__wal_writer wal;

    lx__sync_timer timer;
    lx__obsolete_files obsolete;
};

/** Above the id of each chunk that was ever made. */
static inline uint32_t lx__writer_next_chunk(lx_writer *writer)
{
    uint32_t made = lx__chunk_pool_next(&writer->flush.pool);
    uint32_t named = writer->committed.state.next_chunk;
    return made > named ? made : named; /* recovery has not told the pool yet */
}

#endif
