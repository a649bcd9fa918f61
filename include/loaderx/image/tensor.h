/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Converts images to tensors.
 */
#ifndef LOADERX_IMAGE_TENSOR_H
#define LOADERX_IMAGE_TENSOR_H

#include <stdbool.h>

#include <loaderx/dtype.h>
#include <loaderx/image/format.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_image_tensorizer Convert images to tensors
 * @see lx_image_format, lx_image_resizer, loaderx(7)
 * @{
 */

/** The order of the elements of a tensor. */
typedef enum lx_image_layout {
    LX_IMAGE_CHW = 0, /**< Channels, rows, columns: as torch has it. */
    LX_IMAGE_HWC = 1  /**< Rows, columns, channels: as images have it. */
} lx_image_layout;

/**
 * Converts images to tensors of one kind. It never changes once created.
 *
 * @par Thread safety
 * Several threads may use it at the same time.
 */
typedef struct lx_image_tensorizer lx_image_tensorizer;

/**
 * Creates a tensorizer; release it with lx_image_tensorizer_free().
 *
 * A byte @c x of channel @c c becomes `(x / divisor - mean[c]) / std[c]`. This is computed in
 * float32, each step being rounded, on every machine. So with a divisor of 255, a float32 has the
 * bits that torchvision's ToTensor and Normalize give it. With a divisor of 1 and neither mean nor
 * deviation, it is the byte itself.
 *
 * The result is converted to @p dtype: to the nearest value, or to the even one of two. In an
 * integer type, a result beyond the range becomes the end of the range. So a divisor of 1, integer
 * means and #LX_INT8 give what MXNet's ImageRecordIter gives with `dtype='int8'`, such as x - 128.
 *
 * @param[in]  dtype       #LX_UINT8, #LX_INT8, #LX_FLOAT16, #LX_BFLOAT16 or #LX_FLOAT32.
 * @param[in]  layout      The order of the elements.
 * @param[in]  channels    The channels of the images: 1 or 3.
 * @param[in]  divisor     A positive number.
 * @param[in]  mean        A number for each channel; NULL means 0.
 * @param[in]  std         The standard deviation of each channel, which is not 0; NULL means 1.
 * @param[out] tensorizer  Receives the tensorizer.
 * @param[out] error       Describes the failure; may be NULL.
 * @retval LX_OK               The tensorizer was created.
 * @retval LX_ERR_ARGUMENT     The layout or the number of channels is not in the list; the divisor or
 *                             a deviation is out of range; a byte would become an infinite value.
 * @retval LX_ERR_UNSUPPORTED  The dtype is not in the list.
 */
LX_API lx_status lx_image_tensorizer_new(lx_dtype dtype, lx_image_layout layout, uint32_t channels,
                                         float divisor, const float *mean, const float *std,
                                         lx_image_tensorizer **tensorizer, lx_error *error);

/**
 * Creates a tensorizer that multiplies instead of dividing; release it with
 * lx_image_tensorizer_free().
 *
 * A byte @c x of channel @c c becomes `(x - mean[c]) * factor[c]`. This is computed in float32,
 * each step being rounded, and converted to @p dtype as lx_image_tensorizer_new() does. With a
 * factor of scale / std, also in float32, it is what MXNet's ImageRecordIter computes, bit for bit.
 *
 * @param[in]  dtype       #LX_UINT8, #LX_INT8, #LX_FLOAT16, #LX_BFLOAT16 or #LX_FLOAT32.
 * @param[in]  layout      The order of the elements.
 * @param[in]  channels    The channels of the images: 1 or 3.
 * @param[in]  mean        A number for each channel; NULL means 0.
 * @param[in]  factor      A number for each channel; NULL means 1.
 * @param[out] tensorizer  Receives the tensorizer.
 * @param[out] error       Describes the failure; may be NULL.
 * @retval LX_OK               The tensorizer was created.
 * @retval LX_ERR_ARGUMENT     The layout or the number of channels is not in the list; a byte would
 *                             become an infinite value.
 * @retval LX_ERR_UNSUPPORTED  The dtype is not in the list.
 */
LX_API lx_status lx_image_tensorizer_new_scaled(lx_dtype dtype, lx_image_layout layout,
                                                uint32_t channels, const float *mean,
                                                const float *factor,
                                                lx_image_tensorizer **tensorizer, lx_error *error);

/**
 * Creates a tensorizer that subtracts an image, such as the mean of all images; release it with
 * lx_image_tensorizer_free().
 *
 * As lx_image_tensorizer_new_scaled(), but each element has its own mean. A mirrored tensor is that
 * of an image from which the mean image was subtracted before: its mean is mirrored, too.
 *
 * @param[in]  dtype       The dtype.
 * @param[in]  layout      The order of the elements, and of @p mean.
 * @param[in]  channels    The channels of the images and of @p mean: 1 or 3.
 * @param[in]  width       The width of the images and of @p mean: from 1 to #LX_IMAGE_SIDE_MAX.
 * @param[in]  height      The height, likewise.
 * @param[in]  mean        The mean image, `width * height * channels` numbers; the call copies it.
 * @param[in]  factor      A number for each channel; NULL means 1.
 * @param[out] tensorizer  Receives the tensorizer, which converts only images of this size.
 * @param[out] error       Describes the failure; may be NULL.
 * @retval LX_ERR_ARGUMENT  As lx_image_tensorizer_new_scaled(), or a side is out of range, or
 *                          @p mean is NULL.
 * @return Otherwise, as lx_image_tensorizer_new_scaled().
 */
LX_API lx_status lx_image_tensorizer_new_mean_image(
    lx_dtype dtype, lx_image_layout layout, uint32_t channels, uint32_t width, uint32_t height,
    const float *mean, const float *factor, lx_image_tensorizer **tensorizer, lx_error *error);

/** Releases a tensorizer; NULL is a no-op. */
LX_API void lx_image_tensorizer_free(lx_image_tensorizer *tensorizer);

/**
 * Converts an image.
 *
 * @param[in]  tensorizer  The tensorizer.
 * @param[in]  image       The image; its pixels are only read.
 * @param[in]  mirror      Whether the tensor shows the image with left and right exchanged.
 * @param[out] out         Receives the elements, without gaps; any alignment.
 * @param[in]  size        The size of @p out in bytes: that of all elements.
 * @param[out] error       Describes the failure; may be NULL.
 * @retval LX_OK            The tensor is complete.
 * @retval LX_ERR_ARGUMENT  The image has no pixels, another number of channels, or a stride smaller
 *                          than a row, or not the size of the mean image; @p size is not that of
 *                          the tensor.
 */
LX_API lx_status lx_image_tensorizer_convert(const lx_image_tensorizer *tensorizer,
                                             const lx_image *image, bool mirror, void *out,
                                             size_t size, lx_error *error);

/** @} */

LX_END_DECLS

#endif
