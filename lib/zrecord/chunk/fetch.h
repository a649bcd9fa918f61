/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Fetches the bytes of extents in chunks, one batch at a time.
 *
 * There is one implementation per access mode: the mappings of a snapshot (snapshot.h), and pread
 * (below), which also reads files that come from a provider. Another implementation, for example
 * one that uses io_uring, would provide the same call and could complete the extents of a batch in
 * any order.
 */
#ifndef LX_ZRECORD_FETCH_H
#define LX_ZRECORD_FETCH_H

#include "zrecord/chunk/fd-cache.h"
#include "zrecord/chunk/payload.h"

/** Called once for each extent that was fetched; @p which is the position of the extent in the
 * batch. The bytes at @p data are valid until this function returns or, in a batch of one, until
 * the next fetch. */
typedef void lx__fetch_done(void *user, size_t which, const uint8_t *data);

/** Fetches extents; only one thread may use a fetcher at a time. */
typedef struct lx__fetcher lx__fetcher;
struct lx__fetcher {
    /** Fetches @p count extents, all of which must have a chunk. If some extents cannot be read,
     * calls @p done for all other extents and returns the first failure. If the files are
     * elsewhere, stops at the first extent that cannot be read. */
    lx_status (*fetch)(lx__fetcher *self, const lx__extent *extents, size_t count,
                       lx__fetch_done *done, void *user, lx_error *error);
};

/** Fetches one extent. The bytes at @p data are valid until the next fetch. */
lx_status lx__fetch_one(lx__fetcher *fetcher, const lx__extent *extent, const uint8_t **data,
                        lx_error *error);

/** Fetches extents with pread, reading neighboring extents with a single call. */
typedef struct lx__pread {
    lx__fetcher fetcher; /**< Must be first: the struct is cast to and from it. */
    lx__fd_cache *cache;
    size_t ahead;   /**< Number of bytes to read at once while reads are sequential. */
    bool elsewhere; /**< The files have providers, which wait long before they fail. */
    /** @name The bytes that were read last, for extents that have no destination */
    /** @{ */
    uint8_t *bytes;
    size_t capacity, size;
    uint32_t chunk; /**< Id of the chunk that the bytes are from. */
    uint64_t start; /**< Offset of the bytes in that chunk. */
    /** @} */
} lx__pread;

void lx__pread_init(lx__pread *pread, lx__fd_cache *cache, size_t ahead);

/** Asks the system to read an extent ahead of time, because it will be fetched soon. */
void lx__pread_advise(const lx__pread *pread, const lx__extent *extent);

/** Renews the copies of an extent that are on this machine; see lx__file_renew(). */
bool lx__pread_renew(lx__pread *pread, const lx__extent *extent);

void lx__pread_end(lx__pread *pread);

#endif
