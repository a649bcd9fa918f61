/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "kernel.h"
#include "life.h"

/* More updates than one frame may have: they go to the tables (commit.c). */
#define MANY_SETS 16384u

_Noreturn void life_refuse(const char *what, const lx_error *error)
{
    char text[1024];
    lx_error_describe(error, text, sizeof text);
    fprintf(stderr, "the job: %s: %s\n", what, text);
    fflush(NULL);
    _exit(EXIT_FAILURE);
}

uint32_t life_durable(const struct life *life)
{
    return life->durability == LX_DURABILITY_FULL ? MARK_DURABLE : 0;
}

static bool undo(struct life *life)
{
    lx_error error = LX_ERROR_INIT;
    if (!life_worked(life, lx_writer_rollback(life->writer, &error), "rollback", &error))
        return false;
    mark_say(MARK_UNDONE, 0, life_look(life));
    return true;
}

bool life_worked(struct life *life, lx_status status, const char *what, const lx_error *error)
{
    if (status == LX_OK)
        return true;
    if (!life->fails && (!life->full || status != LX_ERR_IO))
        life_refuse(what, error);
    mark_say(MARK_FAILED, 0, 0);
    life_void_promises(life);
    if (life->full) {
        life->full = false;
        life->filled = life->job->kind == JOB_FULL;
        kernel_fill_disk(0, 0);
        if (life->writer != NULL) /* otherwise the ticket of a rolled-back call reports it */
            undo(life);
        return false;
    }
    lx_writer_close(life->writer, NULL);
    life->writer = NULL;
    return false;
}

/* ---- operations */

/** A dataset without a field of the same name cannot be a source of copies. */
static bool shares_a_field(const lx_schema *schema, const lx_dataset *other)
{
    size_t position;
    bool found = false;
    for (size_t i = 0; other != NULL && i < lx_schema_get_field_count(schema); i++)
        found = found || lx_schema_find_field(lx_dataset_get_schema(other),
                                              lx_schema_get_field(schema, i)->name, &position,
                                              NULL) == LX_OK;
    return found;
}

struct operation life_choose(struct life *life)
{
    const lx_schema *schema = lx_writer_get_schema(life->writer);
    uint64_t from = shares_a_field(schema, life->pinned) ? lx_dataset_get_length(life->pinned) : 0;
    return operation_choose(&life->rng, lx_writer_get_length(life->writer),
                            lx_schema_get_field_count(schema), life->serial, from);
}

lx_status life_do(struct life *life, uint32_t flags, const struct operation *operation,
                  lx_error *error)
{
    mark_ask(flags, operation);
    if (operation->kind == OPERATION_APPEND || operation->kind == OPERATION_MODIFY ||
        operation->kind == OPERATION_ADD)
        life->serial += operation->count;
    return operation_do(operation, life->job->records, life->writer, life->pinned, error);
}

static bool request(struct life *life)
{
    lx_error error = LX_ERROR_INIT;
    struct operation operation = life_choose(life);
    return life_worked(life, life_do(life, 0, &operation, &error), "a call", &error);
}

static bool append(struct life *life, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    struct operation operation = {.kind = OPERATION_APPEND, .first = life->serial, .count = count};
    return life_worked(life, life_do(life, 0, &operation, &error), "append", &error);
}

/* ---- commits */

/** A call that commits pending operations. */
static bool commit_by(struct life *life, lx_status (*call)(lx_writer *, lx_error *), bool durable,
                      const char *what)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t number = ++life->commits;
    mark_say(MARK_TRYING, 0, number);
    if (!life_worked(life, call(life->writer, &error), what, &error))
        return false;
    mark_say(MARK_COMMITTED, durable ? MARK_DURABLE : life_durable(life), number);
    return true;
}

static bool transact(struct life *life)
{
    lx_error error = LX_ERROR_INIT;
    if (!commit_by(life, lx_writer_begin_transaction, false, "begin"))
        return false;
    for (uint64_t i = rng_below(&life->rng, 4); i != 0; i--)
        if (!request(life))
            return false;
    if (rng_once_in(&life->rng, 3) &&
        !life_worked(life, lx_writer_sync(life->writer, &error), "sync in a transaction", &error))
        return false;
    if (!request(life))
        return false;
    return rng_once_in(&life->rng, 4) ? undo(life)
                                      : commit_by(life, lx_writer_end_transaction, false, "end");
}

bool life_switch(struct life *life)
{
    lx_error error = LX_ERROR_INIT;
    struct columns columns;
    if (!records_columns(lx_writer_get_schema(life->writer), &columns))
        give_up("a field has an unknown name");
    struct operation operation = operation_choose_switch(&life->rng, &columns, life->serial);
    mark_say(MARK_TRYING, 0, ++life->commits);
    mark_ask(0, &operation);
    if (operation.kind == OPERATION_ADD)
        life->serial += operation.count;
    mark_say(MARK_TRYING, 0, ++life->commits);
    if (!life_worked(life, operation_do(&operation, life->job->records, life->writer, NULL, &error),
                     "a switch", &error))
        return false;
    mark_say(MARK_COMMITTED, MARK_DURABLE, life->commits);
    life_check_pinned(life);
    return true;
}

/** A reader between the calls of the writer leaves no trace. */
static bool look(struct life *life)
{
    life_check_pinned(life);
    if (rng_once_in(&life->rng, 2))
        life_pin(life);
    else
        mark_say(MARK_SEEN, 0, life_look(life));
    return true;
}

/** A step of a job with new generations. */
static bool step_of_switches(struct life *life)
{
    switch (rng_below(&life->rng, 12)) {
    case 0:
    case 1:
    case 2:
        return append(life, 1 + rng_below(&life->rng, 20));
    case 3:
    case 4:
    case 5:
        return request(life);
    case 6:
    case 7:
        return commit_by(life, lx_writer_commit, false, "commit");
    default:
        if (rng_once_in(&life->rng, 2))
            life_pin(life);
        return life_switch(life);
    }
}

/** A step of a job with several flush tasks. */
static bool step_with_flush_tasks(struct life *life)
{
    switch (rng_below(&life->rng, 12)) {
    case 0:
        return request(life);
    case 1:
        return commit_by(life, lx_writer_commit, false, "commit");
    case 2:
        return commit_by(life, lx_writer_sync, true, "sync");
    case 3:
        return life_wait(life);
    case 4:
        return undo(life);
    case 5:
        return life_share(life);
    default:
        return life_submit(life);
    }
}

bool life_step(struct life *life)
{
    if (life->job->kind == JOB_INSTALLS)
        return step_of_switches(life);
    if (life->job->kind == JOB_WORKERS)
        return step_with_flush_tasks(life);
    switch (rng_below(&life->rng, 22)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
        return request(life);
    case 6:
        return append(life, 2 + rng_below(&life->rng, 40));
    case 7:
        if (!life->many)
            return append(life, 2);
        life->many = false;
        return append(life, MANY_SETS / RECORDS_FIELDS + 10);
    case 8:
    case 9:
    case 10:
        return commit_by(life, lx_writer_commit, false, "commit");
    case 11:
        return commit_by(life, lx_writer_sync, true, "sync");
    case 12:
    case 13:
        return transact(life);
    case 14:
        return undo(life);
    case 15:
    case 16:
        return look(life);
    case 17:
        return life_submit(life);
    case 18:
        return life_wait(life);
    case 19:
    case 20:
        return life_switch(life);
    default:
        return life_share(life);
    }
}
