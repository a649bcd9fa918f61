/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A range of pages that is being fetched, and the readers that wait for it.
 */
#ifndef LX_REMOTE_PAGE_FETCH_H
#define LX_REMOTE_PAGE_FETCH_H

#include <pthread.h>

#include "remote/cache/page.h"
#include "remote/queue/request-queue.h"

struct lx__remote_file;

/** A reader that waits for bytes that begin in a fetch. */
typedef struct lx__waiter {
    struct lx__waiter *next;
    uint8_t *data; /**< Receives up to @ref size bytes from @ref offset on; NULL: none needed. */
    size_t size;
    uint64_t offset;
    pthread_cond_t done_condition;
    bool taken;     /**< The fetch has ended, and is copying the bytes. */
    bool done;      /**< All other members are valid. */
    bool elsewhere; /**< Another process is fetching the pages: look again soon. */
    size_t copied;  /**< 0 if the pages are in the cache now. */
    lx_status status;
    lx_error why;
} lx__waiter;

typedef struct lx__fetch {
    lx__request request; /**< Must be first: the struct is cast to and from it. */
    struct lx__fetch *before, *next;
    struct lx__remote_file *file;
    lx__pages pages;
    bool begun;        /**< It uses the file. */
    uint64_t reserved; /**< Number of bytes that are reserved in the cache. */
    bool claimed;      /**< The pages are claimed in the cache file. */
    bool impatient;    /**< Fetch the pages even if another process claims to be doing so. */
    bool skipped;      /**< Nothing was fetched: the pages are there, or will be. */
    bool elsewhere;    /**< Another process is fetching the pages. */
    bool marked;       /**< The pages are marked as wanted. */
    lx__waiter *waiters;
} lx__fetch;

/**
 * Begins to fetch absent pages that no other fetch wants. The caller holds the mutex of the place.
 *
 * @param size  The number of bytes; those of the pages, unless the file ends earlier or, if the
 *              length of the file is unknown, may end earlier.
 * @retval LX_ERR_IO  The system cannot start a thread.
 */
lx_status lx__fetch_start(struct lx__remote_file *file, lx__pages pages, uint64_t size, bool urgent,
                          bool impatient, lx__fetch **fetch, lx_error *error);

/** Waits until a fetch ends, or until lx__interrupted(). The caller holds the mutex, which is
 * released meanwhile. */
void lx__fetch_wait(lx__fetch *fetch, lx__waiter *waiter);

#endif
