/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Checks images that callers pass.
 */
#ifndef LX_IMAGE_IMAGE_CHECK_H
#define LX_IMAGE_IMAGE_CHECK_H

#include <loaderx/image/format.h>
#include <loaderx/status.h>

/**
 * Checks that an image is valid. Afterwards, the product of its height and its stride is known to
 * fit in a size_t.
 *
 * @param name  The name of the argument, for the message.
 * @retval LX_ERR_ARGUMENT  The image or its pixels are NULL, it has no pixels, a wrong number of
 *                          channels, or a stride that is too small or too large.
 */
lx_status lx__image_check(const lx_image *image, const char *name, lx_error *error);

#endif
