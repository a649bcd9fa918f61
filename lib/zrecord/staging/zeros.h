/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Zeros behind what is written to a file, for later bytes to be written over.
 *
 * To sync bytes that make a file longer, the file system has to write the file's new size and
 * place, too, in its journal; where zeros were written and synced before, it has only the bytes to
 * write. Where the zeros of a file end is kept by whoever appends to it; 0: there are none.
 */
#ifndef LX_ZRECORD_ZEROS_H
#define LX_ZRECORD_ZEROS_H

#include "base/file.h"

/**
 * Behind bytes at [@p start, @p end) that reach beyond the zeros there are, writes more of them, to
 * be synced with the bytes; at most about @p most, and none beyond @p limit. Nothing where the
 * bytes are so many that the journal takes no part of their time. Without room for zeros it goes on
 * as it was.
 */
void lx__zeros_extend(uint64_t *zeros_end, const lx__file *file, uint64_t start, uint64_t end,
                      uint64_t most, uint64_t limit);

/** Cuts the file off at @p end, and with it the zeros behind, if it can. */
void lx__zeros_cut(uint64_t *zeros_end, const lx__file *file, uint64_t end);

#endif
