/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Preallocates the WAL: writes zeros after the last frame, which later frames overwrite.
 *
 * If a file grows, each sync also writes the journal of the file system, for the new size and the
 * new blocks. Bytes that overwrite synced zeros need no journal. The caller stores the offset at
 * which the zeros end; 0 if there are none.
 */
#ifndef LX_ZRECORD_PREALLOCATE_H
#define LX_ZRECORD_PREALLOCATE_H

#include "base/file.h"

/** Writes more zeros if the frame at [@p start, @p end) reached beyond @p zeros_end: about as many
 * as the file has bytes, at most @p most. The next sync makes them durable together with the frame.
 * Writes none if the frame is so long that its journal costs little in comparison. If the disk is
 * full, the WAL continues without zeros. */
void lx__preallocate(uint64_t *zeros_end, const lx__file *file, uint64_t start, uint64_t end,
                     uint64_t most);

/** Truncates the file to @p end, which removes the zeros. A failure is harmless: later frames
 * overwrite them. */
void lx__preallocate_trim(uint64_t *zeros_end, const lx__file *file, uint64_t end);

#endif
