/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The ETag of each file that was read, so that a file that is replaced meanwhile is noticed.
 * Any thread may call these functions.
 */
#ifndef LX_REMOTE_ETAGS_H
#define LX_REMOTE_ETAGS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include <loaderx/status.h>

/** A table of names with open addressing. */
typedef struct lx__etags {
    pthread_mutex_t lock; /**< For the members below. */
    char **entries;       /**< Each is NULL or a name, its NUL, and its ETag. */
    size_t capacity;      /**< A power of two, or 0. */
    size_t used;
} lx__etags;

void lx__etags_open(lx__etags *self);
void lx__etags_close(lx__etags *self);

/** Copies the ETag of a file to @p etag, which has @p size bytes; "" if none is known. */
void lx__etags_get(lx__etags *self, const char *name, char *etag, size_t size);

/** Compares @p etag with that of the file, or stores it as the first. False: it is another.
 * When out of memory, it is not stored. */
bool lx__etags_check(lx__etags *self, const char *name, const char *etag);

#endif
