/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Immutable, reference-counted arrays.
 */
#ifndef LX_ZRECORD_SHARED_ARRAY_H
#define LX_ZRECORD_SHARED_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/** Allocates @p count zeroed elements of @p size bytes each, with one reference. Returns NULL when
 * out of memory. */
void *lx__shared_new(size_t count, size_t size);

/** Adds a reference and returns @p memory, which may be NULL. */
void *lx__shared_ref(void *memory);

/** Releases a reference; the last one frees the memory. NULL is a no-op. */
void lx__shared_unref(void *memory);

/** Whether the caller has the only reference and may therefore change the memory. */
bool lx__shared_is_own(const void *memory);

#endif
