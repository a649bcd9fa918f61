/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Surrounds images with a colour.
 */
#ifndef LX_IMAGE_PAD_H
#define LX_IMAGE_PAD_H

#include <loaderx/image/format.h>

/** Makes all pixels of @p out the colour @p fill, except for those of @p in, which it contains at
 * this place. */
void lx__image_pad(const lx_image *in, uint32_t left, uint32_t top, const uint8_t fill[3],
                   const lx_image *out);

#endif
