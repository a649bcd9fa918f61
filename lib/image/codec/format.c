/* SPDX-License-Identifier: MIT */
#include <loaderx/image/format.h>

#include "base/image-signature.h"

lx_image_format lx_image_format_find(const void *bytes, size_t size)
{
    lx__image_signature found = lx__image_signature_find(bytes, size);
    return lx__image_signature_is_decoded(found) ? (lx_image_format)found : LX_IMAGE_UNKNOWN;
}

const char *lx_image_format_get_name(lx_image_format format)
{
    switch (format) {
    case LX_IMAGE_JPEG:
        return "jpeg";
    case LX_IMAGE_PNG:
        return "png";
    case LX_IMAGE_WEBP:
        return "webp";
    case LX_IMAGE_UNKNOWN:
        break;
    }
    return NULL;
}
