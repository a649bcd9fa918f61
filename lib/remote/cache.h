/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A directory with copies of parts of datasets that are elsewhere, which any number of
 * processes of one user share.
 *
 *     <cache>/state             the bytes that are reserved, and the number of the boot
 *     <cache>/<uuid>/use        each process that has the dataset open holds a shared lock on it
 *     <cache>/<uuid>/origin     the URL of the dataset, for people
 *     <cache>/<uuid>/chunk/...  and tables.<crc>/...: cache files (cache-file.h)
 *
 * The cache is bounded: bytes are reserved before they are written. What was admitted stays while
 * its dataset is in use, because in epochs that visit each record once no other policy has more
 * hits. When the cache is full, datasets that no process has open are removed, the one that was
 * used least recently first; if there are none, nothing more is admitted. The cache also leaves
 * 5 % of the file system free.
 */
#ifndef LX_REMOTE_CACHE_H
#define LX_REMOTE_CACHE_H

#include "remote/cache-file.h"

typedef struct lx__cache lx__cache;

/**
 * Opens the cache at @p path and makes it if it is absent; its mode is 0700.
 *
 * @param limit  The most bytes in the cache; LX_NONE: only the space on the disk limits it.
 *               Processes may give different limits; each keeps its own.
 * @retval LX_ERR_STATE  The directory belongs to another user, others may write to it, or it
 *                       contains other files.
 */
lx_status lx__cache_open(const char *path, uint64_t limit, lx__cache **cache, lx_error *error);

/**
 * Opens the part of the cache for one dataset, and keeps it from being removed.
 *
 * @param uuid    The dataset's, as text.
 * @param url     Where it is, without credentials.
 * @param needed  The least number of bytes that must fit: those of the tables.
 * @retval LX_ERR_LIMIT  @p needed is more than the limit; the error tells both.
 */
lx_status lx__cache_use(lx__cache *cache, const char *uuid, const char *url, uint64_t needed,
                        lx_error *error);

/** Returns the number of this boot, for lx__cache_file_open(). */
uint16_t lx__cache_get_boot(const lx__cache *cache);

/** Opens the cache file @p name in the folder @p folder of the dataset, which is made if absent. */
lx_status lx__cache_open_file(lx__cache *cache, const char *folder, const char *name, uint64_t size,
                              lx__cache_file **file, lx_error *error);

/** Reserves @p bytes; false: the cache is full. */
bool lx__cache_reserve(lx__cache *cache, uint64_t bytes);
/** Returns bytes that were reserved but not stored. */
void lx__cache_unreserve(lx__cache *cache, uint64_t bytes);

/** In a child of fork(): opens the files of @p cache again. */
void lx__cache_take_over(lx__cache *cache);

void lx__cache_close(lx__cache *cache);

#endif
