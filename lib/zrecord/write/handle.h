/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief How a call enters a writer: it takes the mutex and checks that the writer is usable.
 */
#ifndef LX_ZRECORD_HANDLE_H
#define LX_ZRECORD_HANDLE_H

#include "zrecord/write/writer.h"

/**
 * Takes the mutex for a call that adds operations, or reads.
 * @retval LX_ERR_FORKED  In a child of fork(): the thread that may hold the mutex exists only in
 *                        the parent.
 */
lx_status lx__writer_enter(lx_writer *writer, lx_error *error);

/** Like lx__writer_enter(), and also waits until no commit is in progress. */
lx_status lx__writer_enter_alone(lx_writer *writer, lx_error *error);

/** Releases the mutex. */
void lx__writer_leave(lx_writer *writer);

/** In a child of fork(): whether no thread of the parent was using the writer at the fork. */
bool lx__writer_is_at_rest(lx_writer *writer);

/** Returns the error that the dataset is sealed. */
lx_status lx__writer_fail_sealed(const lx_writer *writer, lx_error *error);

/** Fails if the writer accepts no operations because it is sealed, poisoned, or needs a
 * rollback. */
lx_status lx__writer_usable(lx_writer *writer, lx_error *error);

/** Called before anything is written: checks that LOCK still has a name. If a process removes LOCK,
 * another writer can open the dataset, and both would lose data: then this writer is poisoned. */
lx_status lx__writer_check_lock(lx_writer *writer, lx_error *error);

#endif
