/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Commits that callers have submitted without waiting for them.
 *
 * Used under the writer's mutex, except for lx__commit_requests_end().
 */
#ifndef LX_ZRECORD_COMMIT_REQUESTS_H
#define LX_ZRECORD_COMMIT_REQUESTS_H

#include <loaderx/executor.h>
#include <loaderx/writer.h>

#include "zrecord/write/calls.h"

/** A submitted commit. */
typedef struct lx__commit_request {
    lx_writer *writer;
    uint64_t target;    /**< The last call to commit. */
    uint64_t rollbacks; /**< Number of rollbacks when the commit was submitted. */
    bool committed;     /**< Set if the calls were committed before a rollback undid later calls. */
    lx_ticket *ticket;
} lx__commit_request;

/** Requests that may still be in progress. A zeroed list is empty. */
typedef struct lx__commit_requests {
    lx__commit_request **list;
    size_t count, capacity;
} lx__commit_requests;

/** Creates a request to commit everything written so far, and reserves room for it in the list.
 * Once it has a ticket, pass it to lx__commit_requests_add(); otherwise, to
 * lx__commit_request_free(). Returns NULL when out of memory. */
lx__commit_request *lx__commit_request_new(lx__commit_requests *requests, lx_writer *writer,
                                           const lx__calls *calls);
void lx__commit_request_free(lx__commit_request *request);

void lx__commit_requests_add(lx__commit_requests *requests, lx__commit_request *request);

/** Called before a rollback: records in each request whether it has been committed. */
void lx__commit_requests_settle(lx__commit_requests *requests, const lx__calls *calls);

/** Waits for all requests, without holding the mutex, and frees the list. */
void lx__commit_requests_end(lx__commit_requests *requests);

#endif
