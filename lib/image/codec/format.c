/* SPDX-License-Identifier: MIT */
#include <loaderx/image/format.h>

#include <stdbool.h>
#include <string.h>

static bool starts_with(const uint8_t *bytes, size_t size, const char *text, size_t length)
{
    return size >= length && memcmp(bytes, text, length) == 0;
}

lx_image_format lx_image_format_find(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    if (starts_with(at, size, "\xff\xd8\xff", 3))
        return LX_IMAGE_JPEG;
    if (starts_with(at, size, "\x89PNG\r\n\x1a\n", 8))
        return LX_IMAGE_PNG;
    if (size >= 12 && starts_with(at, size, "RIFF", 4) && memcmp(at + 8, "WEBP", 4) == 0)
        return LX_IMAGE_WEBP;
    return LX_IMAGE_UNKNOWN;
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
