/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The signatures of image files: the bytes with which a file of a format begins.
 */
#ifndef LX_BASE_IMAGE_SIGNATURE_H
#define LX_BASE_IMAGE_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>

#include <loaderx/export.h>

/** Why a value of @c %zu bytes is no image, for messages. */
#define LX__NO_IMAGE                                                                               \
    "the value is no image: its %zu bytes do not begin as JPEG, PNG, WebP, GIF, BMP, TIFF, AVIF, " \
    "HEIC or JPEG 2000"

/** A format. Those that the library decodes come first, with the numbers of lx_image_format. */
typedef enum lx__image_signature {
    LX__IMAGE_NONE = 0,
    LX__IMAGE_JPEG = 1,
    LX__IMAGE_PNG = 2,
    LX__IMAGE_WEBP = 3,
    LX__IMAGE_GIF,
    LX__IMAGE_BMP,
    LX__IMAGE_TIFF,
    LX__IMAGE_AVIF,
    LX__IMAGE_HEIC,
    LX__IMAGE_JPEG2000
} lx__image_signature;

/** Finds the format of a file from its first bytes, of which at most 12 are read;
 * #LX__IMAGE_NONE if they begin no format in the table. */
LX_API lx__image_signature lx__image_signature_find(const void *bytes, size_t size);

/** Whether libloaderx-image decodes a format. */
static inline bool lx__image_signature_is_decoded(lx__image_signature signature)
{
    return signature != LX__IMAGE_NONE && signature <= LX__IMAGE_WEBP;
}

/** Returns the name of a format, such as "JPEG 2000". */
LX_API const char *lx__image_signature_get_name(lx__image_signature signature);

#endif
