/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Preallocates the WAL by writing zeros after the last frame; later frames overwrite the
 * zeros.
 *
 * When a file grows, each sync also has to write the file system's journal, for the new size and
 * the new blocks. Overwriting synced zeros avoids this. The caller stores the offset at which the
 * zeros end, or 0 if there are no zeros.
 */
#ifndef LX_ZRECORD_PREALLOCATE_H
#define LX_ZRECORD_PREALLOCATE_H

#include "base/file.h"

/** Writes more zeros if the frame at [@p start, @p end) went beyond @p zeros_end: about as many
 * bytes as the file already has, but at most @p most. The next sync makes the zeros durable
 * together with the frame. Writes no zeros if the frame is so long that the cost of journaling
 * hardly matters. If the disk is full, the WAL continues without zeros. */
void lx__preallocate(uint64_t *zeros_end, const lx__file *file, uint64_t start, uint64_t end,
                     uint64_t most);

/** Truncates the file to @p end, which removes the zeros. A failure is harmless, because later
 * frames overwrite the zeros. */
void lx__preallocate_trim(uint64_t *zeros_end, const lx__file *file, uint64_t end);

#endif
