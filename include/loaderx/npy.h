/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reading and writing the headers of .npy files.
 */
#ifndef LOADERX_NPY_H
#define LOADERX_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/schema.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_npy_info Read and write headers of .npy files
 *
 * A file in NumPy's .npy format (numpy.lib.format) consists of a header and the elements of one
 * array.
 * @see lx_dataset_export_npy(), lx_error, lx_source_open()
 * @{
 */

/** The maximum size, in bytes, of a header that lx_npy_format_header() writes. */
#define LX_MAX_NPY_HEADER 2048

/**
 * Formats the header of a version 1.0 .npy file for an array of records. For bfloat16 and float8,
 * the header says that elements are V2 or V1, as NumPy writes it for ml_dtypes: after numpy.load(),
 * view the array as the type.
 *
 * @param[in]  field   A dense field.
 * @param[in]  length  The number of records.
 * @param[out] header  Receives the header.
 * @return The size of the header in bytes, a multiple of 64. In the file, the records follow the
 *         header one after another, in little-endian byte order.
 */
LX_API size_t lx_npy_format_header(const lx_field *field, uint64_t length,
                                   char header[LX_MAX_NPY_HEADER]);

/** The number of bytes that lx_npy_parse_header() needs to determine the size of the header. */
#define LX_NPY_PREFIX 12

/** An array, as described by the header of its file. */
typedef struct lx_npy_info {
    size_t header_size;              /**< The size of the header in bytes; the elements follow
                                          it. */
    lx_dtype dtype;                  /**< The type of the elements. */
    bool big_endian;                 /**< Whether the elements are big-endian. */
    size_t ndim;                     /**< The number of axes. */
    uint64_t shape[LX_MAX_NDIM + 1]; /**< The extents of the axes, as the header states them; their
                                          product may exceed the file size. */
} lx_npy_info;

/**
 * Parses the header of an .npy file of version 1.0, 2.0 or 3.0. The array must be in C order or
 * have one axis, and its type must be an ::lx_dtype other than bfloat16 and float8, in either byte
 * order. The header need not come
 * from a trusted source: it may contain any bytes.
 *
 * @param[in]  data   The beginning of the file.
 * @param[in]  size   The number of bytes at @p data. A few bytes are enough to recognize a file
 *                    that is not an .npy file; #LX_NPY_PREFIX bytes are enough to find the size of
 *                    the header.
 * @param[out] npy    Receives the description of the array; on #LX_END, only header_size is set.
 * @param[out] error  Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The header was parsed.
 * @retval LX_END              @p data contains only part of the header: call the function again
 *                             with header_size bytes.
 * @retval LX_ERR_UNSUPPORTED  The file is not an .npy file, or contains an array that cannot be
 *                             read; the message says how to save the array instead.
 * @retval LX_ERR_CORRUPT      The header does not have the form that NumPy writes.
 * @retval LX_ERR_ARGUMENT     A pointer is NULL.
 */
LX_API lx_status lx_npy_parse_header(const void *data, size_t size, lx_npy_info *npy,
                                     lx_error *error);

/** @} */

LX_END_DECLS

#endif
