/* SPDX-License-Identifier: MIT */
/* Commits that the caller does not wait for here. */
#include "base/error.h"
#include "zrecord/write/install.h"

/** The task of a request: commits what was asked for before it was made. */
static lx_status run(void *user, size_t part, lx_error *error)
{
    (void)part;
    lx__commit_request *request = user;
    lx_writer *writer = request->writer;
    pthread_mutex_lock(&writer->mutex);
    lx_status status = LX_OK;
    if (writer->calls.rollbacks == request->rollbacks)
        status = lx__writer_commit(writer, request->target, LX__COMMIT_SUBMITTED, error);
    else if (!request->committed)
        status = lx__fail(error, LX_ERR_STATE, "not committed: a rollback came first");
    if (request->committed)
        status = LX_OK; /* whatever became of the writer since */
    if (status == LX_OK) {
        lx__writer_upkeep_submitted(writer);
        lx__writer_start_timer(writer);
    }
    pthread_mutex_unlock(&writer->mutex);
    return status;
}

static lx_status submit(lx_writer *writer, lx_ticket **ticket, lx_error *error)
{
    lx__commit_request *request = NULL;
    lx_status status = lx__writer_usable(writer, error);
    if (status == LX_OK && writer->transaction)
        status = lx__fail(error, LX_ERR_STATE, "a transaction is open: its end commits");
    if (status != LX_OK)
        return status;
    request = lx__commit_request_new(&writer->requests, writer, &writer->calls);
    if (request == NULL)
        return lx__fail_memory(error, "a commit");
    /* What comes later is not to be in the same stage. */
    lx_error failure = LX_ERROR_INIT;
    status = lx__writer_submit_stage(writer, &failure);
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
    if (ticket == NULL)
        return lx__fail_null(error, "ticket");
    lx_status status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    status = submit(writer, ticket, error);
    if (status == LX_OK) /* when the commit is made, there may be something else already */
        lx__writer_upkeep_submitted(writer);
    lx__writer_leave(writer);
    return status;
}
