/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief LOCK: one writer of a dataset at a time, and the readers of each generation. See
 * doc/zrecord-format.md, 9.3 and 10.2.
 */
#ifndef LX_ZRECORD_LOCK_H
#define LX_ZRECORD_LOCK_H

#include "base/file.h"

/** The byte of LOCK that a writer locks, and that which readers of generation 0 share. */
#define LX__LOCK_WRITER 0
#define LX__LOCK_READERS 8192

/**
 * Takes the writer's lock on LOCK, made if need be, and writes this process's id into it.
 * @retval LX_ERR_BUSY  Another process has it; the error names it.
 */
lx_status lx__writer_lock(const lx__file *directory, lx__file *lock, lx_error *error);

/** Releases what was locked in LOCK, also where a child of fork() has the descriptor, and closes
 * it; does nothing if it is closed. */
void lx__writer_unlock(lx__file *lock);

/**
 * Takes the reader's lock of a generation. @p lock stays closed where LOCK is absent.
 * @retval LX_ERR_IO  LOCK cannot be locked, or was replaced again and again.
 */
lx_status lx__reader_lock(const lx__file *directory, uint64_t generation, lx__file *lock,
                          lx_error *error);

/** Finds a lock of readers of generations [@p first, @p end), and narrows these to its own. */
lx_status lx__reader_locks_find(const lx__file *lock, uint64_t *first, uint64_t *end, bool *present,
                                lx_error *error);

/** Whether readers hold the lock of a generation in [@p first, @p end). */
lx_status lx__reader_locks_present(const lx__file *lock, uint64_t first, uint64_t end,
                                   bool *present, lx_error *error);

#endif
