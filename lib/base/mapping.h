/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Read-only mappings of files.
 */
#ifndef LX_BASE_MAPPING_H
#define LX_BASE_MAPPING_H

#include <stddef.h>
#include <stdint.h>

#include "base/file.h"

/**
 * A shared, read-only mapping of the first @ref size bytes of a file. The mapping may extend beyond
 * the end of the file: data that is appended later becomes visible in the mapping, but nothing
 * beyond the end of the file may be accessed until then. The file may be closed after mapping.
 * Reading beyond the end of a file that was truncated later, or reading a bad sector, raises
 * SIGBUS.
 */
typedef struct lx__mapping {
    const uint8_t *data; /**< NULL while nothing is mapped. */
    size_t size;
} lx__mapping;

/** The expected access pattern. */
typedef enum lx__advice {
    LX__ADVICE_RANDOM,     /**< No read-ahead: reading a 4 KiB record reads one page. */
    LX__ADVICE_SEQUENTIAL, /**< Read ahead, and drop pages after use. */
    LX__ADVICE_USUAL       /**< The system's default, for mixed access. */
} lx__advice;

/** Maps @p size bytes of @p file; for 0 bytes, the mapping is empty and its data is NULL. */
LX_API lx_status lx__mapping_open(lx__mapping *mapping, const lx__file *file, uint64_t size,
                                  lx__advice advice, lx_error *error);

/** Starts reading mapped bytes into the page cache, without waiting for them. */
LX_API void lx__mapping_will_need(const uint8_t *data, uint64_t size);

/** Unmaps the file; pointers into the mapping become invalid. */
LX_API void lx__mapping_close(lx__mapping *mapping);

#endif
