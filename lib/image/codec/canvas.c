/* SPDX-License-Identifier: MIT */
#include "image/codec/canvas.h"

#include <string.h>

bool lx__canvas_swaps(uint32_t orientation)
{
    return orientation >= 5;
}

/** Whether the stored rows run from right to left, or from bottom to top, in the upright image. */
static bool mirrors_rows(uint32_t orientation)
{
    return orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
}

/** The same for columns. */
static bool mirrors_columns(uint32_t orientation)
{
    return orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
}

void lx__canvas_init(lx__canvas *canvas, const lx_image_region *region, uint32_t width,
                     uint32_t height, uint32_t orientation, const lx_image *pixels)
{
    lx_image_region stored = *region;
    ptrdiff_t across = (ptrdiff_t)pixels->channels, down = (ptrdiff_t)pixels->stride;
    uint8_t *corner = pixels->pixels;
    if (lx__canvas_swaps(orientation)) {
        stored = (lx_image_region){region->top, region->left, region->height, region->width};
        ptrdiff_t rest = across;
        across = down;
        down = rest;
        uint32_t swapped = width;
        width = height;
        height = swapped;
    }
    if (mirrors_rows(orientation)) {
        stored.left = width - stored.left - stored.width;
        corner += across * (ptrdiff_t)(stored.width - 1);
        across = -across;
    }
    if (mirrors_columns(orientation)) {
        stored.top = height - stored.top - stored.height;
        corner += down * (ptrdiff_t)(stored.height - 1);
        down = -down;
    }
    *canvas = (lx__canvas){.region = stored,
                           .corner = corner,
                           .across = across,
                           .down = down,
                           .channels = pixels->channels};
}

/** The grey of a colour, as libjpeg and Pillow compute it. */
static uint8_t grey_of(const uint8_t *rgb)
{
    return (uint8_t)((rgb[0] * 19595U + rgb[1] * 38470U + rgb[2] * 7471U + 32768U) >> 16);
}

void lx__canvas_put(const lx__canvas *canvas, uint32_t y, const uint8_t *row, uint32_t channels)
{
    if (canvas->put != NULL) {
        canvas->put(canvas->user, row);
        return;
    }
    uint32_t width = canvas->region.width;
    uint8_t *to = canvas->corner + (ptrdiff_t)(y - canvas->region.top) * canvas->down;
    if (channels != canvas->channels) {
        for (uint32_t x = 0; x < width; x++, row += channels)
            to[(ptrdiff_t)x * canvas->across] = grey_of(row);
    } else if (canvas->across == (ptrdiff_t)channels) {
        memcpy(to, row, (size_t)width * channels);
    } else {
        for (uint32_t x = 0; x < width; x++, row += channels)
            memcpy(to + (ptrdiff_t)x * canvas->across, row, channels);
    }
}
