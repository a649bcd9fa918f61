/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Resizing an image row by row, so that rows can be resized as soon as they are decoded, while
 * they are in the cache.
 */
#ifndef LX_IMAGE_RESIZE_H
#define LX_IMAGE_RESIZE_H

#include <loaderx/image/resize.h>

/** Begins an image of @p width times @p height pixels with the channels of @p out, which must be
 * valid; fails like lx_image_resizer_resize(). */
lx_status lx__resizer_begin(lx_image_resizer *resizer, uint32_t width, uint32_t height,
                            const double box[4], lx_image_filter filter, bool antialias,
                            const lx_image *out, lx_error *error);

/** Takes the next row of the image. After the last one, the result is complete. */
void lx__resizer_put(lx_image_resizer *resizer, const uint8_t *row);

#endif
