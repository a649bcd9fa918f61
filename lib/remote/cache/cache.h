/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A directory with copies of parts of datasets that are elsewhere, which any number of
 * processes of one user share.
 *
 *     <cache>/state             the bytes that are reserved, and the number of the boot
 *                               (cache-state.h)
 *     <cache>/<uuid>/use        each process that has the dataset open holds a shared lock on it;
 *                               its time is when the dataset was opened last (cache-datasets.h)
 *     <cache>/<uuid>/origin     the URL of the dataset, for people
 *     <cache>/<uuid>/chunk/...  and tables.<crc>/...: cache files (cache-file.h)
 *     <cache>/.gone-<uuid>/     a dataset that is being removed
 *
 * The cache is bounded: bytes are reserved before they are written. What was admitted stays while
 * its dataset is in use, because in epochs that visit each record once no other policy has more
 * hits. When the cache is full, datasets that no process has open are removed, the one that was
 * used least recently first; if there are none, nothing more is admitted. The cache also leaves
 * 5 % of the file system free.
 *
 * Symbolic links in the cache are never followed. After lx__cache_use(), any thread may call any
 * function at any time, except lx__cache_take_over() and lx__cache_close(). A child of fork() that
 * does not call lx__cache_take_over() keeps its parent's locks until it ends.
 */
#ifndef LX_REMOTE_CACHE_H
#define LX_REMOTE_CACHE_H

#include "remote/cache/cache-file.h"

typedef struct lx__cache lx__cache;

/**
 * Opens the cache at @p path and makes it if it is absent; its mode is 0700. Its parent must exist.
 *
 * @param limit  The most bytes in the cache; LX_NONE: only the space on the disk limits it.
 *               Processes may give different limits; each keeps its own.
 * @retval LX_ERR_STATE        The directory belongs to another user, others may write to it, or it
 *                             contains other files.
 * @retval LX_ERR_NOT_FOUND    The parent does not exist.
 * @retval LX_ERR_BUSY         Another process has kept the state locked for several seconds, and
 *                             this process cannot do without it.
 * @retval LX_ERR_CORRUPT      The state is damaged while other processes use the cache, or there
 *                             are links in place of files.
 * @retval LX_ERR_UNSUPPORTED  Another release of this library has made the cache.
 */
lx_status lx__cache_open(const char *path, uint64_t limit, lx__cache **cache, lx_error *error);

/**
 * Opens the part of the cache for one dataset, and keeps it from being removed. Call this once.
 *
 * @param uuid    The dataset's, as text in lower case.
 * @param url     Where it is, without credentials.
 * @param needed  The least number of bytes that must fit: those of the tables.
 * @retval LX_ERR_LIMIT  @p needed is more than the limit; the error tells both.
 * @retval LX_ERR_BUSY   Another process has kept the dataset locked for several seconds.
 */
lx_status lx__cache_use(lx__cache *cache, const char *uuid, const char *url, uint64_t needed,
                        lx_error *error);

/** Returns the number of this boot, for lx__cache_file_open(). */
uint16_t lx__cache_get_boot(const lx__cache *cache);

/** Opens the cache file @p name in the folder @p folder of the dataset, which is made if absent.
 * Fails as lx__cache_file_open() does. */
lx_status lx__cache_open_file(lx__cache *cache, const char *folder, const char *name, uint64_t size,
                              lx__cache_file **file, lx_error *error);

/**
 * Reserves @p bytes; false: the cache is full.
 *
 * Removes datasets that no process has open if that makes room, which can take long; other threads
 * and processes are not admitted during that time, but do not wait. After a search in vain, this
 * process searches again after 5 seconds at the earliest.
 */
bool lx__cache_reserve(lx__cache *cache, uint64_t bytes);

/** Returns bytes that were reserved but not stored. */
void lx__cache_unreserve(lx__cache *cache, uint64_t bytes);

/** A dataset in the cache. */
typedef struct lx__cache_dataset {
    const char *uuid;
    const char *url;  /**< Empty if it is unknown; has no control characters. */
    uint64_t bytes;   /**< What its files occupy. */
    int64_t last_use; /**< When it was opened last, in seconds since 1970. */
    bool in_use;      /**< A process has it open. */
} lx__cache_dataset;

/** Called for each dataset; a failure ends the iteration. */
typedef lx_status (*lx__cache_visit)(void *user, const lx__cache_dataset *dataset, lx_error *error);

/** Calls @p visit for each dataset in the cache, the one that was used least recently first. */
lx_status lx__cache_each(lx__cache *cache, lx__cache_visit visit, void *user, lx_error *error);

/**
 * Removes a dataset from the cache.
 *
 * @retval LX_ERR_BUSY       A process has it open, or is removing datasets.
 * @retval LX_ERR_NOT_FOUND  The cache does not contain it.
 * @retval LX_ERR_ARGUMENT   @p uuid is not a uuid.
 */
lx_status lx__cache_remove(lx__cache *cache, const char *uuid, lx_error *error);

/**
 * Removes datasets that no process has open, the one that was used least recently first, until at
 * most @p bytes are reserved or there are no more such datasets.
 *
 * @retval LX_ERR_BUSY  Another process is removing datasets.
 */
lx_status lx__cache_trim(lx__cache *cache, uint64_t bytes, lx_error *error);

/** In a child of fork(): opens the files of @p cache again, so that its locks are its own. If that
 * is not possible, nothing is admitted from then on. */
void lx__cache_take_over(lx__cache *cache);

/** Closes the cache; its files may still be open. NULL is allowed. */
void lx__cache_close(lx__cache *cache);

#endif
