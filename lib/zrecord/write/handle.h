/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief How calls enter a writer: they take the mutex and check that the writer is usable.
 */
#ifndef LX_ZRECORD_HANDLE_H
#define LX_ZRECORD_HANDLE_H

#include "zrecord/write/writer.h"

/**
 * Takes the mutex for a call that adds operations or reads.
 * @retval LX_ERR_FORKED  The process is a child of fork(), and the thread that may hold the mutex
 *                        exists only in the parent.
 */
lx_status lx__writer_enter(lx_writer *writer, lx_error *error);

/** Like lx__writer_enter(), but also waits until no commit is in progress. */
lx_status lx__writer_enter_alone(lx_writer *writer, lx_error *error);

/** Releases the mutex. */
void lx__writer_leave(lx_writer *writer);

/** In a child of fork(): whether no thread of the parent was using the writer when it forked. */
bool lx__writer_is_at_rest(lx_writer *writer);

/** Fails because the dataset is sealed. */
lx_status lx__writer_fail_sealed(const lx_writer *writer, lx_error *error);

/** Fails if the writer accepts no operations because the dataset is sealed, or because the writer
 * is poisoned or needs a rollback. */
lx_status lx__writer_usable(lx_writer *writer, lx_error *error);

/** Called before anything is written: checks that LOCK is still linked. If a process has removed
 * LOCK, another writer can open the dataset, and both writers would lose data, so this writer is
 * poisoned. */
lx_status lx__writer_check_lock(lx_writer *writer, lx_error *error);

#endif
