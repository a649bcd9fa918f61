/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Images for the tests: memory that ends with the last pixel, so that a sanitizer finds
 * accesses beyond it.
 */
#ifndef LX_TESTS_IMAGE_PIXELS_H
#define LX_TESTS_IMAGE_PIXELS_H

#include "../../unit.h"

#include <loaderx/image/format.h>

static inline uint32_t pixels_random(uint32_t *state)
{
    *state = *state * 1103515245u + 12345u;
    return *state >> 16;
}

/** Returns a number from @p least to @p most. */
static inline uint32_t pixels_between(uint32_t *state, uint32_t least, uint32_t most)
{
    return least + pixels_random(state) % (most - least + 1);
}

/** Returns an image of zeros with @p gap bytes between its rows. */
static inline lx_image pixels_new(uint32_t width, uint32_t height, uint32_t channels, size_t gap)
{
    size_t row = (size_t)width * channels, stride = row + gap;
    lx_image image = {calloc(1, stride * (height - 1) + row), stride, width, height, channels};
    ck_assert_ptr_nonnull(image.pixels);
    return image;
}

/** Returns an image of random bytes, most of them 0 or 255; tests/golden/resizes.py makes the
 * same. */
static inline lx_image pixels_noise(uint32_t width, uint32_t height, uint32_t channels)
{
    lx_image image = pixels_new(width, height, channels, 0);
    uint32_t state = width * 1000 + height * 10 + channels;
    for (size_t i = 0; i < image.stride * height; i++) {
        uint32_t byte = pixels_random(&state) & 0x1ff;
        image.pixels[i] = (uint8_t)(byte < 128 ? 0 : byte >= 384 ? 255 : byte - 128);
    }
    return image;
}

/** Returns the largest difference of two images of the same size, whose rows have no gaps. */
static inline int pixels_compare(const lx_image *a, const lx_image *b)
{
    int most = 0;
    for (size_t i = 0; i < a->stride * a->height; i++) {
        int difference = abs(a->pixels[i] - b->pixels[i]);
        most = difference > most ? difference : most;
    }
    return most;
}

/** Returns a copy with left and right exchanged. */
static inline lx_image pixels_mirror(const lx_image *image)
{
    lx_image copy = pixels_new(image->width, image->height, image->channels, 0);
    for (size_t y = 0; y < image->height; y++)
        for (size_t x = 0; x < image->width; x++)
            memcpy(copy.pixels + y * copy.stride + x * image->channels,
                   image->pixels + y * image->stride + (image->width - 1 - x) * image->channels,
                   image->channels);
    return copy;
}

#endif
