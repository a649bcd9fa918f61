/* SPDX-License-Identifier: MIT */
#include "image/pixel/pad.h"

#include <string.h>

static void fill_pixels(uint8_t *to, size_t count, size_t channels, const uint8_t fill[3])
{
    if (channels == 1 || (fill[0] == fill[1] && fill[1] == fill[2])) {
        memset(to, fill[0], count * channels);
        return;
    }
    for (size_t i = 0; i < count; i++, to += 3)
        memcpy(to, fill, 3);
}

void lx__image_pad(const lx_image *in, uint32_t left, uint32_t top, const uint8_t fill[3],
                   const lx_image *out)
{
    size_t size = (size_t)in->width * in->channels, before = (size_t)left * in->channels;
    for (size_t y = 0; y < out->height; y++) {
        uint8_t *to = out->pixels + y * out->stride;
        if (y < top || y - top >= in->height) {
            fill_pixels(to, out->width, out->channels, fill);
            continue;
        }
        fill_pixels(to, left, in->channels, fill);
        memcpy(to + before, in->pixels + (y - top) * in->stride, size);
        fill_pixels(to + before + size, out->width - left - in->width, in->channels, fill);
    }
}
