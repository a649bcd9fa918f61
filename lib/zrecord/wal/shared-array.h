/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Arrays that several owners share and none of them changes: counted memory.
 */
#ifndef LX_ZRECORD_SHARED_ARRAY_H
#define LX_ZRECORD_SHARED_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/** @p count zeroed elements of @p size bytes with one reference; NULL when out of memory. */
void *lx__shared_new(size_t count, size_t size);

/** Another reference to @p memory, which is returned; NULL is nothing. */
void *lx__shared_ref(void *memory);

/** Gives up a reference; the last one frees the memory. NULL is nothing. */
void lx__shared_unref(void *memory);

/** Whether nobody else has a reference, so that the caller may change the memory. */
bool lx__shared_is_own(const void *memory);

#endif
