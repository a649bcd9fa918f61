/* SPDX-License-Identifier: MIT */
#include "zrecord/write/commit-requests.h"

#include "base/alloc.h"
#include "executor/task.h"
#include "executor/ticket.h"

/* Completed requests are freed once the list has this many items. */
#define REQUESTS_KEPT 16

void lx__commit_request_free(lx__commit_request *request)
{
    lx_ticket_unref(request->ticket);
    lx__free(request);
}

/** Frees completed requests. */
static void prune(lx__commit_requests *requests)
{
    size_t kept = 0;
    for (size_t i = 0; i < requests->count; i++) {
        if (lx__ticket_is_over(requests->list[i]->ticket))
            lx__commit_request_free(requests->list[i]);
        else
            requests->list[kept++] = requests->list[i];
    }
    requests->count = kept;
}

lx__commit_request *lx__commit_request_new(lx__commit_requests *requests, lx_writer *writer,
                                           const lx__calls *calls)
{
    if (requests->count >= REQUESTS_KEPT)
        prune(requests);
    lx__commit_request **list = lx__grow_array(requests->list, requests->count, &requests->capacity,
                                               sizeof *list);
    if (list == NULL)
        return NULL;
    requests->list = list;
    lx__commit_request *request = lx__alloc_array(1, sizeof *request);
    if (request != NULL)
        *request = (lx__commit_request){
            .writer = writer, .target = calls->made, .rollbacks = calls->rollbacks};
    return request;
}

void lx__commit_requests_add(lx__commit_requests *requests, lx__commit_request *request)
{
    requests->list[requests->count++] = request;
}

void lx__commit_requests_settle(lx__commit_requests *requests, const lx__calls *calls)
{
    for (size_t i = 0; i < requests->count; i++) {
        lx__commit_request *request = requests->list[i];
        if (request->rollbacks == calls->rollbacks)
            request->committed = request->target <= calls->committed;
    }
}

void lx__commit_requests_end(lx__commit_requests *requests)
{
    for (size_t i = 0; i < requests->count; i++) {
        (void)lx_ticket_wait(requests->list[i]->ticket, NULL);
        lx__commit_request_free(requests->list[i]);
    }
    lx__free(requests->list);
    *requests = (lx__commit_requests){0};
}
