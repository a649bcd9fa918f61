/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A dataset open for writing, and the parts of its work.
 *
 * A record's way: append.c copies it into a stage; the placer puts it into a chunk; stages.c takes
 * its rows; commit.c makes rows visible and durable, by frames of the log.
 *
 * The parts, each of which calls only those before it: handle.c, recover.c, stages.c, commit.c,
 * clock.c, then the public append.c, transaction.c, seal.c and writer.c.
 *
 * Lock order: writer.mutex, then placer.mutex. The executor's locks come after both.
 */
#ifndef LX_ZRECORD_WRITER_H
#define LX_ZRECORD_WRITER_H

#include <sys/types.h>

#include "zrecord/placer.h"
#include "zrecord/rows.h"
#include "zrecord/state.h"

/* Stages of one writer: one being filled, one being placed, two in between. */
#define LX__STAGES 4
/* Payload bytes after which periodic durability writes a frame by itself. */
#define LX__AUTO_COMMIT_BYTES (256ull << 20)
/* Between two synced frames under periodic durability, in nanoseconds. */
#define LX__SYNC_INTERVAL 1000000000ull
/* Between two looks while a writer is too busy for that. */
#define LX__SYNC_RETRY 10000000ull

struct lx_writer_options {
    lx_durability durability;
    uint64_t chunk_records;
    uint64_t chunk_bytes;
    int level;
    lx_executor *executor; /**< Referenced; NULL: one of its own. */
};

struct lx_writer {
    pthread_mutex_t mutex; /**< For all of it. The timer only tries to take it. */
    lx_durability durability;
    lx_executor *executor; /**< Referenced. */
    bool own_executor;

    lx__file directory, chunk_directory, lock, log;
    lx__meta meta;
    lx__entry_rules *rules; /**< One a field. */
    lx__log_identity identity;
    uint64_t boot;

    /* What is committed. */
    lx__state state; /**< Without sets: rows have them. */
    bool changes;    /**< Sets lie below rows, or rows beyond length: sealing needs a fold. */
    bool unsynced;   /**< Frames were written since the last synced one. */
    bool settled;    /**< The first barrier after the opening is done. */

    /* What is not. */
    uint64_t length;        /**< With records that are not committed. */
    uint64_t pending_bytes; /**< Of payloads since the last frame. */
    bool transaction;
    lx_error failure; /**< Of something appended: until rolled back, or for good if poisoned. */

    lx__stage *stages[LX__STAGES]; /**< A ring. */
    size_t oldest;                 /**< The first of those in use. */
    size_t in_use;                 /**< Including the one being filled, which is the last. */
    bool filling;                  /**< The last one in use is being filled. */
    lx__placer placer;
    lx__rows rows;
    lx__frame_builder frame;

    /* The clock of periodic durability. */
    lx__task timer;
    atomic_bool sync_due; /**< A second has passed, and the writer was busy. */
    pthread_mutex_t timer_mutex; /**< For the rest. A leaf. */
    pthread_cond_t timer_done;
    bool timer_running; /**< From its submission until its finish. */
    bool timer_wanted;  /**< A frame was written since it last set out to sync. */
    bool timer_retries; /**< It only looks again whether it can; its own. */
    bool closing;
};

/** What holds where no options are given. */
extern const lx_writer_options lx__writer_defaults;

/* ---- handle.c */

/** Takes the mutex for a call. In a child of fork() it fails instead: whoever held the mutex in the
 * parent does not give it back here. */
lx_status lx__writer_enter(lx_writer *writer, lx_error *error);

/** Gives the mutex back. */
void lx__writer_leave(lx_writer *writer);

/** Says that the dataset is sealed. */
lx_status lx__writer_fail_sealed(const lx_writer *writer, lx_error *error);

/** Fails if the writer cannot be used: sealed, poisoned, or waiting for a rollback. */
lx_status lx__writer_usable(lx_writer *writer, lx_error *error);

/** Notes a failure that only a rollback, or a new opening, ends. Returns its status. */
lx_status lx__writer_note(lx_writer *writer, lx_status status, const lx_error *failure,
                          lx_error *error);

/* ---- recover.c */

/** Reads meta.json and LOG, removes leftovers, writes back what was not synced, and cuts LOG. */
lx_status lx__writer_recover(lx_writer *writer, lx_error *error);

/* ---- stages.c */

/** The stage that is being filled, or another one, in @p stage. */
lx_status lx__writer_begin_stage(lx_writer *writer, lx__stage **stage, lx_error *error);

/** Gives the stage that is being filled to the placer. */
lx_status lx__writer_submit_stage(lx_writer *writer, lx_error *error);

/** Places everything appended, and takes its rows. */
lx_status lx__writer_collect_all(lx_writer *writer, lx_error *error);

/** Forgets all that was appended since the last frame. */
lx_status lx__writer_forget(lx_writer *writer, lx_error *error);

/* ---- commit.c; who commits starts the clock */

/** Commits what was appended, with a frame if there is anything; synced if durability says so, or
 * if @p synced. */
lx_status lx__writer_commit_locked(lx_writer *writer, bool synced, lx_error *error);

/** Moves every row to the tables in a synced frame, for sealing. */
lx_status lx__writer_commit_rows(lx_writer *writer, lx_error *error);

/** Writes a synced frame if frames are not synced; nothing is being placed. */
lx_status lx__writer_sync_frame(lx_writer *writer, lx_error *error);

/* ---- clock.c */

void lx__clock_init(lx_writer *writer);

/** Has a synced frame written within about a second, if durability asks for that. */
void lx__clock_start(lx_writer *writer);

/** Stops the clock and waits until it has; the writer's mutex must not be held. */
void lx__clock_stop(lx_writer *writer);

/** Does what is due, in a call that holds the mutex. */
lx_status lx__clock_catch_up(lx_writer *writer, lx_error *error);

#endif
