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

/** What a tensorizer does. */
typedef struct lx__tensor_spec {
    lx_dtype dtype;
    lx_image_layout layout;
    uint32_t channels;
    bool multiplies; /**< As lx_image_tensorizer_new_scaled(), not as lx_image_tensorizer_new(). */
    float divisor;   /**< 1 if it multiplies. */
    float mean[3], scale[3]; /**< The numbers to divide by or to multiply by. */

    /** An image to subtract instead of the means, of this size, in the layout; or NULL. */
    const float *mean_image;
    uint32_t width, height, mean_channels;
} lx__tensor_spec;

/** Creates a tensorizer. Returns any status of lx_image_tensorizer_new_mean_image(). */
lx_status lx__tensorizer_new(const lx__tensor_spec *spec, lx_image_tensorizer **tensorizer,
                             lx_error *error);

/** Returns the CRC-32C of the mean image, as float32 of little-endian machines. */
uint32_t lx__tensor_spec_get_checksum(const lx__tensor_spec *spec);

/** A change of the elements of one tensor: (x - mean) * (factor * gain) + factor * light. */
typedef struct lx__exposure {
    float gain, light;
} lx__exposure;

/** How one image becomes a tensor. */
typedef struct lx__conversion {
    bool mirror;      /**< The tensor shows the image with left and right exchanged. */
    bool mirror_mean; /**< The mean image is subtracted with left and right exchanged. */
    const lx__exposure *exposure; /**< Only if the tensorizer multiplies; NULL for none. */
} lx__conversion;

/** Converts an image as lx_image_tensorizer_convert() does. */
lx_status lx__tensorizer_convert(const lx_image_tensorizer *tensorizer, const lx_image *image,
                                 const lx__conversion *conversion, void *out, size_t size,
                                 lx_error *error);

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
