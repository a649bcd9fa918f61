/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What a file of one array says of itself, and the bytes of its elements.
 */
#ifndef LX_TOOLS_ARRAY_H
#define LX_TOOLS_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/zrecord.h>

/** An array whose first axis counts records. */
typedef struct array_header {
    lx_dtype dtype;
    bool big_endian; /**< In the file. */
    size_t ndim;     /**< Of a record: one less than the file's. */
    uint64_t shape[LX_MAX_NDIM];
    uint64_t length; /**< Records. */
    uint64_t size;   /**< Bytes a record, by array_measure(). */
} array_header;

/**
 * Takes the extents of all axes and works out length, shape and size.
 *
 * @retval LX_ERR_UNSUPPORTED  There is no axis, there are too many, or a record would have no bytes
 *                             or more than #LX_MAX_RECORD.
 * @retval LX_ERR_CORRUPT      So many bytes cannot be.
 */
lx_status array_measure(array_header *header, const uint64_t *extents, size_t count,
                        lx_error *error);

/** Turns the bytes of big-endian elements round, of each part of complex ones. */
void array_swap(const array_header *header, void *data, uint64_t records);

#endif
