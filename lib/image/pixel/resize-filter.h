/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The curves of filters.
 */
#ifndef LX_IMAGE_RESIZE_FILTER_H
#define LX_IMAGE_RESIZE_FILTER_H

#include <loaderx/image/resize.h>

/** The parameters of bicubic curves: of Pillow, and of torch without antialiasing. */
#define LX__CUBIC_PILLOW (-0.5)
#define LX__CUBIC_TORCH (-0.75)

/** Returns how many pixels a filter reaches to each side; 0 for #LX_IMAGE_NEAREST and for values
 * that are no filter. */
double lx__filter_reach(lx_image_filter filter);

/**
 * Replaces the distances of @p count pixels from the centre by their weights.
 *
 * It uses only operations that IEEE 754 defines exactly, and no function of libm, whose results
 * differ between machines.
 *
 * @param cubic  The parameter of the bicubic curve.
 */
void lx__filter_weigh(lx_image_filter filter, double cubic, double *pixels, size_t count);

#endif
