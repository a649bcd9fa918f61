/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A file of a dataset elsewhere: its length, the pages of it that are here, and the fetches
 * of others. remote-read.h reads it.
 *
 * A page is absent, wanted (part of a fetch), or kept. Only one fetch at a time wants a page.
 * Readers that need a wanted page wait for its fetch, which copies the bytes to them directly: a
 * page may leave the ring again before they wake up.
 */
#ifndef LX_REMOTE_FILE_H
#define LX_REMOTE_FILE_H

#include "remote/page-fetch.h"
#include "remote/place.h"

typedef struct lx__remote_file {
    lx__place *place; /**< Borrowed: the place owns its files. */
    struct lx__remote_file *next;
    char *name;      /**< Relative to the dataset. */
    char *path;      /**< With the URL, for messages. */
    uint32_t number; /**< In the ring. */
    bool is_chunk;

    atomic_bool doubtful;  /**< Bytes of it were wrong: a tier may have damaged them. */
    _Atomic uint64_t size; /**< LX_NONE: unknown. */
    /** The file in the cache; NULL: the cache does not keep this file, or nothing uses it. */
    _Atomic(lx__cache_file *) cached;
    /** @name Pages in memory; NULL in a file that has none */
    /** @{ */
    _Atomic(uint8_t *) memory;
    _Atomic(_Atomic uint64_t *) kept; /**< A bit for each page in @ref memory. */
    pthread_rwlock_t lock; /**< Guards @ref memory: renewed pages change while others are read. */
    /** @} */

    /** @name Guarded by the mutex of the place */
    /** @{ */
    bool exact;       /**< @ref size is what meta.json or LOG tells, and must be right. */
    bool is_cached;   /**< The cache may keep it. */
    uint32_t users;   /**< Readers that have it open, and fetches that have begun. */
    lx__link idle;    /**< In the list of the place, if there are no users and @ref cached is not
                           NULL. */
    uint64_t *wanted; /**< A bit for each page that a fetch wants. */
    lx__fetch *fetches;
    /** @} */
} lx__remote_file;

lx_status lx__remote_file_new(lx__place *place, const char *name, lx__remote_file **file,
                              lx_error *error);
void lx__remote_file_free(lx__remote_file *file);

/** @name Users
 * Without users, the file in the cache may be closed: a dataset may have more files than a process
 * may have descriptors. After fork(), the parent's fetches stay users: a few files stay open. */
/** @{ */
void lx__remote_file_use(lx__remote_file *file);
void lx__remote_file_leave(lx__remote_file *file);
/** @} */

/** @name Lengths */
/** @{ */
/** Fails because the file has @p total bytes, not the @p expected ones. */
lx_status lx__remote_file_fail_size(const lx__remote_file *file, uint64_t total, uint64_t expected,
                                    lx_error *error);
/** Checks an answer against the length of the file, or learns the length from it.
 * @retval LX_ERR_CORRUPT  The file does not have its committed length.
 * @retval LX_ERR_IO       The answer does not tell the length, which is unknown, or it does not
 *                         have the bytes up to the end of the range or of the file. */
lx_status lx__remote_file_check_answer(lx__remote_file *file, const lx__request *request,
                                       const lx__answer *answer, lx_error *error);
/** Sets a length that was unknown, after which the cache can keep the file. The caller holds the
 * mutex of the place. */
void lx__remote_file_set_size(lx__remote_file *file, uint64_t size, bool exact);
/** @} */

/** @name Fetches; the caller holds the mutex of the place */
/** @{ */
/** Adds a fetch and marks its pages as wanted. */
lx_status lx__remote_file_want(lx__remote_file *file, lx__fetch *fetch, lx_error *error);
/** Removes a fetch; its pages are no longer wanted. */
void lx__remote_file_forget(lx__remote_file *file, lx__fetch *fetch);
/** Returns the fetch that wants a page, or NULL. */
lx__fetch *lx__remote_file_find_fetch(const lx__remote_file *file, uint64_t page);
/** @} */

/** @name Pages that are here: in the cache, in memory or in the ring */
/** @{ */
/** Keeps pages in memory. */
lx_status lx__remote_file_keep(lx__remote_file *file, uint64_t first, const uint8_t *data,
                               size_t size, lx_error *error);
/** Returns how many of the pages, from the first, are here. */
uint64_t lx__remote_file_count_here(const lx__remote_file *file, lx__pages pages);
/** Copies the bytes that are here, up to the first that is not; returns their number. */
size_t lx__remote_file_copy_here(lx__remote_file *file, uint8_t *data, size_t size,
                                 uint64_t offset);
/** Drops pages. */
void lx__remote_file_drop(lx__remote_file *file, lx__pages pages);
/** @} */

/** Logs once that the cache of the place cannot be used. */
void lx__remote_file_report_cache(const lx__remote_file *file, const lx_error *why);

/** In a child of fork(): forgets fetches. */
void lx__remote_file_take_over(lx__remote_file *file);

#endif
