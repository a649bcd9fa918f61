/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Copies of bytes between files, and from a file to itself.
 */
#ifndef LX_BASE_COPY_H
#define LX_BASE_COPY_H

#include "base/file.h"

/** Copies @p size bytes at @p offset of @p from to the same place of @p to, by the system's own
 * means where it has some: blocks may be shared. LX_ERR_CORRUPT where @p from ends before. */
LX_API lx_status lx__file_copy(const lx__file *from, const lx__file *to, uint64_t offset,
                               uint64_t size, lx_error *error);

/** Reads bytes [start, end) and writes them to the same place, so that the next sync has them to
 * write: one that failed may have left them clean in the cache and absent on disk. */
LX_API lx_status lx__file_write_back(const lx__file *file, uint64_t start, uint64_t end,
                                     lx_error *error);

#endif
