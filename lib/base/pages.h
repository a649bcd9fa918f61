/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Anonymous memory in whole pages, straight from the system: for batches and large arrays.
 */
#ifndef LX_BASE_PAGES_H
#define LX_BASE_PAGES_H

#include <stddef.h>

#include <loaderx/export.h>

/** Memory of @p size bytes from the system, zeroed, aligned to a page (to 2 MiB and advised to be
 * of huge pages where it is large). NULL: out of memory. */
LX_API void *lx__pages_alloc(size_t size);

/** Asks for huge pages within memory that is anonymous and large. Advice that is refused costs
 * speed alone. */
void lx__pages_prefer_huge(void *memory, size_t size);

/** Returns what lx__pages_alloc() gave for the same @p size to the system; NULL is a no-op. */
LX_API void lx__pages_free(void *memory, size_t size);

#endif
