/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The open files of a dataset that are read by pread or mapped: a few stay open.
 *
 * A dataset may have more files than a process may have descriptors. Files that are not in use are
 * closed when there are many, or when the system has no descriptors left, and opened again by their
 * names: as long as a reader's lock is held, the files of its generation stay where they are.
 *
 * Where a file comes from is the matter of lx__fd_open: a new place of chunks is a function of that
 * type, and the readers of this cache do not change.
 */
#ifndef LX_ZRECORD_FD_CACHE_H
#define LX_ZRECORD_FD_CACHE_H

#include <pthread.h>

#include "base/file.h"

typedef enum lx__part { LX__PART_OFFSETS, LX__PART_CHECKS, LX__PART_CHUNK } lx__part;

/** Which file. */
typedef struct lx__file_name {
    lx__part part;
    uint32_t number;     /**< Position of the field, or id of the chunk. */
    uint32_t generation; /**< Of a table. */
    uint64_t bytes;      /**< Of a chunk: the committed ones; it is opened with them present. */
} lx__file_name;

/** Opens a file that is not in the cache.
 * @retval LX_ERR_CORRUPT  It is absent, or a chunk that is too short. */
typedef lx_status lx__fd_open(void *user, const lx__file_name *name, lx__file *file,
                              lx_error *error);

/** The lx__fd_open of chunks in a directory: @p user is its lx__file. */
lx_status lx__fd_open_chunk(void *user, const lx__file_name *name, lx__file *file,
                            lx_error *error);

/** An open file. */
typedef struct lx__open_file {
    lx__file file;
    lx__part part;
    uint32_t number;
    size_t users; /**< Under the mutex of the cache, as the next one. */
    struct lx__open_file *next;
} lx__open_file;

typedef struct lx__fd_cache {
    lx__fd_open *open;
    void *user;            /**< For @ref open. */
    pthread_mutex_t mutex; /**< For all below. A leaf: nothing else is locked under it. */
    lx__open_file *files;  /**< The one that was used last comes first. */
    size_t count;
    size_t max; /**< So many stay open. */
} lx__fd_cache;

/** Starts an empty cache, which keeps @p max files open, at least one. */
void lx__fd_cache_init(lx__fd_cache *cache, size_t max, lx__fd_open *open, void *user);

/** Opens a file, or finds it open. Return it with lx__fd_cache_give(). */
lx_status lx__fd_cache_take(lx__fd_cache *cache, const lx__file_name *name, lx__open_file **file,
                            lx_error *error);

/** Returns a file; NULL is a no-op. */
void lx__fd_cache_give(lx__fd_cache *cache, lx__open_file *file);

/** In a child of fork(): forgets the files if a thread of the parent held the mutex. */
void lx__fd_cache_take_over(lx__fd_cache *cache);

/** Closes all. No file is in use. */
void lx__fd_cache_close(lx__fd_cache *cache);

#endif
