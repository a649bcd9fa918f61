/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The header of a file that contains one array, and the byte order of the elements.
 */
#ifndef LX_TOOLS_ARRAY_H
#define LX_TOOLS_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/zrecord.h>

/** The header of an array whose first axis is the record axis. */
typedef struct array_header {
    lx_dtype dtype;
    bool big_endian; /**< Byte order in the file. */
    size_t ndim;     /**< Number of axes of a record: one less than in the file. */
    uint64_t shape[LX_MAX_NDIM];
    uint64_t length; /**< Number of records. */
    uint64_t size;   /**< Bytes per record, set by array_measure(). */
} array_header;

/**
 * Takes the extents of all axes and computes length, shape and size.
 *
 * @retval LX_ERR_UNSUPPORTED  The array has no axis or too many axes, or a record would have no
 *                             bytes or more than #LX_MAX_VALUE.
 * @retval LX_ERR_CORRUPT      The total size overflows.
 */
lx_status array_measure(array_header *header, const uint64_t *extents, size_t count,
                        lx_error *error);

/** Swaps the bytes of big-endian elements; in complex elements, those of each part separately. */
void array_swap(const array_header *header, void *data, uint64_t records);

#endif
