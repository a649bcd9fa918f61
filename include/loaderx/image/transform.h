/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief From encoded images to tensors of equal size.
 */
#ifndef LOADERX_IMAGE_TRANSFORM_H
#define LOADERX_IMAGE_TRANSFORM_H

#include <stdint.h>

#include <loaderx/dtype.h>
#include <loaderx/export.h>
#include <loaderx/image/resize.h>
#include <loaderx/image/tensor.h>
#include <loaderx/source.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_image_transform Images as tensors, with augmentation
 *
 * A transform is a list of steps, such as a random crop, followed by the conversion to a tensor.
 * lx_source_new_images() applies it to a column of encoded images, on the threads of the loader.
 * Only the part of an image that the first crop needs is decoded.
 *
 * Random choices depend only on the seed, the epoch and the position of the sample in the order,
 * so a loader returns the same pixels for any number of threads and ranks, and after a resume, and
 * an image that occurs several times in an epoch is changed differently each time.
 *
 * The steps that crop, resize, mirror, pad and rotate images also act on other columns of the
 * source, with the same random choices, if they are added to the transform: masks, in which each
 * pixel has a class, and the coordinates of boxes and points. Other steps, such as changes of
 * colour and erasing, leave them as they are. Coordinates are pixels of the image as the decoder
 * shows it, turned as its Exif data says. They reach from 0 to the width or height, so the centre
 * of the first pixel is at 0.5. To move keypoints that are numbers of pixels, add 0.5 first.
 *
 * @code
 * static const float mean[] = {0.485f, 0.456f, 0.406f};
 * static const float std[] = {0.229f, 0.224f, 0.225f};
 * lx_image_transform *train = lx_image_transform_new();
 * lx_image_transform_set_seed(train, 42);
 * lx_image_transform_add_random_resized_crop(
 *     train, 224, 224, NULL, NULL, LX_IMAGE_BILINEAR, &error);
 * lx_image_transform_add_mirror(train, 0.5, &error);
 * lx_image_transform_set_tensor(train, LX_FLOAT32, LX_IMAGE_CHW, 255,
 *                               mean, std, &error);
 * lx_source_new_images(dataset, "image", train, &source, &error);
 * lx_image_transform_free(train);
 * @endcode
 *
 * @see lx_image_decoder, lx_source_new_map(), lx_loader
 * @{
 */

/** The most steps of a transform. */
#define LX_MAX_IMAGE_STEPS 32

/** The most columns of masks, boxes and points of a transform. */
#define LX_MAX_IMAGE_ANNOTATIONS 8

/** What the four numbers of a box are. */
typedef enum lx_image_box_format {
    LX_IMAGE_XYXY = 0,  /**< Left, top, right, bottom, as in PASCAL VOC and torchvision. */
    LX_IMAGE_XYWH = 1,  /**< Left, top, width, height, as in COCO. */
    LX_IMAGE_CXCYWH = 2 /**< The centre, width, height; in pixels, not in parts of the image. */
} lx_image_box_format;

/** Whose steps those of a transform reproduce, where libraries differ. */
typedef enum lx_image_convention {
    /** torchvision and Pillow: images shrink with antialiasing, half a pixel beside a centre crop
     * is rounded to even, and an image that is smaller than a crop is an error. */
    LX_IMAGE_TORCHVISION = 0,
    /** MXNet and OpenCV: images shrink without antialiasing, which skips pixels, half a pixel is
     * rounded down, and an image that is smaller than a crop is enlarged bilinearly: first to the
     * height of the crop, then to its width. Only #LX_IMAGE_NEAREST, #LX_IMAGE_BILINEAR and
     * #LX_IMAGE_BICUBIC can be used. */
    LX_IMAGE_MXNET = 1
} lx_image_convention;

/**
 * A list of steps.
 *
 * @par Thread safety
 * Only one thread at a time may change a transform. A source copies it.
 */
typedef struct lx_image_transform lx_image_transform;

/** Returns a transform without steps: colour images become tensors of #LX_UINT8, #LX_IMAGE_CHW.
 * NULL when out of memory. */
LX_API lx_image_transform *lx_image_transform_new(void);

/** Frees a transform. NULL is allowed. */
LX_API void lx_image_transform_free(lx_image_transform *transform);

/** Sets the seed of the random choices; the default is 0. */
LX_API void lx_image_transform_set_seed(lx_image_transform *transform, uint64_t seed);

/** Sets the most pixels that an image or a mask may have in its file, as
 * lx_image_decoder_set_max_pixels() does; the default is #LX_DEFAULT_IMAGE_PIXELS. An image that has
 * more is an error, #LX_ERR_LIMIT, and no damaged record. */
LX_API void lx_image_transform_set_max_pixels(lx_image_transform *transform, uint64_t pixels);

/** Sets whether images are grey, with one channel, instead of colour, with three. */
LX_API void lx_image_transform_set_grey(lx_image_transform *transform, bool grey);

/**
 * Sets whose steps those of a transform reproduce; the default is #LX_IMAGE_TORCHVISION.
 *
 * @retval LX_OK            The convention was set, for all steps.
 * @retval LX_ERR_ARGUMENT  The convention is not in the list, or @p transform is NULL.
 */
LX_API lx_status lx_image_transform_set_convention(lx_image_transform *transform,
                                                   lx_image_convention convention, lx_error *error);

/**
 * Resizes images to one size, with antialiasing, whatever their proportions.
 *
 * @retval LX_OK            The step was added.
 * @retval LX_ERR_ARGUMENT  A side is 0 or more than #LX_IMAGE_SIDE_MAX, the filter is not in the
 *                          list, or @p transform is NULL.
 * @retval LX_ERR_LIMIT     The transform has #LX_MAX_IMAGE_STEPS steps.
 */
LX_API lx_status lx_image_transform_add_resize(lx_image_transform *transform, uint32_t width,
                                               uint32_t height, lx_image_filter filter,
                                               lx_error *error);

/**
 * Resizes images, with antialiasing, so that the shorter side has @p side pixels; the longer side
 * keeps the proportions, rounded down, as torchvision's Resize does.
 *
 * @return As lx_image_transform_add_resize().
 */
LX_API lx_status lx_image_transform_add_resize_shorter(lx_image_transform *transform, uint32_t side,
                                                       lx_image_filter filter, lx_error *error);

/**
 * Keeps the middle of images. An image that is smaller than the crop is an error of that record
 * (#LX_ERR_ARGUMENT): add a resize before the crop.
 *
 * @return As lx_image_transform_add_resize().
 */
LX_API lx_status lx_image_transform_add_center_crop(lx_image_transform *transform, uint32_t width,
                                                    uint32_t height, lx_error *error);

/**
 * Keeps a rectangle at a random place, of which all are equally likely. An image that is smaller
 * than the crop is an error, as for lx_image_transform_add_center_crop().
 *
 * @return As lx_image_transform_add_resize().
 */
LX_API lx_status lx_image_transform_add_random_crop(lx_image_transform *transform, uint32_t width,
                                                    uint32_t height, lx_error *error);

/**
 * Keeps a random part of images, and resizes it, with antialiasing, to one size. Area and
 * proportions are drawn as by torchvision's RandomResizedCrop: up to ten times, until the part fits
 * into the image; then the middle part with the nearest allowed proportions is taken.
 *
 * @param[in]  transform  The transform.
 * @param[in]  width      The width in pixels that the part is resized to.
 * @param[in]  height     The height.
 * @param[in]  area       The least and the largest area of the part, as a fraction of the image;
 *                        NULL for 0.08 and 1.
 * @param[in]  ratio      The least and the largest ratio of width to height; the logarithm of the
 *                        ratio is uniform. NULL for 3/4 and 4/3.
 * @param[in]  filter     The filter.
 * @param[out] error      Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_ARGUMENT  As lx_image_transform_add_resize(), or the areas are not in (0, 1], the
 *                          ratios are not in [0.001, 1000], or a range is empty.
 * @return Otherwise, as lx_image_transform_add_resize().
 */
LX_API lx_status lx_image_transform_add_random_resized_crop(
    lx_image_transform *transform, uint32_t width, uint32_t height, const double area[2],
    const double ratio[2], lx_image_filter filter, lx_error *error);

/**
 * Exchanges left and right of images, with this probability. Points keep their order: those that
 * are named by their side, such as the left and the right eye, are not exchanged with each other.
 *
 * @retval LX_ERR_ARGUMENT  The probability is not in [0, 1], or @p transform is NULL.
 * @return Otherwise, as lx_image_transform_add_resize().
 */
LX_API lx_status lx_image_transform_add_mirror(lx_image_transform *transform, double probability,
                                               lx_error *error);

/**
 * Changes brightness, contrast, saturation and hue, in a random order, as torchvision's ColorJitter
 * changes images of Pillow: the pixels are the same for the same factors. Each factor is uniform in
 * its range. Saturation and hue of grey images do not change.
 *
 * @param[in]  transform   The transform.
 * @param[in]  brightness  The least and the largest factor: 0 gives black, 1 changes nothing. At
 *                         most 1000000. NULL for 1 and 1, as for the other factors.
 * @param[in]  contrast    Likewise; 0 gives the mean grey.
 * @param[in]  saturation  Likewise; 0 gives grey.
 * @param[in]  hue         The least and the largest turn of the hue, in [-0.5, 0.5]: 0.5 is half of
 *                         the circle. NULL for 0 and 0.
 * @param[out] error       Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The step was added.
 * @retval LX_ERR_ARGUMENT  A range is empty or beyond its bounds, or @p transform is NULL.
 * @retval LX_ERR_LIMIT     The transform has #LX_MAX_IMAGE_STEPS steps.
 */
LX_API lx_status lx_image_transform_add_color_jitter(lx_image_transform *transform,
                                                     const double brightness[2],
                                                     const double contrast[2],
                                                     const double saturation[2],
                                                     const double hue[2], lx_error *error);

/**
 * Removes the colours of images, with this probability, as torchvision's RandomGrayscale does. The
 * tensors keep their three channels.
 *
 * @retval LX_ERR_ARGUMENT  The probability is not in [0, 1], or @p transform is NULL.
 * @return Otherwise, as lx_image_transform_add_color_jitter().
 */
LX_API lx_status lx_image_transform_add_grey(lx_image_transform *transform, double probability,
                                             lx_error *error);

/**
 * Adds a random colour to all pixels of an image, along the principal components of the colours of
 * ImageNet: the augmentation of A. Krizhevsky, I. Sutskever and G. E. Hinton, ImageNet
 * Classification with Deep Convolutional Neural Networks, 2012. The components are those of MXNet's
 * pca_noise. Pixels are rounded to the nearest byte. Grey images do not change.
 *
 * @param[in]  transform  The transform.
 * @param[in]  deviation  The standard deviation of the amount of each component, in [0, 1000]; the
 *                        paper has 0.1.
 * @param[out] error      Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_ARGUMENT  The deviation is out of range, or @p transform is NULL.
 * @return Otherwise, as lx_image_transform_add_color_jitter().
 */
LX_API lx_status lx_image_transform_add_lighting(lx_image_transform *transform, double deviation,
                                                 lx_error *error);

/**
 * Surrounds images with a colour, as torchvision's Pad does.
 *
 * @param[in]  transform  The transform.
 * @param[in]  sides      How many pixels to add to the left, at the top, to the right and at the
 *                        bottom; at most #LX_IMAGE_SIDE_MAX each. An image of which a side becomes
 *                        longer than that is an error of that record (#LX_ERR_CORRUPT).
 * @param[in]  fill       The colour; of grey images, the first number. NULL for black.
 * @param[out] error      Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_ARGUMENT  A number of pixels is too large, or a pointer is NULL.
 * @return Otherwise, as lx_image_transform_add_color_jitter().
 */
LX_API lx_status lx_image_transform_add_pad(lx_image_transform *transform, const uint32_t sides[4],
                                            const uint8_t fill[3], lx_error *error);

/**
 * Rotates images around their centre; they keep their size. The pixels are those of Pillow's
 * Image.rotate(), which torchvision's RandomRotation calls, if no side has more than 32767 pixels.
 *
 * @param[in]  transform  The transform.
 * @param[in]  degrees    The least and the largest angle, counter-clockwise, in [-360, 360].
 * @param[in]  filter     #LX_IMAGE_NEAREST or #LX_IMAGE_BILINEAR.
 * @param[in]  fill       The colour of the corners; of grey images, the first number. NULL for
 *                        black.
 * @param[out] error      Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_ARGUMENT  The range is empty or too large, the filter is another one, or a pointer
 *                          is NULL.
 * @return Otherwise, as lx_image_transform_add_color_jitter().
 */
LX_API lx_status lx_image_transform_add_rotation(lx_image_transform *transform,
                                                 const double degrees[2], lx_image_filter filter,
                                                 const uint8_t fill[3], lx_error *error);

/**
 * Blurs images with a Gaussian curve. The pixels differ by at most 1 from those of torchvision's
 * GaussianBlur.
 *
 * @param[in]  transform   The transform.
 * @param[in]  width       The width of the part of the curve that counts: an odd number of pixels,
 *                         at most 255. An image of which a side has at most half as many is an
 *                         error of that record (#LX_ERR_ARGUMENT).
 * @param[in]  height      The height, likewise.
 * @param[in]  deviations  The least and the largest standard deviation in pixels, in [0.001, 1000];
 *                         NULL for 0.1 and 2.
 * @param[out] error       Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_ARGUMENT  A number is out of range, or @p transform is NULL.
 * @return Otherwise, as lx_image_transform_add_color_jitter().
 */
LX_API lx_status lx_image_transform_add_blur(lx_image_transform *transform, uint32_t width,
                                             uint32_t height, const double deviations[2],
                                             lx_error *error);

/**
 * Replaces the elements of a random part of the tensor by constants, with this probability. Area
 * and proportions are drawn as by torchvision's RandomErasing: up to ten times, until the part is
 * less wide and less high than the image. If no part is, nothing is replaced. Only another step of
 * this kind can follow.
 *
 * @param[in]  transform    The transform.
 * @param[in]  probability  The probability.
 * @param[in]  area         The least and the largest area of the part, as a fraction of the image,
 *                          in [0, 1]; NULL for 0.02 and 0.33.
 * @param[in]  ratio        The least and the largest ratio of height to width, in [0.001, 1000];
 *                          the logarithm of the ratio is uniform. NULL for 0.3 and 3.3.
 * @param[in]  values       The new elements of each channel, in [-65504, 65504], rounded to the
 *                          dtype; an integer beyond the range becomes the end of the range. Of grey
 *                          images, the first one. NULL for 0.
 * @param[out] error        Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_ARGUMENT  A number is out of range, a range is empty, or @p transform is NULL.
 * @return Otherwise, as lx_image_transform_add_color_jitter().
 */
LX_API lx_status lx_image_transform_add_erasing(lx_image_transform *transform, double probability,
                                                const double area[2], const double ratio[2],
                                                const float values[3], lx_error *error);

/**
 * Adds a column of masks, which are PNG files as lx_image_decoder_set_indices() reads them, each of
 * the size of its image. lx_source_new_images() replaces it by uint8 classes of the shape (height,
 * width). Steps choose the nearest pixel instead of mixing pixels.
 *
 * @param[in]  transform  The transform.
 * @param[in]  column     The name of a column of #LX_IMAGE or #LX_BYTES.
 * @param[in]  fill       The class of the pixels that padding and rotations add; by convention, 255
 *                        is a class to ignore.
 * @param[out] error      Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The column was added.
 * @retval LX_ERR_ARGUMENT  The name is empty or too long or was added before, or a pointer is NULL.
 * @retval LX_ERR_LIMIT     The transform has #LX_MAX_IMAGE_ANNOTATIONS columns.
 */
LX_API lx_status lx_image_transform_add_mask(lx_image_transform *transform, const char *column,
                                             uint8_t fill, lx_error *error);

/**
 * Adds a column of boxes. After each step, a box is the smallest one around the moved box, clamped
 * to the image, as in torchvision.transforms.v2. The number of boxes does not change: one that the
 * image no longer shows has a width or height of 0, also after a later rotation, and the caller
 * drops it together with its label.
 *
 * @param[in]  transform  The transform.
 * @param[in]  column     The name of a column of #LX_FLOAT32 or #LX_FLOAT64 with the shape (n, 4),
 *                        where n may vary.
 * @param[in]  format     What the numbers of a box are.
 * @param[out] error      Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_ARGUMENT  The format is not in the list, or as lx_image_transform_add_mask().
 * @return Otherwise, as lx_image_transform_add_mask().
 */
LX_API lx_status lx_image_transform_add_boxes(lx_image_transform *transform, const char *column,
                                              lx_image_box_format format, lx_error *error);

/**
 * Adds a column of points (x, y). They are moved but not clamped, so they may leave the image, and
 * keep their order, also where left and right are exchanged.
 *
 * @param[in]  transform  The transform.
 * @param[in]  column     The name of a column of #LX_FLOAT32 or #LX_FLOAT64 with the shape (n, 2),
 *                        where n may vary.
 * @param[out] error      Receives the first failure; may be NULL.
 *
 * @return As lx_image_transform_add_mask().
 */
LX_API lx_status lx_image_transform_add_points(lx_image_transform *transform, const char *column,
                                               lx_error *error);

/**
 * Sets how pixels become elements of a tensor, as lx_image_tensorizer_new() describes. With one
 * channel, the first number of @p mean and @p std counts.
 *
 * @param[in]  transform  The transform.
 * @param[in]  dtype      The dtype of the elements.
 * @param[in]  layout     The order of the elements.
 * @param[in]  divisor    What to divide bytes by; 255 for a range of 0 to 1.
 * @param[in]  mean       Three numbers to subtract; NULL for 0.
 * @param[in]  std        Three numbers to divide by; NULL for 1.
 * @param[out] error      Receives the first failure; may be NULL.
 *
 * @return Any status that lx_image_tensorizer_new() returns.
 */
LX_API lx_status lx_image_transform_set_tensor(lx_image_transform *transform, lx_dtype dtype,
                                               lx_image_layout layout, float divisor,
                                               const float mean[3], const float std[3],
                                               lx_error *error);

/**
 * Sets how pixels become elements of a tensor, as lx_image_tensorizer_new_scaled() describes. With
 * one channel, the first number of @p mean and @p factor counts.
 *
 * @param[in]  transform  The transform.
 * @param[in]  dtype      The dtype of the elements.
 * @param[in]  layout     The order of the elements.
 * @param[in]  mean       Three numbers to subtract; NULL for 0.
 * @param[in]  factor     Three numbers to multiply by after that; NULL for 1.
 * @param[out] error      Receives the first failure; may be NULL.
 *
 * @return Any status that lx_image_tensorizer_new_scaled() returns.
 */
LX_API lx_status lx_image_transform_set_scaled_tensor(lx_image_transform *transform, lx_dtype dtype,
                                                      lx_image_layout layout, const float mean[3],
                                                      const float factor[3], lx_error *error);

/**
 * Subtracts an image instead of three numbers, as lx_image_tensorizer_new_mean_image() describes.
 * The dtype, the layout and the factors are those of lx_image_transform_set_scaled_tensor(), which
 * must be called before, and which removes the mean image. If the steps mirror an image, its mean
 * image is mirrored too, wherever that step is.
 *
 * A saved state of a loader includes a checksum of the mean image.
 *
 * @param[in]  transform  The transform.
 * @param[in]  channels   The channels of @p mean: 1 or 3. lx_source_new_images() refuses a mean
 *                        image whose shape is not that of the tensors.
 * @param[in]  width      The width: from 1 to #LX_IMAGE_SIDE_MAX.
 * @param[in]  height     The height, likewise.
 * @param[in]  mean       The mean image, in the layout of the tensors; the call copies it.
 * @param[out] error      Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The mean image was set.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL, the transform does not multiply, or as
 *                          lx_image_tensorizer_new_mean_image().
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_image_transform_set_mean_image(lx_image_transform *transform, uint32_t channels,
                                                   uint32_t width, uint32_t height,
                                                   const float *mean, lx_error *error);

/**
 * Multiplies the elements of each tensor by a random number, and adds another one: MXNet's
 * max_random_contrast and max_random_illumination. Elements become
 * `(x - mean) * (factor * gain) + factor * light`, with a gain in [1 - contrast, 1 + contrast] and
 * a light in [-light, light]; both are uniform.
 *
 * The other numbers are those of lx_image_transform_set_scaled_tensor(), which must be called
 * before, and which sets contrast and light to 0. A float that becomes too large is infinite.
 *
 * @param[in]  transform  The transform.
 * @param[in]  contrast   How much the gain differs from 1, at most: from 0 to 1000000.
 * @param[in]  light      How much is added or subtracted, at most: from 0 to 1000000.
 * @param[out] error      Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The exposure was set.
 * @retval LX_ERR_ARGUMENT  A number is out of range, a factor becomes infinite, the transform does
 *                          not multiply, or it is NULL.
 */
LX_API lx_status lx_image_transform_set_exposure(lx_image_transform *transform, double contrast,
                                                 double light, lx_error *error);

/**
 * Creates a source in which a column of encoded images is replaced by tensors, and the columns of
 * masks, boxes and points by those of the tensors. The other columns stay, and come first.
 *
 * An image that is damaged or of an unknown format is a damaged record: the loader's
 * ::lx_damage_policy decides whether it is an error, skipped, or replaced by zeros. The error names
 * the column and the record. The same is true of a mask, of a mask whose size is not that of its
 * image, and of coordinates that are not finite or beyond 2^30. An image of more pixels than
 * lx_image_transform_set_max_pixels() allows may be good, and is always an error, #LX_ERR_LIMIT.
 *
 * To read boxes and points whose number varies, only the headers of images are decoded.
 *
 * @param[in]  part       The source; the call takes a reference.
 * @param[in]  column     The name of a column of #LX_IMAGE or #LX_BYTES.
 * @param[in]  transform  The transform; the call copies it. All images must get the same size, so
 *                        the last crop or resize must not be
 *                        lx_image_transform_add_resize_shorter().
 * @param[out] source     Receives the source; release it with lx_source_unref().
 * @param[out] error      Receives the first failure; may be NULL.
 *
 * @retval LX_OK             The source was created.
 * @retval LX_ERR_NOT_FOUND  @p part has no such column.
 * @retval LX_ERR_ARGUMENT   A column has another dtype or shape, the transform gives images
 *                           different sizes, the mean image has another shape than the tensors, or
 *                           a pointer is NULL.
 * @retval LX_ERR_NOMEM      Out of memory.
 */
LX_API lx_status lx_source_new_images(lx_source *part, const char *column,
                                      const lx_image_transform *transform, lx_source **source,
                                      lx_error *error);

/** @} */

LX_END_DECLS

#endif
