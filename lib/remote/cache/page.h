/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Pages: the unit in which fetched bytes are kept. A page that is at the end of its file may
 * be shorter.
 *
 * Small pages let an order read blocks of records of any size: two blocks that meet share one page,
 * which both fetch. With 4 KiB, that is 0.4 % of a block of 1 MiB.
 */
#ifndef LX_REMOTE_PAGE_H
#define LX_REMOTE_PAGE_H

#include <stdint.h>

#define LX__PAGE_BYTES ((uint64_t)4096)

/** A range of pages of a file. */
typedef struct lx__pages {
    uint64_t first, count;
} lx__pages;

/** Returns the pages that contain @p size bytes at @p offset, @p size not being 0. */
static inline lx__pages lx__pages_of(uint64_t offset, uint64_t size)
{
    uint64_t first = offset / LX__PAGE_BYTES;
    return (lx__pages){first, (offset + size - 1) / LX__PAGE_BYTES - first + 1};
}

#endif
