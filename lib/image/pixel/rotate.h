/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Rotates images as Pillow does it: the same bytes, if no side has more than 32767 pixels.
 */
#ifndef LX_IMAGE_ROTATE_H
#define LX_IMAGE_ROTATE_H

#include <stdbool.h>

#include <loaderx/image/resize.h>

/**
 * Finds where the pixels of a rotated image come from: with m = @p matrix, x is
 * m[0] * x + m[1] * y + m[2], and y likewise. The matrix is that of Pillow, with the same
 * roundings.
 */
void lx__rotation_find(double degrees, uint32_t width, uint32_t height, double matrix[6]);

/**
 * Rotates counter-clockwise around the centre.
 *
 * @param in        The image.
 * @param mirrored  Whether it is first mirrored.
 * @param degrees   The angle.
 * @param filter    #LX_IMAGE_NEAREST or #LX_IMAGE_BILINEAR.
 * @param fill      The colour where the image is not.
 * @param out       Receives the pixels; an image of the same size.
 */
void lx__image_rotate(const lx_image *in, bool mirrored, double degrees, lx_image_filter filter,
                      const uint8_t fill[3], const lx_image *out);

#endif
