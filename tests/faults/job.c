/* SPDX-License-Identifier: MIT */
#include "job.h"

#include <unistd.h>

#include "kernel.h"
#include "trace.h"

/* More sets than one frame takes: they go to the tables (commit.c). */
#define MANY_SETS 16384u

/* The sessions of a life, and the steps of a session. */
#define SESSIONS 3
#define STEPS 10
/* The sessions in which a job of its kind has a sync fail. */
#define SPOILED 2

struct life {
    const struct job *job;
    struct dice dice;
    uint64_t serial;
    lx_durability durability;
    lx_writer *writer;
    bool many;
    unsigned sessions; /* so far */
    bool fails;        /* a sync of this session is to fail, or has */
    bool full;         /* the disk is to become full in this session */
    bool filled;       /* it was, and is not now */
    bool seals;        /* sealing was tried: after a failure it is open whether it is sealed */
    bool over;         /* it is */
};

static _Noreturn void refuse(const char *what, const lx_error *error)
{
    char text[1024];
    lx_error_describe(error, text, sizeof text);
    fprintf(stderr, "the job: %s: %s\n", what, text);
    fflush(NULL);
    _exit(EXIT_FAILURE);
}

static bool undo(struct life *life);

/** Only a session in which a sync fails, or the disk is full, may see a call fail. After a sync the
 * writer is done with; after the other, all that is not committed. */
static bool worked(struct life *life, lx_status status, const char *what, const lx_error *error)
{
    if (status == LX_OK)
        return true;
    if (!life->fails && (!life->full || status != LX_ERR_IO))
        refuse(what, error);
    mark_say(MARK_FAILED, 0, 0, 0);
    if (life->full) {
        life->full = false;
        life->filled = life->job->kind == JOB_FULL;
        kernel_fill_disk(0);
        undo(life);
        return false;
    }
    lx_writer_close(life->writer, NULL);
    life->writer = NULL;
    return false;
}

/* ---- steps */

static bool append(struct life *life, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    lx_status status =
        count != 1 ? records_extend(life->job->records, life->writer, life->serial, count, &error)
                   : lx_writer_append(life->writer, records_get(life->job->records, life->serial),
                                      NULL, &error);
    if (!worked(life, status, "append", &error))
        return false;
    mark_say(MARK_APPENDED, 0, life->serial, count);
    life->serial += count;
    return true;
}

/** A call that commits what is pending. */
static bool commit_by(struct life *life, lx_status (*call)(lx_writer *, lx_error *), bool durable,
                      const char *what)
{
    lx_error error = LX_ERROR_INIT;
    mark_say(MARK_TRYING, 0, 0, 0);
    if (!worked(life, call(life->writer, &error), what, &error))
        return false;
    durable = durable || life->durability == LX_DURABILITY_FULL;
    mark_say(MARK_COMMITTED, durable ? MARK_DURABLE : 0, 0, 0);
    return true;
}

static bool undo(struct life *life)
{
    lx_error error = LX_ERROR_INIT;
    if (!worked(life, lx_writer_rollback(life->writer, &error), "rollback", &error))
        return false;
    mark_say(MARK_UNDONE, 0, 0, lx_writer_get_length(life->writer));
    return true;
}

static bool transact(struct life *life)
{
    lx_error error = LX_ERROR_INIT;
    if (!commit_by(life, lx_writer_begin, false, "begin"))
        return false;
    if (!append(life, 1 + dice_below(&life->dice, 5)))
        return false;
    if (dice_once_in(&life->dice, 3) &&
        !worked(life, lx_writer_sync(life->writer, &error), "sync in a transaction", &error))
        return false;
    if (!append(life, 1 + dice_below(&life->dice, 9)))
        return false;
    return dice_once_in(&life->dice, 4) ? undo(life)
                                        : commit_by(life, lx_writer_end, false, "end");
}

/** A reader between the writer's calls leaves no trace. */
static bool look(struct life *life)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    if (lx_dataset_open(life->job->path, NULL, &dataset, &error) != LX_OK)
        refuse("a reader beside the writer", &error);
    lx_dataset_close(dataset);
    return true;
}

static bool step(struct life *life)
{
    uint64_t fields = life->job->records->fields;
    switch (dice_below(&life->dice, 14)) {
    case 0:
    case 1:
    case 2:
        return append(life, 1);
    case 3:
    case 4:
        return append(life, 2 + dice_below(&life->dice, 40));
    case 5:
        if (!life->many)
            return append(life, 2);
        life->many = false;
        return append(life, MANY_SETS / fields + 10);
    case 6:
    case 7:
    case 8:
        return commit_by(life, lx_writer_commit, false, "commit");
    case 9:
        return commit_by(life, lx_writer_sync, true, "sync");
    case 10:
    case 11:
        return transact(life);
    case 12:
        return undo(life);
    default:
        return look(life);
    }
}

/* ---- sessions */

static lx_writer_options *choose_options(struct life *life)
{
    lx_writer_options *options = need(lx_writer_options_new());
    life->durability = (lx_durability)dice_below(&life->dice, 3);
    bool large = dice_once_in(&life->dice, 3) || life->job->kind == JOB_FULL;
    uint64_t records = large || dice_once_in(&life->dice, 2) ? 1 << 20
                                                             : 3 + dice_below(&life->dice, 40);
    uint64_t bytes = large ? 1 << 30 : 4096 << dice_below(&life->dice, 4);
    if (lx_writer_options_set_durability(options, life->durability, NULL) != LX_OK ||
        lx_writer_options_set_chunk(options, records, bytes, NULL) != LX_OK)
        give_up("options");
    return options;
}

/** Creates the dataset; one whose creation failed half way is either there or made again. */
static bool create(struct life *life, const lx_writer_options *options)
{
    lx_error error = LX_ERROR_INIT;
    mark_say(MARK_CREATING, 0, 0, 0);
    lx_status status = lx_writer_create(life->job->path, life->job->records->schema, options,
                                        &life->writer, &error);
    if (status == LX_OK)
        mark_say(MARK_CREATED, 0, 0, 0);
    else if (!life->fails && status != LX_ERR_EXISTS)
        refuse("create", &error);
    return status == LX_OK;
}

static bool open_again(struct life *life, const lx_writer_options *options)
{
    lx_error error = LX_ERROR_INIT;
    lx_status status = lx_writer_open(life->job->path, options, &life->writer, &error);
    life->over = status == LX_ERR_STATE && life->seals;
    life->seals = life->over;
    if (status == LX_OK)
        mark_say(MARK_OPENED, 0, 0, lx_writer_get_length(life->writer));
    else if (!life->over && !life->fails && status != LX_ERR_NOT_FOUND)
        refuse("open", &error);
    return status == LX_OK;
}

static void end_session(struct life *life)
{
    lx_error error = LX_ERROR_INIT;
    if (life->full && dice_once_in(&life->dice, 2))
        kernel_fill_disk(0); /* the clock may have found it full, so calls may fail even so */
    if (dice_once_in(&life->dice, life->job->resumes ? 2 : 4) || life->filled) {
        mark_say(MARK_SEALING, 0, 0, 0);
        life->seals = true;
        if (worked(life, lx_writer_seal(life->writer, &error), "seal", &error)) {
            mark_say(MARK_SEALED, 0, 0, 0);
            life->over = true;
        } else if (life->writer == NULL) {
            return;
        }
    }
    lx_error_clear(&error);
    mark_say(MARK_TRYING, 0, 0, 0);
    lx_status status = lx_writer_close(life->writer, &error);
    life->writer = NULL;
    if (status != LX_OK && !life->fails && (!life->full || status != LX_ERR_IO))
        refuse("close", &error);
    mark_say(status == LX_OK ? MARK_COMMITTED : MARK_FAILED, MARK_DURABLE, 0, 0);
}

/** Removes the dataset, if there is one; the next session makes another in its place. */
static void remove_all(struct life *life)
{
    lx_error error = LX_ERROR_INIT;
    mark_say(MARK_REMOVING, 0, 0, 0);
    lx_status status = lx_dataset_remove(life->job->path, &error);
    if (status != LX_OK && status != LX_ERR_NOT_FOUND)
        refuse("remove", &error);
    mark_say(MARK_REMOVED, 0, 0, 0);
    life->over = life->seals = false;
}

static void session(struct life *life)
{
    life->fails = life->full = false;
    if (life->sessions != 0 && dice_once_in(&life->dice, life->over ? 2 : 10))
        remove_all(life);
    if (life->over)
        return;
    lx_writer_options *options = choose_options(life);
    unsigned steps = (unsigned)dice_below(&life->dice, life->job->resumes ? 4 : STEPS);
    if (life->job->kind != JOB_USUAL && !life->job->resumes)
        steps += 4;
    bool usual = life->job->kind == JOB_USUAL || life->job->resumes;
    life->fails = usual && dice_once_in(&life->dice, 4);
    kernel_fail_sync(life->fails ? 1 + (unsigned)dice_below(&life->dice, 20) : 0);
    bool open = open_again(life, options) ||
                (!life->over && !life->job->resumes && create(life, options));
    lx_writer_options_free(options);
    if (open && life->job->kind == JOB_SYNCS && life->sessions < SPOILED) {
        life->fails = true;
        kernel_fail_sync(1 + (unsigned)dice_below(&life->dice, 10));
    }
    life->full = open && (usual ? !life->fails && dice_once_in(&life->dice, 4)
                                : life->job->kind == JOB_FULL);
    kernel_fill_disk(life->full ? 1 + (unsigned)dice_below(&life->dice, 16) : 0);
    life->sessions++;
    while (open && steps-- != 0 && step(life))
        ;
    if (life->writer != NULL && life->job->waits && life->sessions == 1)
        usleep(1200000); /* a clock that is running syncs in the meantime */
    if (life->writer != NULL)
        end_session(life);
    kernel_fail_sync(0);
    kernel_fill_disk(0);
}

int job_run(void *user)
{
    const struct job *job = user;
    struct life life = {.job = job,
                        .dice = {dice_mix(job->seed, 2)},
                        .serial = job->serial,
                        .seals = job->may_be_sealed,
                        .many = job->many && !job->resumes};
    kernel_make_syncs();
    unsigned sessions = job->resumes ? 1 : 1 + (unsigned)dice_below(&life.dice, SESSIONS);
    while (sessions != 0) {
        session(&life);
        /* One in which a sync failed is not the last: what the next makes of it is the question. */
        sessions -= sessions > 1 || !life.fails;
    }
    return 0;
}
