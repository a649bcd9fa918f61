/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A list of steps, and the conversion to a tensor.
 */
#ifndef LX_IMAGE_TRANSFORM_H
#define LX_IMAGE_TRANSFORM_H

#include <jansson.h>

#include <loaderx/image/transform.h>

#include "image/pixel/tensor.h"
#include "image/transform/annotation.h"
#include "image/transform/picture.h"
#include "image/transform/step.h"

struct lx_image_transform {
    uint64_t seed, max_pixels;
    lx_image_convention convention;
    lx__step steps[LX_MAX_IMAGE_STEPS];
    size_t step_count;
    lx__tensor_spec tensor;
    float *mean_image; /**< Owns that of the tensor. */
    double contrast, light;
    lx__annotation annotations[LX_MAX_IMAGE_ANNOTATIONS];
    size_t annotation_count;
};

/** Adds a step; fails if @p transform is NULL. */
lx_status lx__transform_add(lx_image_transform *transform, const lx__step *step, lx_error *error);

/** Applies the steps to an open picture, and decodes it unless it is an outline. Only geometric
 * steps act on pictures without colours. @p key is that of the sample. */
lx_status lx__transform_run(const lx_image_transform *transform, const uint64_t key[2],
                            lx__picture *picture, lx_error *error);

/** Draws the exposure of a sample; returns false if there is none. */
bool lx__transform_expose(const lx_image_transform *transform, const uint64_t key[2],
                          lx__exposure *exposure);

/** Finds the size of every picture after the steps; returns false if they differ. */
bool lx__transform_get_size(const lx_image_transform *transform, uint32_t *width, uint32_t *height);

/** Describes the transform completely. Returns NULL when out of memory. */
json_t *lx__transform_to_json(const lx_image_transform *transform);

#endif
