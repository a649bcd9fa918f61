/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The mutex of a writer, and the long steps that release it while they wait for the disk.
 */
#ifndef LX_ZRECORD_WRITE_MUTEX_H
#define LX_ZRECORD_WRITE_MUTEX_H

#include <pthread.h>
#include <stdbool.h>

typedef struct lx__write_mutex {
    pthread_mutex_t mutex; /**< For the flags below, and for all of the writer. */
    pthread_cond_t over;   /**< A call or a commit that had released the mutex is over. */
    bool calling;          /**< A call waits before it has added all its operations: no other call
                                may add any, or commit. */
    bool committing;       /**< A commit syncs with the mutex released: write buffers may be filled
                                and flushed, but not applied. */
} lx__write_mutex;

void lx__write_mutex_init(lx__write_mutex *self);
void lx__write_mutex_destroy(lx__write_mutex *self);

/** Locks it once no call, and if @p alone no commit, is half-done. */
void lx__write_mutex_lock(lx__write_mutex *self, bool alone);

/** Locks it if it is free, whatever is half-done. It never waits. */
bool lx__write_mutex_try_lock(lx__write_mutex *self);

void lx__write_mutex_unlock(lx__write_mutex *self);

/** Locked: whether a call or a commit is half-done. */
static inline bool lx__write_mutex_is_busy(const lx__write_mutex *self)
{
    return self->calling || self->committing;
}

/** Locked: waits until a call or a commit is over; other threads lock it meanwhile. */
void lx__write_mutex_wait(lx__write_mutex *self);

/** Locked: waits until no commit is under way, for a call that must not be mixed with others. */
void lx__write_mutex_wait_for_commit(lx__write_mutex *self);

/** Locked, with no commit under way: begins one, which may unlock it during syncs. */
void lx__write_mutex_begin_commit(lx__write_mutex *self);
void lx__write_mutex_end_commit(lx__write_mutex *self);

#endif
