/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Zeros after the last frame of the log, for later frames to overwrite.
 *
 * Bytes that make a file longer cost each sync a write of the file system's journal, for the new
 * size and the new blocks. Over zeros that an earlier sync has written, only the bytes themselves
 * are written. The caller keeps the offset at which the zeros end; 0: there are no zeros.
 */
#ifndef LX_ZRECORD_PREALLOCATE_H
#define LX_ZRECORD_PREALLOCATE_H

#include "base/file.h"

/**
 * After bytes at [@p start, @p end) that reach beyond @p zeros_end, writes more zeros, which the next
 * sync makes durable with the bytes: about as many as the file has bytes, at most @p most. Writes
 * nothing where the bytes are so many that the journal is a small part of their time. A disk that
 * is full is no failure: the log continues without zeros.
 */
void lx__preallocate(uint64_t *zeros_end, const lx__file *file, uint64_t start, uint64_t end,
                     uint64_t most);

/** Truncates the file to @p end, which removes the zeros. Zeros that stay after a failure are
 * harmless: later frames overwrite them. */
void lx__preallocate_trim(uint64_t *zeros_end, const lx__file *file, uint64_t end);

#endif
