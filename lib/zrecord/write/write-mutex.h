/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The mutex of a writer, which long operations release while they wait for the disk.
 */
#ifndef LX_ZRECORD_WRITE_MUTEX_H
#define LX_ZRECORD_WRITE_MUTEX_H

#include <pthread.h>
#include <stdbool.h>

typedef struct lx__write_mutex {
    pthread_mutex_t mutex; /**< Guards the flags below and the rest of the writer. */
    /** Signaled when a call or a commit that had released the mutex ends. */
    pthread_cond_t over;
    /** A call is waiting and has not added all of its operations yet. Until it has added them, no
     * other call may add operations, and no call may commit. */
    bool calling;
    /** A commit is syncing with the mutex released. Write buffers may be filled and flushed, but
     * not applied. */
    bool committing;
} lx__write_mutex;

void lx__write_mutex_init(lx__write_mutex *self);
void lx__write_mutex_destroy(lx__write_mutex *self);

/** Locks the mutex once no call is half-done and, if @p alone is set, no commit is half-done. */
void lx__write_mutex_lock(lx__write_mutex *self, bool alone);

/** Locks the mutex if it is free, even if a call or a commit is half-done. Never waits. */
bool lx__write_mutex_try_lock(lx__write_mutex *self);

void lx__write_mutex_unlock(lx__write_mutex *self);

/** Whether a call or a commit is half-done. The caller must hold the mutex. */
static inline bool lx__write_mutex_is_busy(const lx__write_mutex *self)
{
    return self->calling || self->committing;
}

/** Waits until a call or a commit ends. Other threads may lock the mutex in the meantime. */
void lx__write_mutex_wait(lx__write_mutex *self);

/** Waits until no commit is in progress. Used by calls whose operations must stay together. */
void lx__write_mutex_wait_for_commit(lx__write_mutex *self);

/** Begins a commit, which may release the mutex during syncs. No other commit may be in
 * progress. */
void lx__write_mutex_begin_commit(lx__write_mutex *self);
void lx__write_mutex_end_commit(lx__write_mutex *self);

#endif
