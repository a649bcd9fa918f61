/* SPDX-License-Identifier: MIT */
/* Commits, syncs, submitted commits, transactions and rollbacks. */
#include "base/error.h"
#include "zrecord/write/commit.h"
#include "zrecord/write/group-commit.h"
#include "zrecord/write/handle.h"
#include "zrecord/write/reap.h"
#include "zrecord/write/rotate.h"

static lx_status commit(lx_writer *writer, unsigned how, lx_error *error)
{
    lx_status status = lx__writer_usable(writer, error);
    return status == LX_OK ? lx__group_commit(writer, writer->calls.made, how, error) : status;
}

/** Does the maintenance and the sync that are due after a successful commit. */
static lx_status after_commit(lx_writer *writer, lx_status status, lx_error *error)
{
    if (status != LX_OK)
        return status;
    lx__writer_maintain(writer);
    lx__writer_start_timer(writer);
    return lx__writer_sync_due(writer, error);
}

lx_status lx_writer_commit(lx_writer *writer, lx_error *error)
{
    lx_status status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    status = writer->transaction
                 ? lx_fail(error, LX_ERR_STATE, "a transaction is open: end it to commit")
                 : after_commit(writer, commit(writer, 0, error), error);
    lx__writer_leave(writer);
    return status;
}

lx_status lx_writer_sync(lx_writer *writer, lx_error *error)
{
    lx_status status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    if (!writer->transaction) {
        status = after_commit(writer, commit(writer, LX__COMMIT_SYNCED, error), error);
    } else {
        status = lx__writer_usable(writer, error);
        if (status == LX_OK)
            status = lx__group_commit(writer, 0, LX__COMMIT_REPEAT | LX__COMMIT_SYNCED, error);
    }
    lx__writer_leave(writer);
    return status;
}

/* ---- submitted commits */

/** The task of a request: commits all calls that were made before it was submitted. */
static lx_status run(size_t part, void *user, lx_error *error)
{
    (void)part;
    lx__commit_request *request = user;
    lx_writer *writer = request->writer;
    pthread_mutex_lock(&writer->mutex.mutex); /* even if a call or a commit is half-done */
    lx_status status = LX_OK;
    if (writer->calls.rollbacks == request->rollbacks)
        status = lx__group_commit(writer, request->target, LX__COMMIT_SUBMITTED, error);
    else if (!request->committed)
        status = lx_fail(error, LX_ERR_STATE,
                         "the changes cannot be committed: they have been rolled back");
    if (request->committed)
        status = LX_OK; /* whatever has happened to the writer since then */
    if (status == LX_OK) {
        lx__writer_maintain_submitted(writer);
        lx__writer_start_timer(writer);
    }
    lx__write_mutex_unlock(&writer->mutex);
    return status;
}

static lx_status submit(lx_writer *writer, lx_ticket **ticket, lx_error *error)
{
    lx__commit_request *request = NULL;
    lx_status status = lx__writer_usable(writer, error);
    if (status == LX_OK && writer->transaction)
        status = lx_fail(error, LX_ERR_STATE, "a transaction is open: end it to commit");
    if (status != LX_OK)
        return status;
    request = lx__commit_request_new(&writer->requests, writer, &writer->calls);
    if (request == NULL)
        return lx__fail_memory(error, "a commit");
    /* Later calls must not share a write buffer with this request. */
    lx_error failure = LX_ERROR_INIT;
    status = lx__writer_submit_buffer(writer, &failure);
    lx__calls_fail(&writer->calls, writer->calls.made, status, &failure, error);
    if (status == LX_OK)
        status = lx_executor_submit(writer->executor, LX_QUEUE_WRITE, run, request, 1,
                                    &request->ticket, error);
    if (status != LX_OK) {
        lx__commit_request_free(request);
        return status;
    }
    lx__commit_requests_add(&writer->requests, request);
    writer->calls.submitted = writer->calls.made;
    *ticket = lx_ticket_ref(request->ticket);
    return LX_OK;
}

lx_status lx_writer_submit_commit(lx_writer *writer, lx_ticket **ticket, lx_error *error)
{
    LX__CLEAR(ticket);
    if (ticket == NULL)
        return lx__fail_null(error, "ticket");
    lx_status status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    status = submit(writer, ticket, error);
    /* The buffer is reaped when the request commits, possibly together with later buffers. */
    if (status == LX_OK)
        lx__writer_maintain_submitted(writer);
    lx__writer_leave(writer);
    return status;
}

/* ---- transactions */

lx_status lx_writer_begin_transaction(lx_writer *writer, lx_error *error)
{
    lx_status status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    /* Everything before the transaction must be committed, including what other threads add while
     * this thread waits. */
    status = lx__writer_usable(writer, error);
    while (status == LX_OK && !writer->transaction && writer->calls.committed < writer->calls.made)
        status = commit(writer, LX__COMMIT_ALONE, error);
    /* Another thread may have begun a transaction in the meantime. */
    if (status == LX_OK && writer->transaction)
        status = lx_fail(error, LX_ERR_STATE, "a transaction is already open");
    if (status == LX_OK) {
        writer->transaction = true;
        status = after_commit(writer, LX_OK, error);
    }
    lx__writer_leave(writer);
    return status;
}

lx_status lx_writer_end_transaction(lx_writer *writer, lx_error *error)
{
    lx_status status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    if (writer->transaction) {
        writer->transaction = false; /* if the commit fails, only a rollback can help */
        status = after_commit(writer, commit(writer, 0, error), error);
    } else {
        status = lx_fail(error, LX_ERR_STATE, "no transaction is open");
    }
    lx__writer_leave(writer);
    return status;
}

/** Undoes all calls that are neither committed nor submitted for a commit. */
static lx_status roll_back(lx_writer *writer, lx_error *error)
{
    (void)lx__writer_commit_submitted(writer, NULL);
    if (writer->calls.failure.status == LX_ERR_POISONED || writer->meta.sealed)
        return writer->meta.sealed ? LX_OK : lx__writer_usable(writer, error);
    lx__calls_clear_failure(&writer->calls);
    writer->transaction = false;
    return lx__writer_drop(writer, error);
}

lx_status lx_writer_rollback(lx_writer *writer, lx_error *error)
{
    lx_status status = lx__writer_enter_alone(writer, error);
    if (status != LX_OK)
        return status;
    status = roll_back(writer, error);
    lx__writer_leave(writer);
    return status;
}
