/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief How a call gets at a writer: it takes the mutex, and checks that the writer can be used.
 */
#ifndef LX_ZRECORD_HANDLE_H
#define LX_ZRECORD_HANDLE_H

#include "zrecord/write/writer.h"

/** Takes the mutex for a call that adds operations, or reads. In a child of fork() it fails, since
 * the thread that may hold the mutex exists only in the parent.
 * @retval LX_ERR_FORKED  This is a child of fork(). */
lx_status lx__writer_enter(lx_writer *writer, lx_error *error);

/** As lx__writer_enter(), and waits until no commit is under way either. */
lx_status lx__writer_enter_alone(lx_writer *writer, lx_error *error);

/** Releases the mutex. */
void lx__writer_leave(lx_writer *writer);

/** In a child of fork(): whether every thread of the parent had left the writer when it forked. */
bool lx__writer_is_at_rest(lx_writer *writer);

/** Fails because the dataset is sealed. */
lx_status lx__writer_fail_sealed(const lx_writer *writer, lx_error *error);

/** Fails if the writer accepts no operations: it is sealed, poisoned, or needs a rollback. */
lx_status lx__writer_usable(lx_writer *writer, lx_error *error);

/** Checks, before anything is written, that LOCK still has a name: a process that removes LOCK lets
 * another writer in, and what both write is lost. Without a name this writer is poisoned. */
lx_status lx__writer_check_lock(lx_writer *writer, lx_error *error);

#endif
