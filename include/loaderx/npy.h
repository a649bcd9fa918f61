/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Headers of .npy files (NumPy's numpy.lib.format): an array is a header and its elements.
 */
#ifndef LOADERX_NPY_H
#define LOADERX_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/schema.h>

LX_BEGIN_DECLS

/** @defgroup lx_npy Read and write headers of .npy files
 * @{ */

/** Bytes in which each header of lx_npy_header() fits. */
#define LX_NPY_HEADER_MAX 2048

/**
 * Writes the header of an .npy file, version 1.0, for an array of records.
 *
 * @param[in]  field   A dense field.
 * @param[in]  length  Records.
 * @param[out] header  The header.
 * @return Its bytes, a multiple of 64. The records follow, little-endian, one after another.
 */
LX_API size_t lx_npy_header(const lx_field *field, uint64_t length,
                            char header[LX_NPY_HEADER_MAX]);

/** Bytes of a file that are enough for the first call of lx_npy_parse(). */
#define LX_NPY_START 12

/** An array, as the header of its file describes it. */
typedef struct lx_npy {
    size_t header_size; /**< Bytes of the header: the elements begin there. */
    lx_dtype dtype;     /**< Of an element. */
    bool big_endian;    /**< Whether elements are big-endian. */
    size_t ndim;        /**< Axes. */
    uint64_t shape[LX_NDIM_MAX + 1]; /**< Their extents; the product may be larger than the file. */
} lx_npy;

/**
 * Parses the header of an .npy file of version 1.0, 2.0 or 3.0: C order, or one axis, and a dtype
 * of dtype.h in either byte order. The header may hold any bytes.
 *
 * @param[in]  data   The file from its beginning on.
 * @param[in]  size   Bytes of @p data: #LX_NPY_START at first.
 * @param[out] npy    The array. On #LX_END only its header_size is set.
 * @param[out] error  May be NULL.
 *
 * @retval LX_END              @p data is a part of the header, which has header_size bytes: call
 *                             again with all of them.
 * @retval LX_ERR_UNSUPPORTED  It is no .npy file, or an array that cannot be read; the message says
 *                             how to save it.
 * @retval LX_ERR_CORRUPT      The header is not as NumPy writes it.
 */
LX_API lx_status lx_npy_parse(const void *data, size_t size, lx_npy *npy, lx_error *error);

/** @} */

LX_END_DECLS

#endif
