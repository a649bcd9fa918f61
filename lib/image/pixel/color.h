/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Changes the colours of an image in place, as Pillow and torchvision do it: the same bytes.
 * Where colours matter, grey images stay as they are.
 */
#ifndef LX_IMAGE_COLOR_H
#define LX_IMAGE_COLOR_H

#include <loaderx/image/format.h>

/** The largest factor, far beyond any use. */
#define LX__COLOR_FACTOR_MAX 1e6

/** Blends with black, like ImageEnhance.Brightness: a factor of 1 changes nothing. Factors are from
 * 0 to #LX__COLOR_FACTOR_MAX. */
void lx__color_set_brightness(const lx_image *image, float factor);

/** Blends with the mean grey, like ImageEnhance.Contrast. */
void lx__color_set_contrast(const lx_image *image, float factor);

/** Blends with the grey image, like ImageEnhance.Color. */
void lx__color_set_saturation(const lx_image *image, float factor);

/** Adds to the hue of Pillow's mode HSV, which is a byte, like torchvision's adjust_hue(). */
void lx__color_shift_hue(const lx_image *image, uint8_t shift);

/** Makes the channels of each pixel equal to its grey, that of `convert('L')`. */
void lx__color_remove(const lx_image *image);

/** Adds a number to each channel, rounded to the nearest byte. */
void lx__color_add(const lx_image *image, const double numbers[3]);

#endif
