/* SPDX-License-Identifier: MIT */
#include "image/pixel/image-check.h"

#include "base/error.h"

lx_status lx__image_check(const lx_image *image, const char *name, lx_error *error)
{
    if (image == NULL || image->pixels == NULL)
        return lx__fail_null(error, name);
    if (image->width == 0 || image->height == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "%s is an image of %u x %u pixels: it has none",
                       name, image->width, image->height);
    if (image->channels != 1 && image->channels != 3)
        return lx_fail(error, LX_ERR_ARGUMENT, "%s has %u channels: it must have 1 or 3", name,
                       image->channels);
    uint64_t row = (uint64_t)image->width * image->channels;
    if (image->stride < row || image->stride > SIZE_MAX / image->height)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the stride of %s is %zu bytes: rows of %u pixels do not fit", name,
                       image->stride, image->width);
    return LX_OK;
}
