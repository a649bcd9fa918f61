/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Memory from the caller's allocator. A NULL result means that memory ran out or that the
 * size does not fit in a size_t.
 */
#ifndef LX_BASE_ALLOC_H
#define LX_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/hooks.h>

/** Allocates @p size uninitialized bytes, but at least one byte, so that NULL always means
 * failure. */
LX_API void *lx__alloc(size_t size);

/** Allocates @p count zeroed elements of @p size bytes; NULL if the product overflows. */
LX_API void *lx__alloc_array(size_t count, size_t size);

/** Resizes @p memory to @p count elements of @p size bytes; on failure, the memory is unchanged. */
LX_API void *lx__resize_array(void *memory, size_t count, size_t size);

/**
 * Makes room for the element at index @p used of a growing array, doubling its @p capacity if
 * necessary. Returns the array, which may have moved, or NULL with everything unchanged.
 */
LX_API void *lx__grow_array(void *memory, size_t used, size_t *capacity, size_t size);

/** Grows memory of @p capacity bytes to at least @p size bytes. When out of memory, returns false
 * and changes nothing. */
LX_API bool lx__reserve(uint8_t **memory, size_t *capacity, size_t size);

/** Copies @p text; release the copy with lx__free(). */
LX_API char *lx__strdup(const char *text);

/** Releases memory; NULL is a no-op. */
LX_API void lx__free(void *memory);

#endif
