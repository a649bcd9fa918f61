/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Formats of image files, and images in memory.
 */
#ifndef LOADERX_IMAGE_FORMAT_H
#define LOADERX_IMAGE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/export.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_image_format Images and their formats
 *
 * Any thread may call these functions.
 * @see loaderx(7)
 * @{
 */

/** A format of image files. */
typedef enum lx_image_format {
    LX_IMAGE_UNKNOWN = 0, /**< None of these. */
    LX_IMAGE_JPEG = 1,
    LX_IMAGE_PNG = 2,
    LX_IMAGE_WEBP = 3
} lx_image_format;

/**
 * Pixels in memory: rows from top to bottom, each with its pixels from left to right. A pixel has
 * one byte for each channel: 1 (grey) or 3 (red, green, blue).
 */
typedef struct lx_image {
    uint8_t *pixels;   /**< The first byte of the top row. */
    size_t stride;     /**< The distance in bytes from one row to the next; at least @ref width
                            times @ref channels. */
    uint32_t width;    /**< In pixels. */
    uint32_t height;   /**< In pixels. */
    uint32_t channels; /**< 1 or 3. */
} lx_image;

/** A rectangle of pixels in an image. */
typedef struct lx_image_region {
    uint32_t left;   /**< The first column. */
    uint32_t top;    /**< The first row. */
    uint32_t width;  /**< The number of columns, at least 1. */
    uint32_t height; /**< The number of rows, at least 1. */
} lx_image_region;

/**
 * Finds out the format of an image from the first bytes of its file, its signature.
 *
 * @param[in] bytes  The file or its beginning, which is not read beyond the first 12 bytes.
 * @param[in] size   The number of bytes.
 * @return The format; #LX_IMAGE_UNKNOWN if the signature is that of no format in the list, or is
 *         incomplete. The rest of the file may still be damaged.
 */
LX_API lx_image_format lx_image_format_find(const void *bytes, size_t size);

/** Returns the name of a format in lower case, such as "jpeg"; NULL if @p format is
 * #LX_IMAGE_UNKNOWN or a number that is not in the list. */
LX_API const char *lx_image_format_get_name(lx_image_format format);

/** @} */

LX_END_DECLS

#endif
