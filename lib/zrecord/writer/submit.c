/* SPDX-License-Identifier: MIT */
/* Commits that the caller does not wait for here. */
#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/writer/switch.h"

/* Requests that are over are let go when there are so many. */
#define REQUESTS_KEPT 16

/** The task of a request: commits what was asked for before it was made. */
static lx_status run(void *user, size_t part, lx_error *error)
{
    (void)part;
    lx__request *request = user;
    lx_writer *writer = request->writer;
    pthread_mutex_lock(&writer->mutex);
    lx_status status = LX_OK;
    if (writer->undone == request->undone)
        status = lx__writer_commit(writer, request->target, LX__COMMIT_SUBMITTED, error);
    else if (!request->stands)
        status = lx__fail(error, LX_ERR_STATE, "not committed: it was rolled back before");
    if (request->stands)
        status = LX_OK; /* whatever became of the writer since */
    if (status == LX_OK) {
        lx__writer_upkeep_submitted(writer);
        lx__writer_start_timer(writer);
    }
    pthread_mutex_unlock(&writer->mutex);
    return status;
}

static void free_request(lx__request *request)
{
    lx_ticket_unref(request->ticket);
    lx__free(request);
}

/** Lets go of requests that are over. */
static void prune(lx_writer *writer)
{
    size_t kept = 0;
    for (size_t i = 0; i < writer->request_count; i++) {
        if (lx__ticket_is_over(writer->requests[i]->ticket))
            free_request(writer->requests[i]);
        else
            writer->requests[kept++] = writer->requests[i];
    }
    writer->request_count = kept;
}

static lx_status add_request(lx_writer *writer, lx__request **request, lx_error *error)
{
    if (writer->request_count >= REQUESTS_KEPT)
        prune(writer);
    lx__request **list = lx__grow_array(writer->requests, writer->request_count,
                                        &writer->request_capacity, sizeof(lx__request *));
    if (list != NULL)
        writer->requests = list;
    *request = list != NULL ? lx__alloc_array(1, sizeof **request) : NULL;
    if (*request == NULL)
        return lx__fail_memory(error, "a commit");
    **request =
        (lx__request){.writer = writer, .target = writer->calls, .undone = writer->undone};
    return LX_OK;
}

static lx_status submit(lx_writer *writer, lx_ticket **ticket, lx_error *error)
{
    lx__request *request;
    lx_status status = lx__writer_usable(writer, error);
    if (status == LX_OK && writer->transaction)
        status = lx__fail(error, LX_ERR_STATE, "a transaction is open: its end commits");
    if (status == LX_OK)
        status = add_request(writer, &request, error);
    if (status != LX_OK)
        return status;
    /* What comes later is not to be in the same stage. */
    lx_error failure = LX_ERROR_INIT;
    status = lx__writer_submit_stage(writer, &failure);
    lx__writer_note(writer, writer->calls, status, &failure, error);
    if (status == LX_OK)
        status = lx_executor_submit(writer->executor, LX_QUEUE_WRITE, run, request, 1,
                                    &request->ticket, error);
    if (status != LX_OK) {
        free_request(request);
        return status;
    }
    writer->requests[writer->request_count++] = request;
    writer->submitted_call = writer->calls;
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

void lx__writer_end_requests(lx_writer *writer)
{
    for (size_t i = 0; i < writer->request_count; i++) {
        (void)lx_ticket_wait(writer->requests[i]->ticket, NULL);
        free_request(writer->requests[i]);
    }
    lx__free(writer->requests);
    writer->requests = NULL;
    writer->request_count = writer->request_capacity = 0;
}
