/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Commits that a caller has submitted and does not wait for.
 *
 * Used under the writer's mutex, but for lx__commit_requests_end().
 */
#ifndef LX_ZRECORD_COMMIT_REQUESTS_H
#define LX_ZRECORD_COMMIT_REQUESTS_H

#include <loaderx/executor.h>
#include <loaderx/writer.h>

#include "zrecord/write/calls.h"

/** A submitted commit. */
typedef struct lx__commit_request {
    lx_writer *writer;
    uint64_t target;    /**< The last call that it commits. */
    uint64_t rollbacks; /**< How many there had been. */
    bool committed;     /**< It was committed before later calls were undone. */
    lx_ticket *ticket;
} lx__commit_request;

/** Those that may not be over; zeroed, there are none. */
typedef struct lx__commit_requests {
    lx__commit_request **list;
    size_t count, capacity;
} lx__commit_requests;

/** A request of @p writer for what was asked for so far, for lx__commit_requests_add() once it has
 * a ticket, or lx__commit_request_free(). There is room for it in the list. NULL: out of memory. */
lx__commit_request *lx__commit_request_new(lx__commit_requests *requests, lx_writer *writer,
                                           const lx__calls *calls);
void lx__commit_request_free(lx__commit_request *request);

void lx__commit_requests_add(lx__commit_requests *requests, lx__commit_request *request);

/** Before calls are undone: each request learns whether it was committed. */
void lx__commit_requests_settle(lx__commit_requests *requests, const lx__calls *calls);

/** Waits for all of them, without the mutex, and frees the list. */
void lx__commit_requests_end(lx__commit_requests *requests);

#endif
