/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A dataset open for writing, and the parts of its work.
 *
 * An operation's way: append.c and modify.c take it, add.c copies it into a stage; the placer puts
 * its values into chunks; stages.c takes back what is placed, in the order of the calls; apply.c
 * makes entries of it; commit.c makes these visible and durable, by frames of the log.
 *
 * The parts, each of which calls only those before it: heirs.c, handle.c, leftover.c, recover.c,
 * apply.c, stages.c, commit.c, group.c, the switches of generations (switch.h), value.c, add.c, then the public append.c, modify.c, transaction.c, submit.c, seal.c, fields.c and
 * writer.c.
 *
 * Lock order: writer.mutex, then placer.mutex, then the chunk pool's. The executor's locks come
 * after them.
 */
#ifndef LX_ZRECORD_WRITER_H
#define LX_ZRECORD_WRITER_H

#include <sys/types.h>

#include "zrecord/wal/sync-list.h"
#include "zrecord/write/flush.h"
#include "zrecord/table/table-writer.h"
#include "zrecord/wal/update-map.h"
#include "zrecord/wal/replay.h"
#include "zrecord/write/applied.h"
#include "zrecord/write/calls.h"
#include "zrecord/write/commit-requests.h"
#include "zrecord/write/orphans.h"
#include "zrecord/write/sync-timer.h"
#include "zrecord/wal/wal-writer.h"
#include "zrecord/write/write-ring.h"

/* Payload bytes after which periodic durability writes a frame by itself. */
#define LX__AUTO_COMMIT_BYTES (256ull << 20)

struct lx_writer_options {
    lx_durability durability;
    uint64_t chunk_records;
    uint64_t chunk_bytes;
    int level;
    lx_executor *executor; /**< Referenced; NULL: one of its own. */
};

struct lx_writer {
    pthread_mutex_t mutex; /**< For all of it. The timer only tries to take it. */
    pthread_cond_t turn;   /**< A call, or a commit, that had given the mutex back is over. */
    bool calling;          /**< A call waits in its midst: none may add an operation, or commit. */
    bool committing;       /**< A commit syncs, without the mutex. Stages may be filled and placed,
                                but none is taken back. */
    lx_durability durability;
    int level;
    lx_executor *executor; /**< Referenced. */
    bool own_executor;

    lx__file directory, chunk_directory, lock;
    bool lock_linked; /**< Links of LOCK are counted here, so it can be seen that there is none. */
    bool has_heirs;   /**< It is in the list of atfork.c, */
    lx_writer *next_with_lock; /**< before this one. */
    lx__meta meta;
    lx__entry_rules *rules; /**< One a field. */
    lx__wal_writer wal;

    /* What is committed. */
    lx__state state;  /**< Without sets: rows and live have them. */
    lx__set_map live; /**< Sets of the log at indices below state.rows. Those at or above the
                           length count no more. */
    bool settled;     /**< The first barrier after the opening is done. */

    lx__applied applied; /**< What the next frame commits. */

    /* What was asked for. */
    uint64_t length;        /**< With all of it. */
    uint64_t pending_bytes; /**< Of payloads since the last frame. */
    bool transaction;
    lx__calls calls;
    lx__commit_requests requests;

    lx__write_ring ring;
    lx__placer placer;
    lx__rows rows; /**< Its first is never below state.rows. */
    lx__barrier barrier;

    /* What switches of generations leave. */
    lx__old_files old;     /**< Files that readers may have open. */
    uint64_t tables_since; /**< The generation with which the tables came; 0: not known. */
    uint64_t chunks_since; /**< The same of the oldest chunk. */
    uint64_t retry_at;     /**< Bytes of the log at which upkeep that failed is tried again. */
    lx_schema **schemas;   /**< Former ones: what was handed out stays. */
    size_t schema_count, schema_capacity;

    lx__sync_timer timer; /**< Of periodic durability. */
};

/** What holds where no options are given. */
extern const lx_writer_options lx__writer_defaults;

/* ---- handle.c */

/** Takes the mutex for a call that adds operations, or reads. In a child of fork() it fails
 * instead: whoever held the mutex in the parent does not give it back here. */
lx_status lx__writer_enter(lx_writer *writer, lx_error *error);

/** As lx__writer_enter(), when no commit is under way either. */
lx_status lx__writer_enter_alone(lx_writer *writer, lx_error *error);

/** Gives the mutex back. */
void lx__writer_leave(lx_writer *writer);

/** In a child of fork(): whether no thread of the parent was in the midst of anything. */
bool lx__writer_is_at_rest(lx_writer *writer);

/** Says that the dataset is sealed. */
lx_status lx__writer_fail_sealed(const lx_writer *writer, lx_error *error);

/** Fails if nothing more can be asked for: sealed, poisoned, or waiting for a rollback. */
lx_status lx__writer_usable(lx_writer *writer, lx_error *error);

/** Looks, before anything is written, whether LOCK still has a name: whoever removes it lets another
 * writer in, and what both write is lost. Where it has none, the writer ends. */
lx_status lx__writer_check_lock(lx_writer *writer, lx_error *error);

/* ---- atfork.c */

/** From here on, a child of fork() closes its descriptor of this writer's LOCK. */
void lx__heirs_begin(lx_writer *writer);

/** Ends that, before the writer closes it; nothing if it has not begun. */
void lx__heirs_end(lx_writer *writer);

/* ---- recover.c */

/** Reads meta.json and LOG, removes leftovers, writes back what was not synced, and cuts LOG. */
lx_status lx__writer_recover(lx_writer *writer, lx_error *error);

/* ---- apply.c */

/** Makes entries of the operations of a placed stage, behind all that was taken back so far. */
lx_status lx__writer_apply(lx_writer *writer, const lx__stage *stage, lx_error *error);

/* ---- reap.c */

/** Waits for the oldest stage and takes back what it has. A failure is noted. */
lx_status lx__writer_collect_oldest(lx_writer *writer, lx_error *error);

/** Gives the stage that is being filled, if there is one, to the placer. */
lx_status lx__writer_submit_stage(lx_writer *writer, lx_error *error);

/** Takes back what calls up to @p target asked for, all of it or, where it cannot be placed,
 * nothing. A failure is noted. Then nothing is being placed. */
lx_status lx__writer_collect(lx_writer *writer, uint64_t target, lx_error *error);

/** Forgets all that was asked for since the last frame. */
lx_status lx__writer_forget(lx_writer *writer, lx_error *error);

/* ---- commit.c */

/** What a commit is to be. */
enum {
    LX__COMMIT_SYNCED = 1, /**< Durable, whatever the writer's durability. */
    LX__COMMIT_ROWS = 2,   /**< With all rows in the tables. */
    LX__COMMIT_ALONE = 4,  /**< Without giving the mutex back. */
    LX__COMMIT_REPEAT = 8, /**< Nothing new: a synced frame that repeats the last one. */
    LX__COMMIT_SUBMITTED = 16 /**< Nothing behind what was submitted, which a rollback undoes. Else
                                   all that was asked for since is taken along. */
};

/**
 * Writes a frame with what calls up to @p target asked for, if there is anything. Failures are
 * noted. The mutex is given back during syncs, unless alone: writer.committing is the caller's.
 */
lx_status lx__writer_put_frame(lx_writer *writer, uint64_t target, unsigned how, lx_error *error);

/**
 * Writes a frame that repeats the last one, at the end of a writer that has synced all: if the
 * frame before it rots, that is told, and not taken for a torn end (8.9). It names nothing that is
 * not durable, so it is not synced, and one that is lost or cannot be written is no failure. But
 * nothing may follow it by this writer: it would not be synced before that.
 */
void lx__writer_put_last(lx_writer *writer);

/* ---- group-commit.c */

/** Has everything up to call @p target committed, by this thread or by another that does so now.
 * The mutex may be given back meanwhile. */
lx_status lx__writer_commit(lx_writer *writer, uint64_t target, unsigned how, lx_error *error);

/** Commits by the timer of periodic durability. */
bool lx__writer_sync_by_timer(lx__sync_timer *timer);

/** Starts the timer of periodic durability if frames are not synced. */
void lx__writer_start_timer(lx_writer *writer);

/** Syncs if the timer found the writer busy when the time had come. The mutex, which is held, may
 * be given back meanwhile. */
lx_status lx__writer_sync_due(lx_writer *writer, lx_error *error);

/** Has what was submitted to be committed committed now, before something else is undone or added;
 * alone. */
lx_status lx__writer_commit_submitted(lx_writer *writer, lx_error *error);

/* ---- value.c */

/** Whether @p value may be one of field @p field. */
lx_status lx__value_check(const lx_writer *writer, size_t field, const lx_value *value,
                          lx_error *error);

/** Whether @p column may hold @p count values of field @p field. */
lx_status lx__column_check(const lx_writer *writer, size_t field, const lx_values *column,
                           uint64_t count, lx_error *error);

/** The value of record @p i in a column that was checked; missing ones have the size LX_NONE. */
lx_value lx__column_value(const lx_writer *writer, size_t field, const lx_values *column,
                          uint64_t i);

/* ---- add.c */

/**
 * Adds an operation to the stage being filled. It may wait for a commit.
 * @param fields  The values' fields by position; NULL: all of them in order.
 * @param values  As many as the operation says, checked.
 */
lx_status lx__writer_add(lx_writer *writer, const lx__operation *operation, const size_t *fields,
                         const lx_value *values, lx_error *error);

/** A value to be written, perhaps as another dataset has stored it. */
typedef struct lx__stored {
    const void *data;
    uint64_t size;    /**< Of what is at data; LX_NONE: it is missing. */
    uint32_t logical; /**< If as_stored: of the value, over LX__INLINE_MAX. */
    bool as_stored;   /**< What shall be compressed is. */
} lx__stored;

/** As lx__writer_add(), with a value for every field in order. */
lx_status lx__writer_add_stored(lx_writer *writer, const lx__operation *operation,
                                const lx__stored *values, lx_error *error);

/** What a call that added operations does at its end, with the status of that: counts it, notes
 * a failure, commits and syncs what is due. */
lx_status lx__writer_end_call(lx_writer *writer, lx_status status, const lx_error *failure,
                              lx_error *error);

#endif
