/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Closes the descriptors of LOCK in children of fork(). Otherwise, a child that outlives its
 * killed parent would keep the dataset locked.
 */
#ifndef LX_ZRECORD_ATFORK_H
#define LX_ZRECORD_ATFORK_H

#include "base/file.h"

/** The LOCK of one writer, as an item in a list of all writers of the process. */
typedef struct lx__atfork {
    lx__file *lock;          /**< NULL while this item is not in the list. */
    struct lx__atfork *next; /**< Guarded by the mutex in atfork.c. */
} lx__atfork;

/** Adds @p lock to the list. Children that are forked after this call will close it. */
void lx__atfork_add(lx__atfork *self, lx__file *lock);

/** Removes the item from the list; call this before closing the lock. Does nothing if the item is
 * not in the list. */
void lx__atfork_remove(lx__atfork *self);

#endif
