/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A dataset elsewhere: the queue through which its files are read, and what keeps the bytes
 * that were fetched.
 *
 * There are three keepers of pages. The *cache* keeps pages on a local disk, as many as its bound
 * admits. Pages of chunks that it does not admit pass through the *ring*, in memory. Pages of all
 * other files stay in memory, in the file itself (remote-file.h).
 */
#ifndef LX_REMOTE_PLACE_H
#define LX_REMOTE_PLACE_H

#include <pthread.h>
#include <stdatomic.h>

#include <loaderx/remote.h>

#include "base/process.h"
#include "executor/list.h"
#include "remote/cache/cache.h"
#include "remote/cache/page-ring.h"
#include "remote/queue/request-queue.h"

/** The number of lists of files in a place. */
#define LX__PLACE_LISTS 4096

/** Counts for lx_remote_stats. */
typedef struct lx__place_counts {
    _Atomic uint64_t cached_bytes, stored_bytes, wait_ns;
} lx__place_counts;

typedef struct lx__place {
    atomic_size_t references;
    char *url; /**< Without credentials, for messages. */
    const char *network;
    uint64_t segment; /**< Fetches do not cross multiples of so many bytes; 0: they may. */
    lx__request_queue *queue;
    lx__page_ring *ring;
    lx__cache *cache;    /**< NULL: none. */
    char tables[24];     /**< The folder of the cache for tables: those of one meta.json. */
    lx__process process; /**< The process that the mutex belongs to. */
    lx__place_counts counts;
    atomic_bool cache_failed; /**< A failure of the cache was logged. */

    pthread_mutex_t mutex; /**< Guards what follows, and the fetches of all files. */
    /** All that were opened, in lists by a hash of their names: a joined dataset can have tens of
     * thousands of chunks. They stay until the place is freed. */
    struct lx__remote_file *files[LX__PLACE_LISTS];
    uint32_t file_count;
    lx__link idle; /**< Files that nothing uses, but whose files in the cache are open. The first
                        has been idle for the longest time. */
    size_t idle_count, idle_max;
} lx__place;

/**
 * Makes a place, with one reference.
 *
 * @param transport     Owned, also on failure.
 * @param limits        Of the queue.
 * @param memory_bytes  Of the ring.
 */
lx_status lx__place_new(lx__transport *transport, const lx__request_limits *limits,
                        uint64_t memory_bytes, lx__place **place, lx_error *error);

/** Makes the place keep pages in @p cache, which it owns from then on. @p meta_crc is the CRC-32C
 * of meta.json. Call it before any file is opened that the cache is to keep. */
void lx__place_set_cache(lx__place *place, lx__cache *cache, uint32_t meta_crc);

lx__place *lx__place_ref(lx__place *place);
/** Drops a reference; the last one ends all requests. */
void lx__place_unref(lx__place *place);

/** Makes a place usable in a child of fork(), on the first call there. */
void lx__place_check_process(lx__place *place);

/** Finds a file by its name, relative to the dataset; makes it if it is new. */
lx_status lx__place_find_file(lx__place *place, const char *name, struct lx__remote_file **file,
                              lx_error *error);

void lx__place_get_stats(lx__place *place, lx_remote_stats *stats);

#endif
