/* SPDX-License-Identifier: MIT */
#include "loader/pipeline.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "executor/executor.h"
#include "loader/damaged-records.h"
#include "loader/missing-values.h"
#include "loader/sources/source-map.h"
#include "loader/sources/source.h"
#include "loader/varying-values.h"

/* Number of bytes worth handing to a thread: they take a few microseconds to copy. */
#define PART_BYTES ((uint64_t)64 << 10)
/* Large records of a part, unless a batch then has too few parts for each thread: many threads, or
 * records that take long to decode, would wait for the last part. */
#define PART_ROWS_MIN 8
#define PARTS_PER_READER 4
/* The caller can fill a smaller batch faster than it can wake a thread. */
#define CALLER_BYTES ((uint64_t)128 << 10)
/* Batches in flight per reader thread. */
#define DEPTH_PER_READER 4

/* ---- filling, on any thread */

static lx__job *job_of(lx__task *task)
{
    return (lx__job *)((char *)task - offsetof(lx__job, task));
}

/** Replaces a status that, returned by lx_loader_next(), would mean that the call has not consumed
 * a batch. */
static lx_status status_of_batch(lx_status status)
{
    bool is_of_loader = status == LX_ERR_TIMEOUT || status == LX_ERR_CANCELED ||
                        status == LX_ERR_FORKED;
    return is_of_loader ? LX_ERR_CALLBACK : status;
}

/** Parts start in order, and a started part always completes, so the number of the lowest failed
 * part does not depend on timing. */
static void record_failure(lx__job *job, size_t part, lx_status status, const lx_error *error)
{
    lx__task_stop(&job->task);
    pthread_mutex_lock(&job->pipeline->mutex);
    if (job->status == LX_OK || part < job->failed_part) {
        job->status = status_of_batch(status);
        job->failed_part = part;
        job->error = *error;
        job->error.status = job->status;
    }
    pthread_mutex_unlock(&job->pipeline->mutex);
}

/** Allocates or clears the damage marks of the job's batch. */
static lx_status prepare_marks(lx__job *job, lx_error *error)
{
    uint64_t rows = job->batch->batch_pool->layout.batch_rows;
    lx_status status = LX_OK;
    pthread_mutex_lock(&job->pipeline->mutex);
    if (job->damaged == NULL)
        job->damaged = lx__alloc_array((size_t)rows, 1);
    if (job->damaged == NULL) {
        status = lx__fail_memory(error, "a batch");
    } else if (!job->any_damaged) {
        memset(job->damaged, 0, (size_t)rows);
        job->any_damaged = true;
    }
    pthread_mutex_unlock(&job->pipeline->mutex);
    return status;
}

/** Fills records; applies the damage policy to those that are damaged. */
static lx_status fill(lx__job *job, uint64_t first, uint64_t rows, const lx_target *targets,
                      lx_error *error)
{
    lx_batch *batch = job->batch;
    lx_damage_policy policy = job->pipeline->damage;
    lx_samples samples = lx__batch_samples(batch, first, rows);
    lx_status status = lx_source_fill_samples(job->source, &samples, targets, error);
    if (status == LX_OK) /* if there is anything to fill, the batch is one part */
        status = lx__varying_fill(job->source, batch, NULL, error);
    if (status != LX_ERR_CORRUPT || policy == LX_DAMAGE_RAISE)
        return status;
    lx_error_clear(error);
    status = prepare_marks(job, error);
    if (status == LX_OK)
        status = lx__damaged_records_fill(job->source, batch, first, rows, targets, policy,
                                          job->damaged + first, error);
    if (status == LX_OK)
        status = lx__varying_fill(job->source, batch, job->damaged, error);
    return status;
}

/** Reads ahead, and traces that if there was anything to do. */
static void read_ahead(const lx__job *job, uint64_t started)
{
    uint64_t records = lx__read_ahead_step(job->pipeline->read_ahead, job->end);
    if (records != 0 && lx__tracer_is_on(&job->tracer))
        lx__tracer_add(&job->tracer, &(lx__span){.name = "read ahead",
                                                 .begin = started,
                                                 .end = lx__clock_now(),
                                                 .position = job->batch->position,
                                                 .records = records});
}

/** Accounts for the time in which a part was filled, of which maps took @p map_ns. */
static void count_fill(const lx__job *job, uint64_t rows, uint64_t started, uint64_t map_ns,
                       lx_status status)
{
    const lx_batch *batch = job->batch;
    const lx__layout *layout = &batch->batch_pool->layout;
    uint64_t now = lx__clock_now();
    atomic_fetch_add_explicit(&job->pipeline->fill_ns, now - started, memory_order_relaxed);
    if (map_ns != 0)
        atomic_fetch_add_explicit(&job->pipeline->map_ns, map_ns, memory_order_relaxed);
    if (lx__tracer_is_on(&job->tracer))
        lx__tracer_add(&job->tracer,
                       &(lx__span){.name = "read",
                                   .begin = started,
                                   .end = now,
                                   .position = batch->position,
                                   .records = rows,
                                   .bytes = rows * layout->record_bytes +
                                            (status == LX_OK ? lx__varying_bytes(batch) : 0)});
}

static void run(lx__task *task, size_t part)
{
    lx__job *job = job_of(task);
    lx_batch *batch = job->batch;
    const lx__layout *layout = &batch->batch_pool->layout;
    lx_target targets[16], *moved = targets;
    size_t columns = lx_source_get_column_count(layout->source);
    lx_error error = LX_ERROR_INIT;
    uint64_t started = lx__clock_now(), mapped = lx__map_ns(), first = part * job->part_rows;
    uint64_t rows = batch->rows - first < job->part_rows ? batch->rows - first : job->part_rows;
    lx_status status = LX_OK;
    const atomic_bool *former = lx__interrupt_by(&job->pipeline->unwanted);

    read_ahead(job, started);
    if (columns > sizeof targets / sizeof *targets)
        moved = lx__alloc_array(columns, sizeof *moved);
    if (moved == NULL)
        status = lx__fail_memory(&error, "a batch");
    for (size_t i = 0; status == LX_OK && i < columns; i++) {
        moved[i] = batch->targets[i];
        if (moved[i].data != NULL)
            moved[i].data = (uint8_t *)moved[i].data + first * moved[i].stride;
    }
    if (status == LX_OK)
        status = fill(job, first, rows, moved, &error);
    if (moved != targets)
        lx__free(moved);
    (void)lx__interrupt_by(former);
    if (status != LX_OK)
        record_failure(job, part, status, &error);
    count_fill(job, rows, started, lx__map_ns() - mapped, status);
}

lx_status lx__pipeline_transform(lx__pipeline *pipeline, const lx__tracer *tracer, lx_batch *batch,
                                 lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    uint64_t started = lx__clock_now();
    if (pipeline->transform == NULL)
        return LX_OK;
    lx_status status = pipeline->transform(batch, pipeline->transform_user, &why);
    uint64_t now = lx__clock_now();
    atomic_fetch_add_explicit(&pipeline->transform_ns, now - started, memory_order_relaxed);
    lx__tracer_add(tracer, &(lx__span){.name = "transform",
                                       .begin = started,
                                       .end = now,
                                       .position = batch->position,
                                       .records = batch->rows});
    status = lx__error_return(&why, status, "transform");
    if (status == LX_OK)
        return LX_OK;
    why.status = status_of_batch(status);
    lx__error_propagate(error, &why);
    return why.status;
}

/** Drops the snapshot that the parts have read. Clears the pointer first, so that a child forked in
 * between does not drop the snapshot again. */
static void release_job(lx__job *job)
{
    lx_source *source = job->source;
    job->source = NULL;
    lx_source_unref(source);
}

/** Leaves out damaged records, or counts them. If none is left, the consumer adds one. */
static void finish_damaged(lx__job *job)
{
    lx__pipeline *pipeline = job->pipeline;
    lx_error error = LX_ERROR_INIT;
    uint64_t rows = job->batch->rows;
    lx__damaged_records_finish(job->batch, pipeline->damage, job->damaged);
    if (!pipeline->fills || job->batch->rows == 0)
        return;
    const atomic_bool *former = lx__interrupt_by(&pipeline->unwanted);
    lx_status status = lx__damaged_records_replace(job->source, job->batch, rows, &error);
    (void)lx__interrupt_by(former);
    if (status != LX_OK)
        record_failure(job, 0, status, &error);
}

static void apply_missing(lx__job *job)
{
    lx_error error = LX_ERROR_INIT;
    lx_status status = lx__missing_apply(job->source, job->batch, &error);
    if (status != LX_OK)
        record_failure(job, 0, status, &error);
}

/** Runs after the last part, after a failure, or after cancellation. */
static void finish(lx__task *task, bool canceled)
{
    lx__job *job = job_of(task);
    lx__pipeline *pipeline = job->pipeline;
    if (canceled && job->status == LX_OK) {
        lx_error error = LX_ERROR_INIT;
        lx_fail(&error, LX_ERR_STATE,
                "the executor was closed before the batch was filled: "
                "close the loader first");
        record_failure(job, 0, LX_ERR_STATE, &error);
    }
    if (job->status == LX_OK && job->any_damaged)
        finish_damaged(job);
    if (job->status == LX_OK)
        apply_missing(job);
    release_job(job);
    /* If no record is left, the consumer adds a repeated one and then runs the transform. */
    if (job->status == LX_OK && job->batch->rows != 0) {
        lx_error error = LX_ERROR_INIT;
        lx_status status = lx__pipeline_transform(pipeline, &job->tracer, job->batch, &error);
        if (status != LX_OK)
            record_failure(job, 0, status, &error);
    }
    pthread_mutex_lock(&pipeline->mutex);
    job->done = true;
    pthread_cond_broadcast(&pipeline->changed);
    pthread_mutex_unlock(&pipeline->mutex);
}

/* ---- scheduling, on the consumer's thread */

static uint64_t part_rows(const lx__layout *layout, uint32_t readers)
{
    if (layout->varying) /* the place of a value depends on the sizes of all earlier ones */
        return layout->batch_rows;
    uint64_t bytes = layout->record_bytes != 0 ? layout->record_bytes : 1;
    uint64_t rows = PART_BYTES / bytes;
    uint64_t share = layout->batch_rows / ((uint64_t)readers * PARTS_PER_READER + 1);
    uint64_t least = share < PART_ROWS_MIN ? share : PART_ROWS_MIN;
    if (rows < least)
        rows = least;
    return rows != 0 ? rows : 1;
}

static size_t depth_for(uint64_t prefetch_bytes, uint64_t batch_bytes, uint32_t readers)
{
    uint64_t depth = prefetch_bytes / (batch_bytes != 0 ? batch_bytes : 1);
    uint64_t most = (uint64_t)readers * DEPTH_PER_READER;
    if (most > LX__DEPTH_MAX)
        most = LX__DEPTH_MAX;
    if (depth > most)
        depth = most;
    return depth != 0 ? (size_t)depth : 1;
}

lx_status lx__pipeline_open(lx__pipeline *pipeline, lx_executor *executor, const lx__layout *layout,
                            uint64_t prefetch_bytes, lx_transform_function transform, void *user,
                            lx_error *error)
{
    uint32_t readers = lx_executor_get_reader_count(executor);
    pthread_mutex_init(&pipeline->mutex, NULL);
    lx__clock_condition(&pipeline->changed);
    pipeline->executor = lx_executor_ref(executor);
    pipeline->source = layout->source;
    pipeline->transform = transform;
    pipeline->transform_user = user;
    pipeline->remote = lx__source_is_remote(layout->source, NULL);
    pipeline->on_caller = readers == 0 || (transform == NULL && !layout->varying &&
                                           !pipeline->remote && layout->bytes < CALLER_BYTES);
    pipeline->part_rows = part_rows(layout, readers);
    pipeline->prefetch_bytes = prefetch_bytes;
    pipeline->depth = pipeline->on_caller ? 1 : depth_for(prefetch_bytes, layout->bytes, readers);
    pipeline->jobs = lx__alloc_array(pipeline->depth, sizeof *pipeline->jobs);
    return pipeline->jobs != NULL ? LX_OK : lx__fail_memory(error, "a loader");
}

static lx__job *oldest(const lx__pipeline *pipeline)
{
    return &pipeline->jobs[pipeline->first];
}

static void remove_oldest(lx__pipeline *pipeline)
{
    lx__tracer_set(&oldest(pipeline)->tracer, NULL);
    pipeline->first = (pipeline->first + 1) % pipeline->depth;
    pipeline->count--;
}

lx_status lx__pipeline_add(lx__pipeline *pipeline, lx_batch *batch, uint64_t end, lx_error *error)
{
    lx__job *job = &pipeline->jobs[(pipeline->first + pipeline->count) % pipeline->depth];
    uint64_t rows = pipeline->part_rows;
    size_t parts = (size_t)((batch->rows + rows - 1) / rows);
    job->pipeline = pipeline;
    job->batch = batch;
    job->end = end;
    job->part_rows = rows;
    job->tracer = lx__tracer_copy(&pipeline->tracer);
    job->status = LX_OK;
    job->any_damaged = false;
    job->done = false;
    lx__task_init(&job->task, run, finish, parts);
    lx_status status = lx__source_pin(pipeline->source, &job->source, error);
    if (status == LX_OK && !pipeline->on_caller) {
        status = lx__executor_submit(pipeline->executor, LX_QUEUE_READ, &job->task, error);
        if (status != LX_OK)
            lx_source_unref(job->source);
    }
    if (status == LX_OK) {
        pipeline->count++;
    } else {
        lx__tracer_set(&job->tracer, NULL);
        lx_batch_unref(batch);
    }
    return status;
}

/** Waits until the job is done, the deadline passes, or the pipeline is canceled. */
static lx_status wait_for(lx__pipeline *pipeline, const lx__job *job, uint64_t deadline,
                          bool heed_cancel)
{
    bool in_time = true;
    pthread_mutex_lock(&pipeline->mutex);
    while (!job->done && in_time && !(heed_cancel && pipeline->canceled))
        in_time = lx__clock_wait(&pipeline->changed, &pipeline->mutex, deadline);
    lx_status status = heed_cancel && pipeline->canceled ? LX_ERR_CANCELED
                       : job->done                       ? LX_OK
                                                         : LX_ERR_TIMEOUT;
    pthread_mutex_unlock(&pipeline->mutex);
    return status;
}

void lx__pipeline_trace(lx__pipeline *pipeline)
{
    size_t ready = 0;
    if (pipeline->tracer.trace == NULL)
        return;
    pthread_mutex_lock(&pipeline->mutex);
    for (size_t i = 0; i < pipeline->count; i++)
        ready += pipeline->jobs[(pipeline->first + i) % pipeline->depth].done;
    pthread_mutex_unlock(&pipeline->mutex);
    lx__tracer_count(&pipeline->tracer, ready, pipeline->count - ready);
}

static lx_status fail_canceled(lx_error *error)
{
    return lx_fail(error, LX_ERR_CANCELED, "the loader was canceled");
}

lx_status lx__pipeline_check(lx__pipeline *pipeline, lx_error *error)
{
    pthread_mutex_lock(&pipeline->mutex);
    bool canceled = pipeline->canceled;
    pthread_mutex_unlock(&pipeline->mutex);
    return canceled ? fail_canceled(error) : LX_OK;
}

lx_status lx__pipeline_take(lx__pipeline *pipeline, uint64_t deadline, lx_batch **batch,
                            uint64_t *end, lx_error *error)
{
    lx__job *job = oldest(pipeline);
    if (pipeline->on_caller) {
        /* Runs the same parts as threads would, so that the same failure is reported. */
        for (size_t part = 0; part < job->task.parts && job->status == LX_OK; part++)
            run(&job->task, part);
        finish(&job->task, false);
    } else if (!pipeline->remote) { /* a read that waits for a network would overrun the deadline */
        lx__executor_help_until(pipeline->executor, &job->task, deadline);
    }
    lx_status status = wait_for(pipeline, job, deadline, true);
    if (status == LX_ERR_CANCELED)
        return fail_canceled(error);
    if (status != LX_OK)
        return status;
    *end = job->end;
    status = job->status;
    if (status == LX_OK) {
        *batch = job->batch;
    } else {
        lx_batch_unref(job->batch);
        lx__error_propagate(error, &job->error);
    }
    remove_oldest(pipeline);
    return status;
}

/** Drops all jobs, or those that are done when wait_for() fails. */
static lx_status drop(lx__pipeline *pipeline, uint64_t deadline, bool heed_cancel)
{
    /* In a child of fork(), no thread works on the jobs, and the mutex is unusable. */
    bool here = lx__executor_check(pipeline->executor, NULL) == LX_OK;
    bool threads = here && !pipeline->on_caller;
    atomic_store(&pipeline->unwanted, true);
    for (size_t i = 0; threads && i < pipeline->count; i++)
        lx__executor_cancel(pipeline->executor,
                            &pipeline->jobs[(pipeline->first + i) % pipeline->depth].task);
    while (pipeline->count != 0) {
        lx__job *job = oldest(pipeline);
        lx_status status = threads ? wait_for(pipeline, job, deadline, heed_cancel) : LX_OK;
        if (status != LX_OK)
            return status;
        release_job(job); /* if the job did not start, or its thread is gone in the child */
        lx_batch_unref(job->batch);
        remove_oldest(pipeline);
    }
    if (here)
        pthread_mutex_lock(&pipeline->mutex);
    atomic_store(&pipeline->unwanted, pipeline->canceled);
    if (here)
        pthread_mutex_unlock(&pipeline->mutex);
    return LX_OK;
}

void lx__pipeline_drop(lx__pipeline *pipeline)
{
    (void)drop(pipeline, LX__NEVER, false);
}

lx_status lx__pipeline_drop_by(lx__pipeline *pipeline, uint64_t deadline, lx_error *error)
{
    lx_status status = drop(pipeline, deadline, true);
    return status == LX_ERR_CANCELED ? fail_canceled(error) : status;
}

void lx__pipeline_cancel(lx__pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->mutex);
    pipeline->canceled = true;
    atomic_store(&pipeline->unwanted, true);
    pthread_cond_broadcast(&pipeline->changed);
    pthread_mutex_unlock(&pipeline->mutex);
}

void lx__pipeline_close(lx__pipeline *pipeline)
{
    bool here = lx__executor_check(pipeline->executor, NULL) == LX_OK;
    lx__pipeline_drop(pipeline);
    for (size_t i = 0; pipeline->jobs != NULL && i < pipeline->depth; i++)
        lx__free(pipeline->jobs[i].damaged);
    lx__free(pipeline->jobs);
    lx__tracer_set(&pipeline->tracer, NULL);
    lx_executor_unref(pipeline->executor);
    if (here) { /* in a child of fork(), destroying them would wait for the parent's waiters */
        pthread_cond_destroy(&pipeline->changed);
        pthread_mutex_destroy(&pipeline->mutex);
    }
}
