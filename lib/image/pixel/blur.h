/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Blurs images with a Gaussian curve, in integers, so that the pixels are the same on every
 * machine: they differ by at most 1 from those of torchvision's gaussian_blur().
 */
#ifndef LX_IMAGE_BLUR_H
#define LX_IMAGE_BLUR_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/image/format.h>

/** How far the largest curve reaches. */
#define LX__BLUR_REACH_MAX 127

/** The weights of one direction, as fractions of 2^16. They and their mirror image add up to it. */
typedef struct lx__blur_curve {
    uint32_t reach;                           /**< Pixels beyond this distance have no weight. */
    uint32_t weights[LX__BLUR_REACH_MAX + 1]; /**< By the distance. */
} lx__blur_curve;

/** Computes the weights of @p size pixels, an odd number up to 2 * #LX__BLUR_REACH_MAX + 1, for a
 * standard deviation of at least 0.001 pixels. */
void lx__blur_curve_fill(lx__blur_curve *curve, uint32_t size, double deviation);

/** Returns how many bytes of scratch memory, aligned to 4, an image needs. */
size_t lx__blur_get_scratch(const lx_image *in, const lx__blur_curve *across);

/**
 * Blurs an image. Beyond its edges, it is continued by its reflection without the edge, so both its
 * sides must be longer than the curves reach.
 *
 * @param in       The image.
 * @param across   The curve along rows.
 * @param down     The curve along columns.
 * @param scratch  Memory of the size that lx__blur_get_scratch() returns.
 * @param out      Receives the pixels; an image of the same size.
 */
void lx__image_blur(const lx_image *in, const lx__blur_curve *across, const lx__blur_curve *down,
                    void *scratch, const lx_image *out);

#endif
