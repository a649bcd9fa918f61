/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Closes the descriptors of LOCK in children of fork(). Otherwise a child that outlives a
 * killed parent would keep the dataset locked.
 */
#ifndef LX_ZRECORD_ATFORK_H
#define LX_ZRECORD_ATFORK_H

#include "base/file.h"

/** The LOCK of one writer, in a list of all writers of the process. */
typedef struct lx__atfork {
    lx__file *lock;          /**< NULL while this is not in the list. */
    struct lx__atfork *next; /**< Under the mutex of atfork.c. */
} lx__atfork;

/** Adds @p lock to the list: children forked from now on close it. */
void lx__atfork_add(lx__atfork *self, lx__file *lock);

/** Removes it from the list, before the lock is closed. Does nothing if it is not in the list. */
void lx__atfork_remove(lx__atfork *self);

#endif
