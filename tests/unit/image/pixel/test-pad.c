/* SPDX-License-Identifier: MIT */
/* Images that are surrounded with a colour. */
#include "image/pixel/pad.h"

#include "pixels.h"

START_TEST(images_are_surrounded_with_the_colour)
{
    static const uint8_t colors[][3] = {{7, 8, 9}, {5, 5, 5}};
    uint32_t state = 1;
    for (int round = 0; round < 200; round++) {
        const uint8_t *fill = colors[round % 2];
        lx_image in = pixels_noise(pixels_between(&state, 1, 9), pixels_between(&state, 1, 9),
                                   round % 3 ? 3 : 1);
        uint32_t left = pixels_between(&state, 0, 4), top = pixels_between(&state, 0, 4);
        lx_image out = pixels_new(left + in.width + pixels_between(&state, 0, 4),
                                  top + in.height + pixels_between(&state, 0, 4), in.channels, 3);
        lx__image_pad(&in, left, top, fill, &out);
        for (uint32_t y = 0; y < out.height; y++)
            for (uint32_t i = 0; i < out.width * in.channels; i++) {
                uint32_t x = i / in.channels, c = i % in.channels;
                bool inside = x >= left && x - left < in.width && y >= top && y - top < in.height;
                uint8_t right =
                    inside ? in.pixels[(y - top) * in.stride + (x - left) * in.channels + c]
                           : fill[c];
                ck_assert_uint_eq(out.pixels[y * out.stride + i], right);
            }
        free(in.pixels);
        free(out.pixels);
    }
}
END_TEST

UNIT_MAIN("image/pixel/pad", images_are_surrounded_with_the_colour)
