/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Memory from the caller's allocator. NULL means that there is none left, or that the size
 * does not fit in a size_t.
 */
#ifndef LX_BASE_ALLOC_H
#define LX_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/hooks.h>

/** @p size bytes of any content; at least one byte is taken, so NULL always means failure. */
LX_API void *lx__alloc(size_t size);

/** @p count zeroed elements of @p size bytes, the product checked. */
LX_API void *lx__alloc_array(size_t count, size_t size);

/** Changes @p memory to @p count elements of @p size bytes; on failure it stays as it was. */
LX_API void *lx__resize_array(void *memory, size_t count, size_t size);

/**
 * Makes room for element @p used of a growing array, doubling its @p capacity. Returns the array,
 * moved or not, or NULL with everything as it was.
 */
LX_API void *lx__grow_array(void *memory, size_t used, size_t *capacity, size_t size);

/** Makes memory that has @p capacity have @p size bytes at least. False when out of memory; nothing
 * has changed then. */
LX_API bool lx__reserve(uint8_t **memory, size_t *capacity, size_t size);

/** A copy of @p text, to be released with lx__free(). */
LX_API char *lx__strdup(const char *text);

/** Gives memory back; NULL is nothing. */
LX_API void lx__free(void *memory);

#endif
