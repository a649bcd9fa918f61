/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Memory that is read soon.
 */
#ifndef LX_LOADER_PREFETCH_PAGES_H
#define LX_LOADER_PREFETCH_PAGES_H

#include <stdint.h>

/* What lies apart from what was read before is fetched ahead: the first lines of each page, which
 * the processor does not see coming. */
#define LX__AHEAD_PAGE 4096
#define LX__AHEAD_LINE 64
#define LX__AHEAD_LINES 4

/** Fetches the beginning of each page's worth of @p size bytes. */
static inline void lx__ahead(const uint8_t *data, uint64_t size)
{
    for (uint64_t page = 0; page < size; page += LX__AHEAD_PAGE)
        for (uint64_t line = page;
             line < page + LX__AHEAD_LINES * LX__AHEAD_LINE && line < size; line += LX__AHEAD_LINE)
            __builtin_prefetch(data + line);
}

#endif
