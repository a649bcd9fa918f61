/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A cache of file descriptors for the files of a dataset, which are mapped or read with
 * pread.
 *
 * A dataset may have more files than a process may have descriptors. The cache closes idle files
 * when too many are open or the system runs out of descriptors, and reopens them by name when they
 * are needed again. The names stay valid: while a reader's lock is held, the files of its
 * generation stay in place.
 *
 * A file may come from a provider (base/file.h) and then has no descriptor; the cache treats it
 * alike.
 */
#ifndef LX_ZRECORD_FD_CACHE_H
#define LX_ZRECORD_FD_CACHE_H

#include <pthread.h>

#include "base/file.h"

typedef enum lx__part { LX__PART_OFFSETS, LX__PART_CHECKS, LX__PART_CHUNK } lx__part;

/** The key of a file in the cache, and what is needed to open it. */
typedef struct lx__file_name {
    lx__part part;
    uint32_t number;     /**< Position of the field, or id of the chunk. */
    uint32_t generation; /**< For tables, the table generation. */
    uint64_t bytes;      /**< For chunks, the number of committed bytes: the file must not be
                              shorter. */
} lx__file_name;

/** Opens a file that is not in the cache.
 * @retval LX_ERR_CORRUPT  The file is missing or is a chunk that is too short. */
typedef lx_status lx__fd_open(void *user, const lx__file_name *name, lx__file *file,
                              lx_error *error);

/** An lx__fd_open for the chunks in a directory; @p user is the directory's lx__file. */
lx_status lx__fd_open_chunk(void *user, const lx__file_name *name, lx__file *file, lx_error *error);

typedef struct lx__open_file {
    lx__file file;
    lx__part part;
    uint32_t number;
    size_t users; /**< Guarded by the cache's mutex, like @c next. */
    struct lx__open_file *next;
} lx__open_file;

typedef struct lx__fd_cache {
    lx__fd_open *open;
    void *user;            /**< Passed to @ref open. */
    pthread_mutex_t mutex; /**< Guards the members below. A leaf lock. */
    lx__open_file *files;  /**< Most recently used first. */
    size_t count;
    size_t max; /**< Number of files to keep open; more may be open while they are in use. */
} lx__fd_cache;

/** Initializes an empty cache that keeps up to @p max files open; @p max must not be 0. */
void lx__fd_cache_init(lx__fd_cache *cache, size_t max, lx__fd_open *open, void *user);

/** Changes the number of files to keep open to @p max, which must not be 0. */
void lx__fd_cache_keep(lx__fd_cache *cache, size_t max);

/** Returns an open file, from the cache if possible. Release it with lx__fd_cache_release(). */
lx_status lx__fd_cache_take(lx__fd_cache *cache, const lx__file_name *name, lx__open_file **file,
                            lx_error *error);

/** Releases a file, which stays in the cache; NULL is a no-op. */
void lx__fd_cache_release(lx__fd_cache *cache, lx__open_file *file);

/** In a child of fork(): if another thread of the parent held the mutex, drops all files without
 * closing them, because the list may be inconsistent. */
void lx__fd_cache_take_over(lx__fd_cache *cache);

/** Closes all files, none of which may be in use. */
void lx__fd_cache_close(lx__fd_cache *cache);

#endif
