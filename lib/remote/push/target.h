/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The URL that a push or a prune changes: requests for its files, and calls that wait for
 * them. One thread uses a target.
 *
 * While a call waits, it calls @c check every 50 ms. If that fails, all requests are canceled, and
 * every later call fails with #LX_ERR_CANCELED.
 */
#ifndef LX_REMOTE_TARGET_H
#define LX_REMOTE_TARGET_H

#include <pthread.h>

#include "remote/queue/request-queue.h"
#include "remote/transport/transport-writing.h"

typedef struct lx__target {
    lx__transport *transport; /**< Owned by the queue. */
    const lx__transport_writing *writing;
    lx__request_queue *queue; /**< NULL: canceled. */
    unsigned connections;
    lx_status (*check)(void *user, lx_error *error); /**< NULL: nothing cancels. */
    void *user;
    pthread_mutex_t lock;   /**< Guards @ref news, and @c done of all jobs. */
    pthread_cond_t changed; /**< Signaled with @ref news. */
    bool news;              /**< A job is done since the last lx__target_wait(). */
} lx__target;

/** A request, as the first member of a struct with what its attempts need. The others are set once
 * @ref done is. */
typedef struct lx__job {
    lx__request request; /**< Must be first. */
    lx__target *target;
    bool done;
    lx_status status;
    lx_error why;
} lx__job;

/** An attempt; see lx__request. */
typedef lx_status lx__attempt(lx__request *request, lx__connection *connection, lx__answer *answer,
                              lx_error *error);

/**
 * Opens a target. Waits for nothing.
 *
 * @param transport  Owned, also on failure.
 * @retval LX_ERR_UNSUPPORTED  The transport can only read.
 */
lx_status lx__target_open(lx__target *target, lx__transport *transport,
                          const lx__request_limits *limits, lx_error *error);
/** Cancels all requests, and closes the target; does nothing if it is zeroed. */
void lx__target_close(lx__target *target);

/** @name Jobs of the caller */
/** @{ */
/** Starts a job, which moves about @p size bytes. It must stay where it is until it is done. */
lx_status lx__target_start(lx__target *target, lx__job *job, lx__attempt *attempt, size_t size,
                           lx_error *error);
/** Whether a job is done. */
bool lx__target_is_done(lx__target *target, const lx__job *job);
/** Asks whether the call was canceled.
 * @return What check() returns. If that is a failure, all jobs are done. */
lx_status lx__target_check(lx__target *target, lx_error *error);
/** Waits until a job may be done; then calls lx__target_check(). */
lx_status lx__target_wait(lx__target *target, lx_error *error);
/** Cancels all requests: then all jobs are done. */
void lx__target_cancel(lx__target *target);
/** Starts a job, and waits until it is done. */
lx_status lx__target_run(lx__target *target, lx__job *job, lx__attempt *attempt, lx_error *error);
/** @} */

/** @name Small requests, for which they wait; @p name is relative to the URL */
/** @{ */
/**
 * Reads a whole file of at most @p limit bytes.
 *
 * @param[out] data  Receives the bytes and a NUL; release it with lx__free().
 * @param[out] info  Describes the file. If it is replaced at the same time, @p data may be newer.
 * @retval LX_ERR_NOT_FOUND  There is no such file.
 * @retval LX_ERR_CORRUPT    It has more bytes.
 */
lx_status lx__target_read(lx__target *target, const char *name, size_t limit, char **data,
                          lx__remote_info *info, lx_error *error);
/** See lx__transport_writing for these. */
lx_status lx__target_put(lx__target *target, const char *name, const char *data, size_t size,
                         lx__precondition precondition, const char *etag, lx_error *error);
lx_status lx__target_remove(lx__target *target, const char *name, lx_error *error);
/** @p visit is called on another thread, while this call waits. */
lx_status lx__target_list(lx__target *target, lx__visit_remote *visit, void *user, lx_error *error);
lx_status lx__target_abandon_all(lx__target *target, uint64_t before, lx__is_ours *is_ours,
                                 const void *user, lx_error *error);
/** @} */

#endif
