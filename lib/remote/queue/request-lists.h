/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The requests of a queue that no thread reads: in which order they begin. The queue's lock
 * protects the lists. Each function takes constant time, or time linear in the number of paused
 * requests.
 *
 * Urgent requests come first, then those that were begun before, then the others as they came.
 * Requests that were begun and are not finished are limited, except for urgent ones: so an outage
 * is tried with a few requests, and the paused ones are few.
 */
#ifndef LX_REMOTE_REQUEST_LISTS_H
#define LX_REMOTE_REQUEST_LISTS_H

#include "remote/queue/request-queue.h"

typedef struct lx__request_lists {
    lx__link urgent, normal; /**< Those that may begin now. */
    lx__link paused;         /**< Those to repeat later, by time. */
    unsigned ready;          /**< Number of requests in @ref urgent and @ref normal. */
    unsigned begun;          /**< Number of requests that were begun and are not finished. */
    unsigned limit;          /**< The most of these, urgent ones not counted. */
} lx__request_lists;

void lx__request_lists_init(lx__request_lists *lists, unsigned limit);

/** Adds a new request. */
void lx__request_lists_add(lx__request_lists *lists, lx__request *request);

/** Adds a request to repeat at @c due. */
void lx__request_lists_pause(lx__request_lists *lists, lx__request *request);

/** Lets the requests begin now whose pause is over. */
void lx__request_lists_end_pauses(lx__request_lists *lists, uint64_t now);

/** Returns when the next paused request is due; #LX__NEVER if none is paused. */
uint64_t lx__request_lists_get_due(const lx__request_lists *lists);

/** Returns the request to begin next, or NULL. It stays in its list. */
lx__request *lx__request_lists_get_next(const lx__request_lists *lists);

/** Removes a request that may begin now. */
void lx__request_lists_remove(lx__request_lists *lists, lx__request *request);

/** Removes and returns any request; NULL if there is none. */
lx__request *lx__request_lists_pop(lx__request_lists *lists);

/** Makes a request urgent, in whichever list it is, if any. */
void lx__request_lists_hurry(lx__request_lists *lists, lx__request *request);

#endif
