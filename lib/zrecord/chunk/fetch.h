/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Brings the bytes of extents of chunks, of a whole batch at once.
 *
 * There is one implementation for each way to the bytes: the mappings of a snapshot
 * (snapshot.h), and pread, below. Another one (io_uring, a remote store) implements the same call,
 * and may complete the extents of a batch in any order.
 */
#ifndef LX_ZRECORD_FETCH_H
#define LX_ZRECORD_FETCH_H

#include "zrecord/chunk/fd-cache.h"
#include "zrecord/chunk/payload.h"

/** Called once for each extent whose bytes have come. They are at @p data as long as this function
 * runs; those of a batch of one stay until the next fetch. */
typedef void lx__fetch_done(void *user, size_t which, const uint8_t *data);

/** A way to the bytes of chunks, for one thread at a time. */
typedef struct lx__fetcher lx__fetcher;
struct lx__fetcher {
    /** Fetches @p count extents, each of which lies in a chunk. Fails if one of them cannot be
     * read, after it has called @p done for all others. */
    lx_status (*fetch)(lx__fetcher *self, const lx__extent *extents, size_t count,
                       lx__fetch_done *done, void *user, lx_error *error);
};

/** Fetches the bytes of one extent, which stay until the next fetch. */
lx_status lx__fetch_one(lx__fetcher *fetcher, const lx__extent *extent, const uint8_t **data,
                        lx_error *error);

/** Reads extents by pread; neighbours in one call. */
typedef struct lx__pread {
    lx__fetcher fetcher; /**< First: the same address. */
    lx__fd_cache *cache;
    size_t ahead; /**< Bytes that are read at once while extents follow each other. */
    /** @name The bytes that were read last for extents that are wanted nowhere else */
    /** @{ */
    uint8_t *bytes;
    size_t capacity, size;
    uint32_t chunk; /**< Their chunk's id, */
    uint64_t start; /**< and where they begin in it. */
    /** @} */
} lx__pread;

void lx__pread_init(lx__pread *pread, lx__fd_cache *cache, size_t ahead);

/** Asks the system for an extent, which will be fetched soon. */
void lx__pread_advise(const lx__pread *pread, const lx__extent *extent);

/** Frees the memory. */
void lx__pread_end(lx__pread *pread);

#endif
