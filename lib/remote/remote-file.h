/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A file of a dataset elsewhere: reads its bytes from where they are kept, and fetches what
 * is not there.
 *
 * A page is absent, wanted (part of a fetch), or kept. Only one fetch at a time wants a page.
 * Readers that need a wanted page wait for its fetch, which copies the bytes to them directly: a
 * page may leave the ring again before they wake up.
 */
#ifndef LX_REMOTE_FILE_H
#define LX_REMOTE_FILE_H

#include "remote/fetch.h"
#include "remote/place.h"

typedef struct lx__remote_file {
    lx__place *place; /**< Borrowed: the place owns its files. */
    struct lx__remote_file *next;
    char *name;      /**< Relative to the dataset. */
    char *path;      /**< With the URL, for messages. */
    uint32_t number; /**< In the ring. */
    bool is_chunk;

    _Atomic uint64_t size;            /**< LX_NONE: unknown. */
    _Atomic(lx__cache_file *) cached; /**< NULL: the cache does not keep this file. */
    /** @name Pages in memory; NULL in a file that has none */
    /** @{ */
    _Atomic(uint8_t *) memory;
    _Atomic(_Atomic uint64_t *) kept; /**< A bit for each page in @ref memory. */
    pthread_rwlock_t lock; /**< Guards @ref memory: renewed pages change while others are read. */
    /** @} */

    /** @name Guarded by the mutex of the place */
    /** @{ */
    bool exact;       /**< @ref size is what meta.json or LOG tells, and must be right. */
    uint64_t *wanted; /**< A bit for each page that a fetch wants. */
    lx__fetch *fetches;
    /** @} */
} lx__remote_file;

lx_status lx__remote_file_new(lx__place *place, const char *name, lx__remote_file **file,
                              lx_error *error);
void lx__remote_file_free(lx__remote_file *file);

/** @name For fetches. The caller holds the mutex of the place, except for the last two */
/** @{ */
/** Adds a fetch and marks its pages as wanted. */
lx_status lx__remote_file_want(lx__remote_file *file, lx__fetch *fetch, lx_error *error);
/** Removes a fetch; its pages are no longer wanted. */
void lx__remote_file_forget(lx__remote_file *file, lx__fetch *fetch);
/** Checks an answer against the length of the file, or learns the length from it.
 * @retval LX_ERR_CORRUPT  The file does not have its committed length.
 * @retval LX_ERR_IO       The answer does not tell the length, which is unknown, or it does not
 *                         have the bytes up to the end of the range or of the file. */
lx_status lx__remote_file_check_answer(lx__remote_file *file, const lx__request *request,
                                       const lx__answer *answer, lx_error *error);
/** Keeps pages in memory. */
lx_status lx__remote_file_keep(lx__remote_file *file, uint64_t first, const uint8_t *data,
                               size_t size, lx_error *error);
/** @} */

/** In a child of fork(): forgets fetches. */
void lx__remote_file_take_over(lx__remote_file *file);

/** See lx__provider_class for these. */
lx_status lx__remote_file_get_size(lx__remote_file *file, uint64_t *size, lx_error *error);
lx_status lx__remote_file_expect_size(lx__remote_file *file, uint64_t size, bool exact,
                                      lx_error *error);
lx_status lx__remote_file_read(lx__remote_file *file, void *data, size_t size, uint64_t offset,
                               size_t *got, lx_error *error);
void lx__remote_file_will_need(lx__remote_file *file, uint64_t offset, uint64_t size);
bool lx__remote_file_is_absent(lx__remote_file *file, uint64_t offset);
bool lx__remote_file_renew(lx__remote_file *file, uint64_t offset, uint64_t size);

#endif
