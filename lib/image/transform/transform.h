/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The steps of a transform.
 */
#ifndef LX_IMAGE_TRANSFORM_H
#define LX_IMAGE_TRANSFORM_H

#include <jansson.h>

#include <loaderx/image/transform.h>

#include "image/transform/crop-box.h"
#include "image/transform/picture.h"

/** What a step does. The names are in saved states: transform.c has them. */
typedef enum lx__step_kind {
    LX__STEP_RESIZE,
    LX__STEP_RESIZE_SHORTER,
    LX__STEP_CENTER_CROP,
    LX__STEP_RANDOM_CROP,
    LX__STEP_RANDOM_RESIZED_CROP,
    LX__STEP_MIRROR,
    LX__STEP_KINDS
} lx__step_kind;

/** A step; members that its kind does not use are 0. */
typedef struct lx__step {
    lx__step_kind kind;
    uint32_t width, height; /**< Of RESIZE_SHORTER: both are the shorter side. */
    lx_image_filter filter;
    lx__crop_ranges ranges;
    double probability;
} lx__step;

struct lx_image_transform {
    uint64_t seed;
    uint32_t channels;
    lx_image_convention convention;
    lx__step steps[LX_MAX_IMAGE_STEPS];
    size_t step_count;
    lx_dtype dtype;
    lx_image_layout layout;
    float divisor, mean[3], std[3];
};

/** Applies the steps to an open picture, and decodes it. @p key is that of the sample. */
lx_status lx__transform_run(const lx_image_transform *transform, const uint64_t key[2],
                            lx__picture *picture, lx_error *error);

/** Finds the size of every picture after the steps; returns false if they differ. */
bool lx__transform_get_size(const lx_image_transform *transform, uint32_t *width, uint32_t *height);

/** Describes the transform completely. Returns NULL when out of memory. */
json_t *lx__transform_to_json(const lx_image_transform *transform);

#endif
