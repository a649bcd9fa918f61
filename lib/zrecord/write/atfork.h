/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Children of fork() close their descriptors of LOCK: else a child that outlives a killed
 * parent would keep every other writer out.
 */
#ifndef LX_ZRECORD_ATFORK_H
#define LX_ZRECORD_ATFORK_H

#include "base/file.h"

/** The LOCK of a writer, in a list of the process. */
typedef struct lx__atfork {
    lx__file *lock;          /**< NULL while it is not in the list. */
    struct lx__atfork *next; /**< Under the mutex of atfork.c. */
} lx__atfork;

/** From here on, a child of fork() closes its descriptor of @p lock. */
void lx__atfork_add(lx__atfork *self, lx__file *lock);

/** Ends that, before the lock is closed; does nothing if it has not begun. */
void lx__atfork_remove(lx__atfork *self);

#endif
