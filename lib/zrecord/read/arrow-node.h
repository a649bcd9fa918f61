/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Arrow structs that own their memory, and release it as Arrow specifies.
 *
 * A consumer may move a child out of its parent, so each node owns its own memory.
 */
#ifndef LX_ZRECORD_ARROW_NODE_H
#define LX_ZRECORD_ARROW_NODE_H

#include <loaderx/arrow.h>

/** Makes a nullable type with @p count children, which are still released. */
lx_status lx__arrow_schema_make(struct ArrowSchema *schema, const char *format, const char *name,
                                size_t count, lx_error *error);

/** Makes an array with @p buffers buffers, which are NULL, and @p count children, which are still
 * released. */
lx_status lx__arrow_array_make(struct ArrowArray *array, uint64_t length, size_t buffers,
                               size_t count, lx_error *error);

/** Allocates a buffer of an array from lx__arrow_array_make(), aligned as Arrow recommends. Returns
 * it, or NULL when out of memory. */
void *lx__arrow_array_allocate(struct ArrowArray *array, size_t buffer, uint64_t size);

#endif
