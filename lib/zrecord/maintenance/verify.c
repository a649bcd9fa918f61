/* SPDX-License-Identifier: MIT */
/* Each range of records, and then each file, is a job for the executor's readers. The caller's
 * thread schedules the jobs and reports their findings in record order. The caller's functions are
 * called only on that thread. */
#include "zrecord/maintenance/verify.h"

#include "base/alloc.h"
#include "base/error.h"
#include "executor/clock.h"
#include "executor/executor.h"
#include "zrecord/format/names.h"
#include "zrecord/maintenance/leftovers.h"
#include "zrecord/read/prefetch.h"
#include "zrecord/read/refresh.h"

/* Number of jobs in flight, in addition to two per reader; their values are prefetched. */
#define JOBS_MIN 8

typedef struct verification verification;

/** A job in flight. */
typedef struct part {
    lx__task task;
    verification *verification;
    lx__verify_job job;
    lx_status status;    /**< The result of its last run. */
    bool done, canceled; /**< Guarded by the verification's mutex. */
} part;

struct verification {
    lx__snapshot *snapshot;     /**< The snapshot from which to read values. */
    const lx__state *committed; /**< The state with which to compare files. */
    const lx__verify_watch *watch;
    bool sealed;
    lx_verify_result result;
    lx_error *error; /**< The caller's error, which receives the first finding. */
    lx__prefetch ahead;
    size_t next_file, file_count;
    lx_executor *executor; /**< If NULL, the caller's thread runs all jobs. */
    bool own_executor;
    part *parts; /**< A ring of @ref depth jobs. */
    size_t depth, first, count;
    pthread_mutex_t mutex; /**< Guards `done` and `canceled` of each part. */
    pthread_cond_t changed;
};

/* ---- on any thread */

static void run(lx__task *task, size_t number)
{
    part *p = (part *)task;
    (void)number; /* the task has only one part */
    p->status = lx__verify_run(&p->job);
}

static void finish(lx__task *task, bool canceled)
{
    part *p = (part *)task;
    verification *v = p->verification;
    pthread_mutex_lock(&v->mutex);
    p->canceled = canceled;
    p->done = true;
    pthread_cond_signal(&v->changed);
    pthread_mutex_unlock(&v->mutex);
}

/* ---- scheduling and reporting, on the caller's thread */

/** Submits a job; if no executor accepts it, runs it on this thread. */
static void submit(verification *v, part *p)
{
    p->done = p->canceled = false;
    if (v->executor == NULL ||
        lx__executor_submit(v->executor, LX_QUEUE_READ, &p->task, NULL) != LX_OK) {
        run(&p->task, 0);
        finish(&p->task, false);
    }
}

static void wait_for(verification *v, const part *p)
{
    pthread_mutex_lock(&v->mutex);
    while (!p->done)
        lx__clock_wait(&v->changed, &v->mutex, LX__NEVER);
    pthread_mutex_unlock(&v->mutex);
}

/** Adds the next job to the ring; returns false if no job is left. */
static bool schedule(verification *v)
{
    part *p = &v->parts[(v->first + v->count) % v->depth];
    uint64_t index, end;
    size_t file = LX__NO_FILE;
    if (!lx__prefetch_next(&v->ahead, &index, &end)) {
        if (v->next_file == v->file_count)
            return false;
        file = v->next_file++;
    }
    *p = (part){.verification = v,
                .job = {.checker = {.snapshot = v->snapshot},
                        .committed = v->committed,
                        .sealed = v->sealed,
                        .file = file,
                        .index = index,
                        .end = end,
                        .found = p->job.found}};
    lx__task_init(&p->task, run, finish, 1);
    v->count++;
    submit(v, p);
    return true;
}

static void add(lx_verify_result *sums, const lx_verify_result *more)
{
    sums->records += more->records;
    sums->values += more->values;
    sums->bytes += more->bytes;
}

/** Counts a finding. The caller's error receives the first one that is damage. */
static void count(verification *v, const lx__found *one)
{
    if (one->error.status == LX_ERR_MISMATCH) {
        v->result.not_images++;
        return;
    }
    if (v->error != NULL && v->error->status >= 0)
        *v->error = one->error;
    v->result.damages++;
}

/** Reports the findings of a job so far and, if a failure ended the job, also that failure. */
static lx_status report(verification *v, part *p)
{
    for (size_t i = 0; i < p->job.found_count; i++) {
        const lx__found *one = &p->job.found[i];
        count(v, one);
        lx_status status = v->watch->found != NULL ? v->watch->found(v->watch->user, one) : LX_OK;
        if (status != LX_OK) {
            add(&v->result, &one->sums);
            return lx__error_return(v->error, status, "damage");
        }
    }
    if (p->status != LX_OK) {
        add(&v->result, &p->job.sums);
        if (v->error != NULL)
            *v->error = p->job.failure; /* even after a finding: the call returns this status */
    }
    return p->status;
}

static lx_status report_progress(verification *v)
{
    const lx__verify_watch *watch = v->watch;
    uint64_t length = v->snapshot->state.length;
    return watch->progress != NULL
               ? lx__error_return(
                     v->error,
                     watch->progress(v->result.records, length, watch->progress_user, v->error),
                     "progress")
               : LX_OK;
}

/** Waits for the oldest job and reports its findings. The job stays in the ring until it is
 * complete. */
static lx_status take_oldest(verification *v)
{
    part *p = &v->parts[v->first];
    if (v->executor != NULL)
        lx__executor_help(v->executor, &p->task);
    wait_for(v, p);
    if (p->canceled) { /* the executor was closed */
        run(&p->task, 0);
        p->canceled = false;
    }
    lx_status status = report(v, p);
    if (status != LX_OK)
        return status;
    if (p->job.index < p->job.end) {
        submit(v, p);
        return LX_OK;
    }
    add(&v->result, &p->job.sums);
    v->first = (v->first + 1) % v->depth;
    v->count--;
    return p->job.file == LX__NO_FILE ? report_progress(v) : LX_OK;
}

/** Cancels all jobs that have not started, and waits for the others. */
static void drop(verification *v)
{
    for (size_t i = 0; v->executor != NULL && i < v->count; i++)
        lx__executor_cancel(v->executor, &v->parts[(v->first + i) % v->depth].task);
    for (size_t i = 0; i < v->count; i++)
        wait_for(v, &v->parts[(v->first + i) % v->depth]);
}

static lx_status check_all(verification *v)
{
    lx_status status = v->snapshot->state.length == 0 ? report_progress(v) : LX_OK;
    while (status == LX_OK) {
        while (v->count < v->depth && schedule(v))
            continue;
        if (v->count == 0)
            break;
        status = take_oldest(v);
    }
    drop(v);
    return status;
}

/* ---- chunks whose size is wrong */

/** Sets the bytes of @p item to the size of its file if that is too small or, in a sealed dataset,
 * too large; returns whether it did. If the file is missing, each of its values is reported as
 * damaged anyway. */
static bool adapt(const lx__store *store, bool sealed, lx__chunk_item *item)
{
    lx__file file;
    uint64_t bytes;
    if (lx__store_open_any_chunk(store, item->id, &file, NULL) != LX_OK)
        return false;
    lx_status status = lx__file_size(&file, &bytes, NULL);
    lx__file_close(&file);
    if (status != LX_OK || bytes == item->bytes || (bytes > item->bytes && !sealed))
        return false;
    item->bytes = bytes;
    return true;
}

/** Makes the snapshot from which values are read. In that snapshot, if a chunk is too short, only
 * the values beyond its end count as damaged, whereas readers, which map the chunk, cannot read any
 * of its values. */
static lx_status adapt_chunks(lx__snapshot *snapshot, bool sealed, lx__snapshot **adapted,
                              lx_error *error)
{
    lx__state state;
    bool changes = false;
    lx__state_copy(&state, &snapshot->state);
    lx_status status = lx__state_reserve_chunks(&state, 0, error);
    for (size_t i = 0; status == LX_OK && i < state.chunk_count; i++)
        changes = adapt(snapshot->store, sealed, &state.chunks[i]) || changes;
    if (status == LX_OK && changes)
        return lx__snapshot_next(snapshot, &state, adapted, error);
    lx__state_free(&state);
    if (status == LX_OK)
        *adapted = lx__snapshot_ref(snapshot);
    return status;
}

/* ---- beginning and end */

/** Uses @p executor if it belongs to this process; otherwise opens one. */
static void find_executor(verification *v, lx_executor *executor)
{
    v->executor = executor;
    if (executor != NULL && lx__executor_check(executor, NULL) == LX_OK)
        return;
    v->executor = NULL;
    v->own_executor = lx_executor_open(NULL, &v->executor, NULL) == LX_OK;
}

static lx_status begin(verification *v, lx_executor *executor)
{
    pthread_mutex_init(&v->mutex, NULL);
    lx__clock_condition(&v->changed);
    v->file_count = lx__verify_files(v->snapshot, v->sealed);
    v->ahead.snapshot = v->snapshot;
    find_executor(v, executor);
    uint32_t readers = v->executor != NULL ? lx_executor_get_reader_count(v->executor) : 0;
    v->depth = JOBS_MIN + 2 * (size_t)readers;
    v->parts = lx__alloc_array(v->depth, sizeof *v->parts);
    return v->parts != NULL ? LX_OK : lx__fail_memory(v->error, "a verification");
}

static void end(verification *v)
{
    if (v->own_executor)
        lx_executor_close(v->executor);
    for (size_t i = 0; v->parts != NULL && i < v->depth; i++) {
        if (v->parts[i].job.checker.snapshot != NULL)
            lx__checker_end(&v->parts[i].job.checker);
        lx__free(v->parts[i].job.found);
    }
    lx__free(v->parts);
    lx__prefetch_end(&v->ahead);
    pthread_cond_destroy(&v->changed);
    pthread_mutex_destroy(&v->mutex);
}

lx_status lx__verify_snapshot(lx__snapshot *snapshot, bool sealed, lx_executor *executor,
                              const lx__verify_watch *watch, lx_verify_result *result,
                              lx_error *error)
{
    verification v = {
        .committed = &snapshot->state, .sealed = sealed, .watch = watch, .error = error};
    lx_status status = adapt_chunks(snapshot, sealed, &v.snapshot, error);
    *result = v.result;
    if (status != LX_OK)
        return status;
    v.result.leftover_bytes = lx__leftovers_count(snapshot);
    status = begin(&v, executor);
    if (status == LX_OK)
        status = check_all(&v);
    if (status == LX_OK && v.result.damages != 0)
        status = LX_ERR_CORRUPT;
    end(&v);
    lx__snapshot_unref(v.snapshot);
    *result = v.result;
    return status;
}

/* ---- the public call */

/** The caller's function for damage, and its arguments. */
typedef struct listener {
    lx_damage_function damaged;
    void *user;
    lx_error *error;
} listener;

static lx_status report_damage(void *user, const lx__found *found)
{
    const listener *to = user;
    return to->damaged(&found->error, to->user, to->error);
}

lx_status lx_dataset_verify(lx_dataset *dataset, lx_damage_function damaged,
                            lx_progress_function progress, void *user, lx_verify_result *result,
                            lx_error *error)
{
    lx__snapshot *snapshot;
    lx_verify_result done = {0};
    listener to = {damaged, user, error};
    const lx__verify_watch watch = {damaged != NULL ? report_damage : NULL, &to, progress, user};
    if (dataset == NULL)
        return lx__fail_null(error, "dataset");
    if (result != NULL)
        *result = done;
    lx_status status = lx__dataset_pin_newest(dataset, &snapshot, error);
    if (status != LX_OK)
        return status;
    /* If the seal was removed after the dataset was opened, files may have grown. */
    bool sealed = snapshot->store->meta.sealed && !lx__store_was_replaced(snapshot->store);
    status = lx__verify_snapshot(snapshot, sealed, dataset->options.executor, &watch, &done, error);
    lx__snapshot_unref(snapshot);
    if (result != NULL)
        *result = done;
    return status;
}
