/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Changing tensors that a tensorizer made.
 */
#ifndef LX_IMAGE_TENSOR_H
#define LX_IMAGE_TENSOR_H

#include <loaderx/image/tensor.h>

/** The largest value that all dtypes of tensors can represent but the integers, in which a larger
 * value becomes the end of the range: that of float16. */
#define LX__TENSOR_VALUE_MAX 65504.0f

/**
 * Replaces a part of a tensor.
 *
 * @param tensorizer  What made the tensor.
 * @param width       The width of its image.
 * @param height      The height.
 * @param part        The part, which is within the image, as the tensor shows it.
 * @param values      A number for each channel, up to #LX__TENSOR_VALUE_MAX; rounded to the dtype.
 * @param tensor      The elements.
 */
void lx__tensorizer_fill(const lx_image_tensorizer *tensorizer, uint32_t width, uint32_t height,
                         const lx_image_region *part, const float *values, void *tensor);

#endif
