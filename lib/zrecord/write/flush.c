/* SPDX-License-Identifier: MIT */
#include "zrecord/write/flush.h"

#include <stddef.h>

#include "base/error.h"
#include "executor/executor.h"

/* ---- with the mutex held */

static void note_change(lx__placer *placer)
{
    placer->changes++;
    pthread_cond_broadcast(&placer->changed);
}

static bool is_running(const lx__placer *placer)
{
    for (size_t i = 0; i < placer->lane_count; i++)
        if (placer->lanes[i].running)
            return true;
    return false;
}

/** What no lane has taken is not placed. */
static void drop_queue(lx__placer *placer)
{
    placer->head = placer->tail = NULL;
}

static void fail(lx__placer *placer, const lx_error *failure)
{
    if (!placer->failed)
        placer->failure = *failure;
    placer->failed = true;
    drop_queue(placer);
}

static void put_stage(lx__placer *placer, lx__stage *stage)
{
    stage->next = NULL;
    if (placer->tail != NULL)
        placer->tail->next = stage;
    else
        placer->head = stage;
    placer->tail = stage;
}

/** Has a lane that rests begin, if there is a stage for it. Lower numbers first, so that a few
 * small ones go to one chunk. Its task is with the executor before the mutex is given back: who
 * waits for a lane that runs must be able to help it. */
static lx_status wake_lane(lx__placer *placer, lx_error *error)
{
    size_t i = 0;
    lx_error why = LX_ERROR_INIT;
    while (i < placer->lane_count && placer->lanes[i].running)
        i++;
    if (placer->head == NULL || i == placer->lane_count)
        return LX_OK;
    placer->lanes[i].running = true;
    if (lx__executor_submit(placer->executor, LX_QUEUE_WRITE, &placer->lanes[i].task, &why) ==
        LX_OK)
        return LX_OK;
    placer->lanes[i].running = false;
    if (is_running(placer))
        return LX_OK; /* another lane takes what waits */
    fail(placer, &why);
    note_change(placer);
    lx__error_pass(error, &why);
    return why.status;
}

/* ---- lanes */

static lx__placer_lane *lane_of(lx__task *task)
{
    return (lx__placer_lane *)((char *)task - offsetof(lx__placer_lane, task));
}

static lx__stage *take_stage(lx__placer *placer)
{
    pthread_mutex_lock(&placer->mutex);
    lx__stage *stage = placer->head;
    if (stage != NULL) {
        placer->head = stage->next;
        stage->fate = LX__STAGE_TAKEN;
    }
    if (placer->head == NULL)
        placer->tail = NULL;
    pthread_mutex_unlock(&placer->mutex);
    return stage;
}

/** Places a stage and notes its fate; the first failure is kept. */
static lx_status place(lx__placer *placer, lx__lane *lane, lx__stage *stage, lx_error *failure)
{
    lx_status status = lx__lane_place(lane, stage, failure);
    pthread_mutex_lock(&placer->mutex);
    stage->fate = status == LX_OK ? LX__STAGE_PLACED : LX__STAGE_FAILED;
    if (status != LX_OK)
        fail(placer, failure);
    note_change(placer);
    pthread_mutex_unlock(&placer->mutex);
    return status;
}

static void run(lx__task *task, size_t part)
{
    (void)part;
    lx__placer_lane *lane = lane_of(task);
    lx__stage *stage;
    while ((stage = take_stage(lane->placer)) != NULL) {
        lx_error failure = LX_ERROR_INIT;
        (void)place(lane->placer, &lane->lane, stage, &failure);
    }
}

/** The task is the lane's again. A stage may have come after run() looked last. */
static void finish(lx__task *task, bool canceled)
{
    lx__placer_lane *lane = lane_of(task);
    lx__placer *placer = lane->placer;
    lx_error why = LX_ERROR_INIT;
    pthread_mutex_lock(&placer->mutex);
    lane->running = false;
    if (canceled) {
        lx__fail(&why, LX_ERR_STATE, "the executor was closed before all was written");
        fail(placer, &why);
    }
    (void)wake_lane(placer, NULL);
    note_change(placer);
    pthread_mutex_unlock(&placer->mutex);
}

/* ---- stages */

lx_status lx__placer_submit(lx__placer *placer, lx__stage *stage, lx_error *error)
{
    lx_status status = LX_OK;
    pthread_mutex_lock(&placer->mutex);
    /* After a failure it is left out of the queue; lx__placer_wait() tells of that. */
    if (!placer->failed) {
        put_stage(placer, stage);
        status = wake_lane(placer, error);
    }
    pthread_mutex_unlock(&placer->mutex);
    return status;
}

lx_status lx__placer_place(lx__placer *placer, lx__stage *stage, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx_status status = place(placer, &placer->lanes[0].lane, stage, &failure);
    if (status != LX_OK)
        lx__error_pass(error, &failure);
    return status;
}

/** Waits for a change; the mutex is held before and after. Tasks that have not begun are run here:
 * the threads of the queue may all be in tasks that wait for these, or for the caller. */
static void wait_for_change(lx__placer *placer)
{
    uint64_t changes = placer->changes;
    for (size_t i = 0; i < placer->lane_count; i++) {
        if (!placer->lanes[i].running)
            continue;
        pthread_mutex_unlock(&placer->mutex);
        lx__executor_help(placer->executor, &placer->lanes[i].task);
        pthread_mutex_lock(&placer->mutex);
    }
    if (placer->changes == changes)
        pthread_cond_wait(&placer->changed, &placer->mutex);
}

/** Whether a stage will be placed, if it is not yet. */
static bool is_coming(const lx__placer *placer, const lx__stage *stage)
{
    return stage->fate == LX__STAGE_TAKEN || (stage->fate == LX__STAGE_WAITS && !placer->failed);
}

lx_status lx__placer_wait(lx__placer *placer, const lx__stage *stage, lx_error *error)
{
    lx_status status = LX_OK;
    pthread_mutex_lock(&placer->mutex);
    while (is_coming(placer, stage))
        wait_for_change(placer);
    if (stage->fate != LX__STAGE_PLACED) {
        status = placer->failure.status;
        lx__error_pass(error, &placer->failure);
    }
    pthread_mutex_unlock(&placer->mutex);
    return status;
}

void lx__placer_drain(lx__placer *placer)
{
    pthread_mutex_lock(&placer->mutex);
    while (is_running(placer))
        wait_for_change(placer);
    pthread_mutex_unlock(&placer->mutex);
}

bool lx__placer_idle(lx__placer *placer)
{
    pthread_mutex_lock(&placer->mutex);
    bool idle = !is_running(placer) && placer->head == NULL;
    pthread_mutex_unlock(&placer->mutex);
    return idle;
}

lx_status lx__placer_reset(lx__placer *placer, lx_error *error)
{
    lx_status status = LX_OK;
    placer->failed = false;
    placer->failure = (lx_error)LX_ERROR_INIT;
    for (size_t i = 0; i < placer->lane_count; i++) {
        lx_status undone = lx__chunk_files_rollback(&placer->lanes[i].lane.chunks, error);
        status = status != LX_OK ? status : undone;
    }
    return status;
}

/* ---- beginning and end */

void lx__placer_init(lx__placer *placer)
{
    placer->failure = (lx_error)LX_ERROR_INIT;
    lx__chunk_pool_init(&placer->pool);
    pthread_mutex_init(&placer->mutex, NULL);
    pthread_cond_init(&placer->changed, NULL);
    for (size_t i = 0; i < LX_MAX_WRITERS; i++) {
        placer->lanes[i].placer = placer;
        placer->lanes[i].lane.chunks.pool = &placer->pool;
        lx__task_init(&placer->lanes[i].task, run, finish, 1);
    }
}

void lx__placer_start(lx__placer *placer, lx_executor *executor, const lx__entry_rules *rules,
                      size_t fields, int level)
{
    bool compresses = false;
    for (size_t i = 0; i < fields; i++)
        compresses = compresses || (rules[i].codec != NULL && rules[i].codec->deflate != NULL);
    placer->executor = executor;
    placer->lane_count = lx_executor_get_writer_count(executor);
    for (size_t i = 0; i < placer->lane_count; i++) {
        placer->lanes[i].lane.rules = rules;
        placer->lanes[i].lane.level = level;
        placer->lanes[i].lane.compresses = compresses;
    }
}

void lx__placer_close(lx__placer *placer)
{
    for (size_t i = 0; i < LX_MAX_WRITERS; i++)
        lx__lane_close(&placer->lanes[i].lane);
    lx__chunk_pool_free(&placer->pool);
    pthread_cond_destroy(&placer->changed);
    pthread_mutex_destroy(&placer->mutex);
}
