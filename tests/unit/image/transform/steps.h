/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What steps make of the generated picture.
 */
#ifndef LX_TESTS_IMAGE_STEPS_H
#define LX_TESTS_IMAGE_STEPS_H

#include "image/transform/transform.h"

#include "../pictures.h"
#include "../pixel/pixels.h"

#define STEPS_WIDTH 45
#define STEPS_HEIGHT 31

static lx_error error = LX_ERROR_INIT;

/** Decodes the generated picture as @p transform has it, and applies the steps. */
static inline lx_status steps_try(const lx_image_transform *transform, uint64_t sample,
                                  lx__picture *picture)
{
    const uint64_t key[] = {sample, 5};
    struct picture file = picture_encode(picture_kind("png-rgb-8"), STEPS_WIDTH, STEPS_HEIGHT, 0);
    *picture = (lx__picture){0};
    unit_ok(lx__picture_init(picture, transform->tensor.channels, &error));
    unit_ok(lx__picture_open(picture, file.bytes, file.size, &error));
    lx_status status = lx__transform_run(transform, key, picture, &error);
    free(file.bytes);
    return status;
}

/** Returns the pixels that the tensor shows, without gaps. */
static inline lx_image steps_run(const lx_image_transform *transform, uint64_t sample)
{
    lx__picture picture;
    unit_ok(steps_try(transform, sample, &picture));
    const lx_image *pixels = &picture.pixels;
    ck_assert(pixels->width == picture.width && pixels->height == picture.height);
    lx_image made = pixels_new(pixels->width, pixels->height, pixels->channels, 0);
    for (size_t y = 0; y < made.height; y++)
        memcpy(made.pixels + y * made.stride, pixels->pixels + y * pixels->stride, made.stride);
    lx_image shown = picture.mirrored ? pixels_mirror(&made) : made;
    if (picture.mirrored)
        free(made.pixels);
    lx__picture_clear(&picture);
    return shown;
}

/** Returns the generated picture. */
static inline lx_image steps_picture(void)
{
    lx_image_transform *none = lx_image_transform_new();
    lx_image whole = steps_run(none, 0);
    lx_image_transform_free(none);
    return whole;
}

/** Whether two images are the same; releases the first. */
static inline bool steps_same(lx_image one, const lx_image *other)
{
    bool same = one.width == other->width && one.height == other->height &&
                pixels_compare(&one, other) == 0;
    free(one.pixels);
    return same;
}

#endif
