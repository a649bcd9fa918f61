/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Copies bytes between files, and from a file to itself.
 */
#ifndef LX_BASE_COPY_H
#define LX_BASE_COPY_H

#include "base/file.h"

/** Copies @p size bytes from offset @p source of @p from to offset @p target of @p to, within the
 * kernel where possible, so that the files may share blocks. Returns LX_ERR_CORRUPT if @p from ends
 * too early. */
LX_API lx_status lx__file_copy(const lx__file *from, uint64_t source, const lx__file *to,
                               uint64_t target, uint64_t size, lx_error *error);

/** Reads bytes [start, end) and writes them back to the same offset. This makes their pages dirty
 * again for the next sync: a failed sync may have left the pages clean in the cache even though
 * their data is not on disk. */
LX_API lx_status lx__file_write_back(const lx__file *file, uint64_t start, uint64_t end,
                                     lx_error *error);

#endif
