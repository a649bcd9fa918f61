/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A queue of ranges to read through a transport, and the threads that read them, each with
 * its own connection.
 *
 * The queue starts threads as it needs them. It repeats failed attempts after pauses that grow
 * exponentially and are random (0.1 s to 20 s, full jitter), as long as its patience lasts; it
 * reads fewer ranges at a time when the server asks for that (additive increase, multiplicative
 * decrease). It logs an outage after 10 s, then every 60 s, and when it ends.
 */
#ifndef LX_REMOTE_REQUEST_QUEUE_H
#define LX_REMOTE_REQUEST_QUEUE_H

#include "remote/transport.h"

/** A range to read. Its owner sets the first members, and keeps the memory until @ref finish. */
typedef struct lx__request {
    const char *name; /**< The file, relative to the dataset. */
    uint64_t offset;
    size_t size;
    bool urgent; /**< Somebody waits: it comes before requests that nobody waits for yet. */

    /** Called on the thread that will read, once, before the first attempt. Returns false if the
     * range is not needed; finish() then gets #LX_ERR_CANCELED. */
    bool (*begin)(struct lx__request *self);
    /**
     * Called once, on the thread that has read or on the one that closes the queue. The request may
     * be freed then.
     *
     * @param data    The bytes, valid during the call; NULL on failure.
     * @param why     The failure; NULL on success.
     */
    void (*finish)(struct lx__request *self, lx_status status, const uint8_t *data,
                   const lx__answer *answer, const lx_error *why);

    /** @name Private to the queue */
    /** @{ */
    struct lx__request *before, *after;
    uint64_t due;     /**< When the next attempt may begin. */
    uint64_t started; /**< When the first attempt began; 0: none yet. */
    unsigned attempts;
    bool queued;
    /** @} */
} lx__request;

typedef struct lx__request_queue lx__request_queue;

typedef struct lx__request_limits {
    unsigned connections; /**< The most threads. */
    uint64_t patience_ns; /**< How long to repeat attempts for a range; 0: one attempt. */
} lx__request_limits;

/** What the queue has done since it was opened. */
typedef struct lx__request_counts {
    uint64_t requests;  /**< Attempts, including failed ones. */
    uint64_t bytes;     /**< Bytes of successful attempts. */
    uint64_t retries;   /**< Attempts that were made again. */
    uint64_t throttled; /**< Answers that asked for fewer requests. */
    uint64_t waiting;   /**< Requests in the queue now. */
} lx__request_counts;

/** Opens a queue, which owns @p transport from then on, also if this fails. Starts no threads. */
lx_status lx__request_queue_open(lx__transport *transport, const lx__request_limits *limits,
                                 lx__request_queue **queue, lx_error *error);

/** Adds a request; the queue never waits, and finish() is not called within this call. */
void lx__request_queue_add(lx__request_queue *queue, lx__request *request);

/** Makes a request urgent, if it is still in the queue. */
void lx__request_queue_hurry(lx__request_queue *queue, lx__request *request);

void lx__request_queue_get_counts(lx__request_queue *queue, lx__request_counts *counts);

/** In a child of fork(): forgets the parent's threads, connections and requests, without calling
 * finish(). One thread may call this. */
void lx__request_queue_take_over(lx__request_queue *queue);

/** Cancels all requests, ends the threads, and frees the queue and its transport. Takes at most as
 * long as one attempt that was interrupted. */
void lx__request_queue_close(lx__request_queue *queue);

#endif
