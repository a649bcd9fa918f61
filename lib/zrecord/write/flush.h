/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Has stages placed by the lanes of a writer, several at a time.
 *
 * A lane is a task of the executor's write queue; there are as many as the executor may have
 * writers. Lanes take stages in the order in which they were given. A stage is placed by one lane,
 * or by the caller where he would wait anyway. The first failure ends it: stages that no lane has
 * taken are left unplaced until lx__placer_reset().
 */
#ifndef LX_ZRECORD_FLUSH_H
#define LX_ZRECORD_FLUSH_H

#include <pthread.h>

#include "executor/task.h"
#include "zrecord/write/flush-task.h"

/** A lane and its thread. */
typedef struct lx__placer_lane {
    lx__lane lane; /**< Of the thread that places; of the caller's while nothing is running. */
    lx__task task;
    struct lx__placer *placer;
    bool running; /**< The task is with the executor. Under the placer's mutex. */
} lx__placer_lane;

typedef struct lx__placer {
    lx_executor *executor;
    lx__chunk_pool pool;
    lx__placer_lane lanes[LX_MAX_WRITERS];
    size_t lane_count; /**< 0 until it is started. */

    pthread_mutex_t mutex;  /**< For all below, and for the fate of stages. */
    pthread_cond_t changed; /**< Something of it has. */
    uint64_t changes;       /**< How often. */
    lx__stage *head, *tail; /**< Stages that no lane has taken. */
    bool failed;
    lx_error failure;
} lx__placer;

/** Prepares a zeroed placer, so that it can be closed. */
void lx__placer_init(lx__placer *placer);

/**
 * Makes it ready to place.
 * @param rules   One a field, kept; may be changed by calling again while nothing is running.
 * @param fields  How many.
 * @param level   Of flate.
 */
void lx__placer_start(lx__placer *placer, lx_executor *executor, const lx__entry_rules *rules,
                      size_t fields, int level);

void lx__placer_close(lx__placer *placer);

/** Gives a stage to the write queue. After a failure it stays unplaced: waiting for it says why. */
lx_status lx__placer_submit(lx__placer *placer, lx__stage *stage, lx_error *error);

/** Places a stage on this thread; nothing may be running or waiting. */
lx_status lx__placer_place(lx__placer *placer, lx__stage *stage, lx_error *error);

/** Waits until @p stage is placed, or cannot be: then the first failure is returned. */
lx_status lx__placer_wait(lx__placer *placer, const lx__stage *stage, lx_error *error);

/** Waits until nothing is running, whatever failed. */
void lx__placer_drain(lx__placer *placer);

/** Whether nothing is running or waiting. */
bool lx__placer_idle(lx__placer *placer);

/** Forgets a failure, and brings the chunks of all lanes back to what is committed; drained
 * before. */
lx_status lx__placer_reset(lx__placer *placer, lx_error *error);

#endif
