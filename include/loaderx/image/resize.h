/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Resizes images.
 */
#ifndef LOADERX_IMAGE_RESIZE_H
#define LOADERX_IMAGE_RESIZE_H

#include <stdbool.h>

#include <loaderx/image/format.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_image_resizer Resize images
 *
 * An image is resized first horizontally, then vertically, with rounding to bytes after each step,
 * in integer arithmetic. So the pixels are the same on every machine. With antialiasing, they are
 * those of Pillow's `Image.resize()`. Newer versions of Pillow resize some images first
 * vertically: version 12 those that are more than 100 times as high as wide, version 13 others,
 * too. Their pixels may then differ, mostly by 1.
 * @see lx_image_format, loaderx(7)
 * @{
 */

/** The largest width and height that lx_image_resizer_resize() accepts. */
#define LX_IMAGE_SIDE_MAX 1048576u

/**
 * How a pixel of the result is computed from the pixels around its centre, with the names and
 * definitions of Pillow. A filter reaches the given number of pixels to each side; if an image
 * shrinks with antialiasing, that number is multiplied by the ratio of the sizes.
 */
typedef enum lx_image_filter {
    LX_IMAGE_NEAREST = 0,  /**< The pixel that contains the centre. */
    LX_IMAGE_BOX = 1,      /**< The mean; reaches 0.5 pixels. */
    LX_IMAGE_BILINEAR = 2, /**< Weights fall linearly; reaches 1 pixel. */
    LX_IMAGE_HAMMING = 3,  /**< As sharp as bicubic, as fast as bilinear; reaches 1 pixel. */
    LX_IMAGE_BICUBIC = 4,  /**< A cubic curve; reaches 2 pixels. */
    LX_IMAGE_LANCZOS = 5   /**< A windowed sinc; reaches 3 pixels. */
} lx_image_filter;

/**
 * Resizes images. It keeps its memory, and its tables while the sizes stay the same, from one image
 * to the next.
 *
 * @par Thread safety
 * Only one thread at a time may use a resizer; each thread needs its own.
 */
typedef struct lx_image_resizer lx_image_resizer;

/** Creates a resizer; release it with lx_image_resizer_free(). NULL when out of memory. */
LX_API lx_image_resizer *lx_image_resizer_new(void);

/** Releases a resizer; NULL is a no-op. */
LX_API void lx_image_resizer_free(lx_image_resizer *resizer);

/**
 * Resizes an image, or a part of it, to the size of @p out.
 *
 * With @p antialias, the pixels are those of Pillow's `in.resize(size, filter, box)`. Without it, a
 * filter reaches no further when an image shrinks, so it skips pixels. #LX_IMAGE_BILINEAR and
 * #LX_IMAGE_BICUBIC then do what torch's `interpolate(in, size, mode=mode)` does with bytes, whose
 * weights are less exact: less than 1 % of the pixels differ by 1, and hardly any by 2. Its bicubic
 * curve has the parameter -0.75, where Pillow's has -0.5. The other filters need antialiasing. It
 * makes no difference to #LX_IMAGE_NEAREST.
 *
 * A filter also uses pixels of @p in outside the box, if it reaches that far, as in Pillow. To
 * first crop and then resize, as torchvision's RandomResizedCrop does, make @p in the cropped
 * image, which can point into the larger one, and leave @p box NULL.
 *
 * @param[in]  resizer    The resizer.
 * @param[in]  in         The image; its pixels are only read.
 * @param[in]  box        The part of @p in that fills @p out: its left, top, right and bottom edge
 *                        in pixels, which may be fractions and are rounded to the precision of a
 *                        float; NULL means the whole image.
 * @param[in]  filter     The filter.
 * @param[in]  antialias  Whether filters reach further when an image shrinks.
 * @param[in]  out        The size of the result, and the memory that receives its pixels, which
 *                        must not overlap those of @p in. It has the channels of @p in.
 * @param[out] error      Describes the failure; may be NULL.
 * @retval LX_OK            The pixels of @p out are complete.
 * @retval LX_ERR_ARGUMENT  An image has no pixels, a wrong number of channels or a stride smaller
 *                          than a row; the box is empty or not within @p in; the filter is unknown
 *                          or needs antialiasing.
 * @retval LX_ERR_LIMIT     A side is longer than #LX_IMAGE_SIDE_MAX.
 * @retval LX_ERR_NOMEM     There is no memory for the tables or for the rows between the steps.
 *                          Their size is at most that of an image as wide as @p out and as high as
 *                          @p in.
 */
LX_API lx_status lx_image_resizer_resize(lx_image_resizer *resizer, const lx_image *in,
                                         const double box[4], lx_image_filter filter,
                                         bool antialias, const lx_image *out, lx_error *error);

/** @} */

LX_END_DECLS

#endif
