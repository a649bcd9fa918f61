/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Random parts of an image. Every machine chooses the same part.
 */
#ifndef LX_IMAGE_CROP_BOX_H
#define LX_IMAGE_CROP_BOX_H

#include <loaderx/image/format.h>

#include "image/transform/draw.h"

/** The ranges of a random part. */
typedef struct lx__crop_ranges {
    double area[2];  /**< As a fraction of the image's. */
    double ratio[2]; /**< Width to height. */
    double log_ratio[2];
} lx__crop_ranges;

/** How many numbers a choice draws at most. */
#define LX__CROP_DRAWS 40

/** Returns the ranges with the logarithms of the ratios, which must be in [0.001, 1000]. */
lx__crop_ranges lx__crop_ranges_of(const double area[2], const double ratio[2]);

/** Chooses a part of an image of @p width times @p height pixels, as torchvision's
 * RandomResizedCrop.get_params() does, but with these draws. */
lx_image_region lx__crop_box_choose(const lx__crop_ranges *ranges, uint32_t width, uint32_t height,
                                    const uint64_t draws[LX__CROP_DRAWS]);

/** Chooses a part to erase, as torchvision's RandomErasing.get_params() does, but with these draws:
 * the ratio is that of height to width, and the area can be 0. Returns whether there is a part. */
bool lx__erase_box_choose(const lx__crop_ranges *ranges, uint32_t width, uint32_t height,
                          const uint64_t draws[LX__CROP_DRAWS], lx_image_region *part);

#endif
