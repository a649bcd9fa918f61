/* SPDX-License-Identifier: MIT */
#include "job.h"

#include <limits.h>
#include <unistd.h>

#include "kernel.h"
#include "life.h"

/* The sessions of a job, and the steps of a session. */
#define SESSIONS 3
#define STEPS 12
/* The sessions in which a sync fails, in a job of that kind. */
#define SPOILED 2

/** Opens with one to four flush tasks, or the default of the library. */
static void choose_executor(struct life *life)
{
    lx_error error = LX_ERROR_INIT;
    uint32_t writers = (uint32_t)rng_below(&life->rng, 1 + LX_MAX_WRITERS);
    if (life->job->kind == JOB_WORKERS && writers < 2)
        writers = 2;
    life->executor = NULL;
    if (writers == 0)
        return;
    lx_executor_options *options = need(lx_executor_options_new());
    if (lx_executor_options_set_reader_count(options, 0, &error) != LX_OK ||
        lx_executor_options_set_writer_count(options, writers, &error) != LX_OK ||
        lx_executor_open(options, &life->executor, &error) != LX_OK)
        life_refuse("an executor", &error);
    lx_executor_options_free(options);
}

static lx_writer_options *choose_options(struct life *life)
{
    lx_writer_options *options = need(lx_writer_options_new());
    life->durability = (lx_durability)rng_below(&life->rng, 3);
    bool large = rng_once_in(&life->rng, 3) || life->job->kind == JOB_FULL;
    uint64_t records = large || rng_once_in(&life->rng, 2) ? 1 << 20
                                                           : 3 + rng_below(&life->rng, 40);
    uint64_t bytes = large ? 1 << 30 : 4096 << rng_below(&life->rng, 4);
    if (lx_writer_options_set_durability(options, life->durability, NULL) != LX_OK ||
        lx_writer_options_set_chunk_limits(options, records, bytes, NULL) != LX_OK ||
        lx_writer_options_set_executor(options, life->executor, NULL) != LX_OK)
        give_up("options");
    return options;
}

/** Creates the dataset; if a creation was interrupted, the dataset exists or is created again. */
static bool create(struct life *life, const lx_writer_options *options)
{
    lx_error error = LX_ERROR_INIT;
    mark_say(MARK_CREATING, 0, 0);
    lx_status status = lx_writer_create(life->job->path, life->job->records->schema, options,
                                        &life->writer, &error);
    if (status == LX_OK)
        mark_say(MARK_CREATED, 0, 0);
    else if (!life->fails && status != LX_ERR_EXISTS)
        life_refuse("create", &error);
    return status == LX_OK;
}

/** Unseals. After a failed sync, the seal may or may not be removed. */
static bool unseal(struct life *life)
{
    lx_error error = LX_ERROR_INIT;
    mark_say(MARK_UNSEALING, 0, 0);
    lx_status status = lx_dataset_unseal(life->job->path, &error);
    if (status != LX_OK && !life->fails)
        life_refuse("unseal", &error);
    if (status == LX_OK)
        mark_say(MARK_UNSEALED, 0, 0);
    life->over = life->seals = status != LX_OK;
    return !life->over;
}

static lx_status try_to_open(struct life *life, const lx_writer_options *options, lx_error *error)
{
    lx_status status = lx_writer_open(life->job->path, options, &life->writer, error);
    life->over = status == LX_ERR_STATE && life->seals;
    life->seals = life->over;
    return status;
}

static bool open_again(struct life *life, const lx_writer_options *options)
{
    lx_error error = LX_ERROR_INIT;
    lx_status status = try_to_open(life, options, &error);
    if (life->over && rng_once_in(&life->rng, 2) && unseal(life)) {
        lx_error_clear(&error);
        status = try_to_open(life, options, &error);
    }
    if (status == LX_OK)
        mark_say(MARK_OPENED, 0, life_look(life));
    else if (!life->over && !life->fails && status != LX_ERR_NOT_FOUND)
        life_refuse("open", &error);
    return status == LX_OK;
}

/** Seals. Returns false if the writer is closed then. */
static bool seal(struct life *life)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t number = ++life->commits;
    mark_say(MARK_SEALING, 0, number);
    life->seals = true;
    lx_status status = lx_writer_seal(life->writer, &error);
    if (!life_worked(life, status, "seal", &error))
        return life->writer != NULL;
    mark_say(MARK_SEALED, 0, number);
    life->over = true;
    return true;
}

static void end_session(struct life *life)
{
    lx_error error = LX_ERROR_INIT;
    bool late = rng_once_in(&life->rng, 2); /* tickets may outlive the writer */
    if (life->full && rng_once_in(&life->rng, 2))
        kernel_fill_disk(0, 0); /* the timer may have found the disk full, so calls may fail even
                                 * now */
    if (!late)
        life_wait(life);
    if (life->writer != NULL &&
        (rng_once_in(&life->rng, life->job->resumes ? 2 : 4) || life->filled))
        seal(life);
    if (life->writer == NULL)
        return;
    uint64_t number = ++life->commits;
    mark_say(MARK_TRYING, 0, number);
    lx_status status = lx_writer_close(life->writer, &error);
    life->writer = NULL;
    if (status != LX_OK && !life->fails && (!life->full || status != LX_ERR_IO))
        life_refuse("close", &error);
    if (status != LX_OK)
        life_void_promises(life);
    mark_say(status == LX_OK ? MARK_COMMITTED : MARK_FAILED, MARK_DURABLE, number);
}

/** Removes the dataset, if it exists; the next session creates another one in its place. */
static void remove_all(struct life *life)
{
    lx_error error = LX_ERROR_INIT;
    life_unpin(life);
    mark_say(MARK_REMOVING, 0, 0);
    lx_status status = lx_dataset_remove(life->job->path, &error);
    if (status != LX_OK && status != LX_ERR_NOT_FOUND)
        life_refuse("remove", &error);
    mark_say(MARK_REMOVED, 0, 0);
    life->over = life->seals = false;
}

/** Whether the disk becomes full in this session. */
static bool may_be_full(struct life *life, bool usual)
{
    if (usual)
        return rng_once_in(&life->rng, 4);
    return life->job->kind == JOB_FULL ||
           (life->job->kind == JOB_WORKERS && rng_once_in(&life->rng, 2));
}

static void session(struct life *life)
{
    life->fails = life->full = false;
    if (life->sessions != 0 && rng_once_in(&life->rng, life->over ? 3 : 12))
        remove_all(life);
    choose_executor(life);
    lx_writer_options *options = choose_options(life);
    unsigned steps = (unsigned)rng_below(&life->rng, life->job->resumes ? 4 : STEPS);
    if (life->job->kind != JOB_USUAL && !life->job->resumes)
        steps += 4;
    bool usual = life->job->kind == JOB_USUAL || life->job->resumes;
    life->fails = (usual || life->job->kind == JOB_INSTALLS) && rng_once_in(&life->rng, 4);
    kernel_fail_sync(life->fails ? 1 + (unsigned)rng_below(&life->rng, 20) : 0);
    bool open = open_again(life, options) ||
                (!life->over && !life->job->resumes && create(life, options));
    lx_writer_options_free(options);
    if (open && life->job->kind == JOB_SYNCS && life->sessions < SPOILED) {
        life->fails = true;
        kernel_fail_sync(1 + (unsigned)rng_below(&life->rng, 10));
    }
    life->full = open && !life->fails && may_be_full(life, usual);
    kernel_fill_disk(life->full ? 1 + (unsigned)rng_below(&life->rng, 16) : 0,
                     rng_once_in(&life->rng, 2) ? 1 : UINT_MAX);
    life->sessions++;
    while (open && steps-- != 0 && life_step(life))
        ;
    if (life->writer != NULL && life->job->waits && life->sessions == 1)
        usleep(1200000); /* a running timer syncs in the meantime */
    if (life->writer != NULL)
        end_session(life);
    life_wait(life);
    lx_executor_unref(life->executor);
    kernel_fail_sync(0);
    kernel_fill_disk(0, 0);
    life_check_pinned(life);
    if (rng_once_in(&life->rng, 2))
        life_unpin(life);
}

int job_run(void *user)
{
    const struct job *job = user;
    struct life life = {.job = job,
                        .rng = {rng_mix(job->seed, 2)},
                        .serial = job->serial,
                        .commits = job->commit,
                        .seals = job->may_be_sealed,
                        .many = job->many && !job->resumes};
    kernel_make_syncs();
    unsigned sessions = job->resumes ? 1 : 1 + (unsigned)rng_below(&life.rng, SESSIONS);
    while (sessions != 0) {
        session(&life);
        /* A session with a failed sync is not the last: the next one must handle the result. */
        sessions -= sessions > 1 || !life.fails;
    }
    return 0;
}
