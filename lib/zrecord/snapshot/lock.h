/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The file LOCK, which admits one writer at a time and shows which generations have readers.
 * See doc/zrecord-format.md, 9.3 and 10.2.
 */
#ifndef LX_ZRECORD_LOCK_H
#define LX_ZRECORD_LOCK_H

#include "base/file.h"

/** The byte of LOCK that a writer locks, and the byte that readers of generation 0 lock. */
#define LX__LOCK_WRITER 0
#define LX__LOCK_READERS 8192

/**
 * Takes the writer's lock on LOCK, which is created if missing, and writes this process's id into
 * it.
 * @retval LX_ERR_BUSY  Another process holds the lock; the error names that process.
 */
lx_status lx__writer_lock(const lx__file *directory, lx__file *lock, lx_error *error);

/** Releases all locks held on LOCK, even if a child of fork() has inherited the descriptor, and
 * closes the file. Does nothing if the file is already closed. */
void lx__writer_unlock(lx__file *lock);

/**
 * Takes a reader's lock on a generation. @p lock stays closed if LOCK does not exist.
 * @retval LX_ERR_IO  LOCK cannot be locked, or was replaced during every attempt.
 */
lx_status lx__reader_lock(const lx__file *directory, uint64_t generation, lx__file *lock,
                          lx_error *error);

/** Looks for a reader's lock on generations [@p first, @p end). If it finds one, narrows the range
 * to the part that this lock covers. */
lx_status lx__reader_locks_find(const lx__file *lock, uint64_t *first, uint64_t *end, bool *present,
                                lx_error *error);

/** Whether readers have locked any generation in [@p first, @p end). */
lx_status lx__reader_locks_present(const lx__file *lock, uint64_t first, uint64_t end,
                                   bool *present, lx_error *error);

#endif
