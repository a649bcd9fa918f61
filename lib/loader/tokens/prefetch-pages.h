/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Prefetches memory that will be read soon.
 */
#ifndef LX_LOADER_PREFETCH_PAGES_H
#define LX_LOADER_PREFETCH_PAGES_H

#include <stdint.h>

/* Prefetches the first lines of each page: the hardware prefetcher does not predict jumps. */
#define LX__PREFETCH_PAGE 4096
#define LX__PREFETCH_LINE 64
#define LX__PREFETCH_LINES 4

/** Prefetches the start of each page of @p size bytes. */
static inline void lx__prefetch_pages(const uint8_t *data, uint64_t size)
{
    for (uint64_t page = 0; page < size; page += LX__PREFETCH_PAGE)
        for (uint64_t line = page;
             line < page + LX__PREFETCH_LINES * LX__PREFETCH_LINE && line < size;
             line += LX__PREFETCH_LINE)
            __builtin_prefetch(data + line);
}

#endif
