/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A dataset that is open for writing.
 *
 * The path of an operation: operations.c takes the operation from the caller, add.c copies it into
 * a write buffer, and flush.c writes the buffer's values to chunks. Then reap.c waits for the
 * flush, apply.c turns the operation into table entries, and commit.c makes the entries visible and
 * durable with a frame of the log.
 *
 * Lock order: writer.mutex, then flush.mutex, then the chunk pool's mutex. The executor's locks
 * come after all of these. Each part below is used under writer.mutex, unless its header says
 * otherwise.
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
#include "zrecord/write/codec-settings.h"
#include "zrecord/write/sync-timer.h"
#include "zrecord/write/training.h"
#include "zrecord/write/write-mutex.h"
#include "zrecord/write/write-ring.h"

struct lx_writer {
    lx__write_mutex mutex;
    lx_durability durability;
    bool keeps_files; /**< As in lx_writer_options. */
    int level;        /**< Of fields that have none of their own; 0: the default of the codec. */
    lx_executor *executor; /**< Owned reference. */
    bool own_executor;

    lx__file directory, chunk_directory, lock;
    /** The link count of LOCK was not 0 when it was opened, so this file system counts links. */
    bool lock_linked;
    lx__atfork atfork;

    lx__meta meta;
    lx__entry_rules *rules;             /**< One per field. */
    lx__codec_settings *codec_settings; /**< One per field. */
    lx__dictionary_list dictionaries;
    lx__training training;
    struct {
        lx_schema **list;
        size_t count, capacity;
    } former; /**< Schemas from before fields were changed; callers may still be using them. */

    /* The operations that are not in the log yet. */
    uint64_t length;        /**< Length of the dataset with all operations so far. */
    uint64_t pending_bytes; /**< Number of payload bytes since the last frame. */
    bool transaction;
    unsigned logged_formats; /**< A bit for each lx__image_signature that was warned of. */
    lx__calls calls;
    lx__commit_requests requests;
    lx__write_ring ring;
    lx__flush flush;
    lx__applied applied;
    lx__table_writer tables; /**< tables.first is at least committed.state.rows. */
    lx__sync_list sync_list;
    lx__committed committed;
    lx__wal_writer wal;

    lx__sync_timer timer;
    lx__obsolete_files obsolete;
};

/** Returns an id that is larger than the id of any chunk created so far. */
static inline uint32_t lx__writer_next_chunk(lx_writer *writer)
{
    uint32_t made = lx__chunk_pool_next(&writer->flush.pool);
    uint32_t named = writer->committed.state.next_chunk;
    return made > named ? made : named; /* recovery has not set the pool's counter yet */
}

#endif
