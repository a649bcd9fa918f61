/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Gives payloads their place: compresses the values of stages and appends them to chunks.
 *
 * Stages are placed one after another, in the order in which they were given, by a thread of the
 * executor's write queue, or by the caller where it would wait anyway. The first failure ends it:
 * all stages behind it are left unplaced until lx__placer_reset().
 */
#ifndef LX_ZRECORD_PLACER_H
#define LX_ZRECORD_PLACER_H

#include <pthread.h>

#include "executor/task.h"
#include "zrecord/chunk-file.h"
#include "zrecord/codec.h"
#include "zrecord/stage.h"

/** Memory that grows. */
typedef struct lx__buffer {
    uint8_t *data;
    size_t used;
    size_t capacity;
} lx__buffer;

typedef struct lx__placer {
    /* Set at the start. */
    lx_executor *executor;
    const lx__entry_rules *rules;
    size_t fields;
    int level;
    bool compresses; /**< Some field is compressed. */

    pthread_mutex_t mutex; /**< For the queue, and for the stages' placed. */
    pthread_cond_t changed;
    lx__stage *head, *tail;
    bool running; /**< The task is with the executor. */
    unsigned starts; /**< How often it was given to it. */
    bool failed;
    lx_error failure;

    /* Of the thread that places; of the caller's while nothing is running. */
    lx__task task;
    lx__chunk_files chunks;
    lx__deflater *deflater;
    lx__buffer output; /**< Payloads not yet written, the end of the last chunk. */
    lx__buffer packed; /**< A value compressed. */
} lx__placer;

/** Prepares a zeroed placer, so that it can be closed. */
void lx__placer_init(lx__placer *placer, int level);

/** Makes it ready to place; its chunks are set by the caller. @p rules, one a field, are kept. */
void lx__placer_start(lx__placer *placer, lx_executor *executor, const lx__entry_rules *rules,
                      size_t fields);

void lx__placer_close(lx__placer *placer);

/** Gives a stage to the write queue. After a failure it stays unplaced: waiting for it says why. */
lx_status lx__placer_submit(lx__placer *placer, lx__stage *stage, lx_error *error);

/** Places a stage on this thread; nothing may be running or waiting. */
lx_status lx__placer_place(lx__placer *placer, lx__stage *stage, lx_error *error);

/** Waits until @p stage is placed, or cannot be: then that failure is returned. */
lx_status lx__placer_wait(lx__placer *placer, const lx__stage *stage, lx_error *error);

/** Waits until nothing is running, whatever failed. */
void lx__placer_drain(lx__placer *placer);

/** Whether nothing is running or waiting. */
bool lx__placer_idle(lx__placer *placer);

/** Forgets a failure; drained before. */
void lx__placer_reset(lx__placer *placer);

#endif
