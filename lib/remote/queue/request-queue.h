/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A queue of requests to a transport, and the threads that make them, each with its own
 * connection: ranges to read, and attempts of the caller's own, such as uploads.
 *
 * The queue starts threads as it needs them. It repeats failed attempts after random pauses whose
 * limit grows exponentially from 0.1 s to 20 s ("full jitter"), as long as its patience lasts. It
 * makes them less often when the server asks for that (pace.h). An urgent range that takes much
 * longer than others is read a second time; the first answer counts. The queue logs an outage
 * (outage.h).
 *
 * Requests that were begun and have failed count as connections in use, so that an outage is tried
 * with a few requests only; urgent requests begin nevertheless.
 *
 * A transport may fail to interrupt a read, for example of a file on a network file system that
 * does not answer. So the threads own what they read together with the queue, and closing does not
 * wait for such a thread. An attempt of the caller's own uses what the caller owns, so closing
 * waits for it.
 */
#ifndef LX_REMOTE_REQUEST_QUEUE_H
#define LX_REMOTE_REQUEST_QUEUE_H

#include "executor/list.h"
#include "remote/transport/transport.h"

/** A range to read, or something else to try. Its owner sets the first members, and keeps the
 * memory until @ref finish. */
typedef struct lx__request {
    const char *name; /**< The file, relative to the dataset. */
    uint64_t offset;
    size_t size;    /**< Of the range; otherwise, about how many bytes an attempt moves. */
    bool urgent;    /**< Somebody waits: it comes before requests that nobody waits for yet. */
    bool past_tier; /**< Read it from the server itself, not from a tier before it. */

    /**
     * Makes one attempt, on the connection of the calling thread and without a lock; NULL: reads
     * the range. An attempt is repeated as if it were a read, but never made a second time while it
     * is under way, and closing the queue waits until it returns: it must return once the transport
     * is interrupted. finish() gets no data. @ref name and @ref offset are not used.
     */
    lx_status (*attempt)(struct lx__request *self, lx__connection *connection, lx__answer *answer,
                         lx_error *error);

    /** Called on the thread that will make the attempts, once, before the first attempt. Returns
     * false if the range is not needed; finish() then gets #LX_ERR_CANCELED. */
    bool (*begin)(struct lx__request *self);
    /**
     * Called once, without a lock, on the thread of the last attempt or on the one that closes the
     * queue.
     * The request may be freed then. Must not close the queue.
     *
     * @param data    The bytes of the range, valid during the call; NULL on failure.
     * @param answer  The answer to the last attempt; NULL if there was none.
     * @param why     The failure; NULL on success. #LX_ERR_CANCELED: the queue was closed, or
     *                begin() has returned false.
     */
    void (*finish)(struct lx__request *self, lx_status status, const uint8_t *data,
                   const lx__answer *answer, const lx_error *why);

    /** @name Private to the queue */
    /** @{ */
    lx__link link;      /**< In one of the queue's lists, unless an attempt is under way. */
    uint64_t due;       /**< When the next attempt may begin. */
    uint64_t started;   /**< When the first attempt began; 0: none yet. */
    unsigned attempts;  /**< Attempts that were made. */
    unsigned under_way; /**< Attempts that are under way: at most 2. */
    bool ready;         /**< Whether it is in a list of requests to begin now. */
    bool again;         /**< Whether a second attempt began while the first was under way. */
    /** @} */
} lx__request;

typedef struct lx__request_queue lx__request_queue;

typedef struct lx__request_limits {
    unsigned connections; /**< The most threads; at least 1. */
    uint64_t patience_ns; /**< How long to repeat attempts for a request; 0: one attempt. */
} lx__request_limits;

/** What the queue has done since it was opened. */
typedef struct lx__request_counts {
    uint64_t requests;   /**< Attempts, including failed ones. */
    uint64_t bytes;      /**< Bytes of successful attempts. */
    uint64_t retries;    /**< Attempts that were made again. */
    uint64_t throttled;  /**< Answers that asked for fewer requests. */
    uint64_t tier_bytes; /**< How many of @ref bytes nodes of a tier have sent. */
    uint64_t waiting;    /**< Requests that were added and are not finished now. */
} lx__request_counts;

/** Opens a queue, which owns @p transport from then on, also if this fails. Starts no threads. */
lx_status lx__request_queue_open(lx__transport *transport, const lx__request_limits *limits,
                                 lx__request_queue **queue, lx_error *error);

/**
 * Adds a request. Never waits, and never calls finish(). A request that is added while the queue is
 * being closed is canceled.
 *
 * @retval LX_ERR_IO     The system cannot start the queue's first thread: the request is not added.
 * @retval LX_ERR_NOMEM  Likewise.
 */
lx_status lx__request_queue_add(lx__request_queue *queue, lx__request *request, lx_error *error);

/** Makes a request urgent. Does nothing once finish() was called, as long as the request's memory
 * is valid. */
void lx__request_queue_hurry(lx__request_queue *queue, lx__request *request);

void lx__request_queue_get_counts(lx__request_queue *queue, lx__request_counts *counts);

/** In a child of fork(): forgets the parent's threads, connections and requests, without calling
 * finish(). Their memory and descriptors stay allocated, because the parent's threads may have been
 * changing them. One thread may call this, before any other function of the child's. */
void lx__request_queue_take_over(lx__request_queue *queue);

/**
 * Cancels all requests, ends the threads, and frees the queue and its transport. Waits for
 * callbacks of requests, but not longer than 0.5 s for reads: a thread that still reads then
 * frees what it uses when it returns. The caller must not hold a lock that a callback takes.
 */
void lx__request_queue_close(lx__request_queue *queue);

#endif
