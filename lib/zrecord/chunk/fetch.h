/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Fetches the bytes of extents of chunks, a batch at a time.
 *
 * Each access mode has an implementation: the mappings of a snapshot (snapshot.h), and pread
 * (below). Another one (io_uring, a remote store) would implement the same call, and could complete
 * the extents of a batch in any order.
 */
#ifndef LX_ZRECORD_FETCH_H
#define LX_ZRECORD_FETCH_H

#include "zrecord/chunk/fd-cache.h"
#include "zrecord/chunk/payload.h"

/** Called once for each extent that was fetched; @p which is its position in the batch. The bytes
 * at @p data are valid until this function returns; in a batch of one, until the next fetch. */
typedef void lx__fetch_done(void *user, size_t which, const uint8_t *data);

/** An implementation of fetches; only one thread may use it at a time. */
typedef struct lx__fetcher lx__fetcher;
struct lx__fetcher {
    /** Fetches @p count extents, all of which have a chunk. If some cannot be read, it calls
     * @p done for all others and returns the first failure. */
    lx_status (*fetch)(lx__fetcher *self, const lx__extent *extents, size_t count,
                       lx__fetch_done *done, void *user, lx_error *error);
};

/** Fetches one extent. The bytes at @p data are valid until the next fetch. */
lx_status lx__fetch_one(lx__fetcher *fetcher, const lx__extent *extent, const uint8_t **data,
                        lx_error *error);

/** Fetches extents by pread; one call reads neighbouring extents. */
typedef struct lx__pread {
    lx__fetcher fetcher; /**< Must be first: the struct is cast to and from it. */
    lx__fd_cache *cache;
    size_t ahead; /**< Bytes to read at once while reads are sequential. */
    /** @name The buffer for extents without a destination: the bytes that were read last */
    /** @{ */
    uint8_t *bytes;
    size_t capacity, size;
    uint32_t chunk; /**< Id of the chunk that the bytes come from. */
    uint64_t start; /**< Their offset in the chunk. */
    /** @} */
} lx__pread;

void lx__pread_init(lx__pread *pread, lx__fd_cache *cache, size_t ahead);

/** Asks the system to read an extent ahead, because it will be fetched soon. */
void lx__pread_advise(const lx__pread *pread, const lx__extent *extent);

void lx__pread_end(lx__pread *pread);

#endif
