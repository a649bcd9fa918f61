/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Anonymous memory in whole pages, obtained directly from the system, for batches and large
 * arrays.
 */
#ifndef LX_BASE_PAGES_H
#define LX_BASE_PAGES_H

#include <stddef.h>

#include <loaderx/export.h>

/** Allocates @p size zeroed bytes, aligned to a page; large blocks are aligned to 2 MiB and advised
 * to use huge pages. Returns NULL when out of memory. */
LX_API void *lx__pages_alloc(size_t size);

/** Requests huge pages for large anonymous memory. A failed request affects only speed. */
void lx__pages_prefer_huge(void *memory, size_t size);

/** Unmaps memory from lx__pages_alloc(), which must have been called with the same @p size; NULL is
 * a no-op. */
LX_API void lx__pages_free(void *memory, size_t size);

#endif
