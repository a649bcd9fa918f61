/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The headers of .npy files.
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
 * A file of NumPy's format .npy (numpy.lib.format) is a header and the elements of one array.
 * @see lx_dataset_export_npy(), lx_error, lx_source_open()
 * @{
 */

/** The most bytes of a header of lx_npy_format_header(). */
#define LX_MAX_NPY_HEADER 2048

/**
 * Makes the header of an .npy file, version 1.0, for an array of records.
 *
 * @param[in]  field   A dense field.
 * @param[in]  length  The number of records.
 * @param[out] header  Receives the header.
 * @return Its size in bytes, a multiple of 64. In the file the records follow, little-endian, one
 *         after another.
 */
LX_API size_t lx_npy_format_header(const lx_field *field, uint64_t length,
                                   char header[LX_MAX_NPY_HEADER]);

/** The bytes of a file from which lx_npy_parse_header() finds how long the header is. */
#define LX_NPY_PREFIX 12

/** An array, as the header of its file describes it. */
typedef struct lx_npy_info {
    size_t header_size;              /**< Bytes of the header, after which the elements begin. */
    lx_dtype dtype;                  /**< The type of the elements. */
    bool big_endian;                 /**< Whether the elements are big-endian. */
    size_t ndim;                     /**< The number of axes. */
    uint64_t shape[LX_MAX_NDIM + 1]; /**< Their extents; the product may exceed the file. */
} lx_npy_info;

/**
 * Parses the header of an .npy file of version 1.0, 2.0 or 3.0. The array must be in C order or
 * have one axis, and be of an ::lx_dtype, in either byte order. The header may hold any bytes.
 *
 * @param[in]  data   The beginning of the file.
 * @param[in]  size   Bytes at @p data. A few tell a file of another kind, #LX_NPY_PREFIX the size of
 *                    the header.
 * @param[out] npy    Receives the array; on #LX_END only its header_size.
 * @param[out] error  Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The header is parsed.
 * @retval LX_END              @p data is a part of the header: call again with header_size bytes.
 * @retval LX_ERR_UNSUPPORTED  The file is not an .npy file, or holds an array that cannot be read;
 *                             the message says how to save it.
 * @retval LX_ERR_CORRUPT      The header is not as NumPy writes it.
 * @retval LX_ERR_ARGUMENT     A pointer is NULL.
 */
LX_API lx_status lx_npy_parse_header(const void *data, size_t size, lx_npy_info *npy,
                                     lx_error *error);

/** @} */

LX_END_DECLS

#endif
