/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Decoding images, or regions of them.
 */
#ifndef LOADERX_IMAGE_DECODER_H
#define LOADERX_IMAGE_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/image/format.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_image_decoder Decode images
 *
 * A decoder turns JPEG, PNG and WebP files in memory into pixels of 8 bits for each channel. The
 * pixels of a region are always those of the whole image at that place.
 *
 * - JPEG: baseline and progressive; grey, YCbCr, RGB, CMYK and YCCK. Pixels are those of
 *   libjpeg-turbo with its default settings. CMYK is taken as inverted, as Adobe writes it.
 * - PNG: all colour types and depths, interlaced or not. 16 bits are reduced to the upper 8, of
 *   which a warning tells the log hook, once in a process.
 * - WebP: lossy and lossless, but not animated.
 *
 * Alpha is dropped: the colours of transparent pixels are those in the file. ICC profiles and gamma
 * are ignored.
 *
 * Damage is an error, but only if the decoder meets it: of a PNG or a baseline JPEG, nothing after
 * the last row of the region is decoded. Other images are read to their end. Messages about damage
 * name the position in the file up to which the decoder had read.
 *
 * Besides the caller's pixels, a decoder needs the memory of a few rows, and for
 * - a progressive JPEG, two bytes for each sample of the whole image, up to 8 for each pixel;
 * - an interlaced PNG, the rows of the region in their whole width;
 * - a WebP image, about 4 bytes for each pixel of the whole image if it is lossless, and 3 for each
 *   pixel of the region.
 *
 * @code
 * lx_image_decoder *decoder = lx_image_decoder_new();
 * lx_image_info info;
 * lx_image_decoder_open(decoder, bytes, size, &info, &error);
 * if (error.status != LX_OK)
 *     return complain(&error);
 * size_t stride = (size_t)info.width * 3;
 * uint8_t *pixels = malloc(stride * info.height);
 * lx_image_decoder_read(decoder, NULL, pixels, stride, &error);
 * @endcode
 * @see lx_error, lx_image_format
 * @{
 */

/** The most pixels that an image may have, unless lx_image_decoder_set_max_pixels() sets another
 * limit: as many as Pillow allows without an error. */
#define LX_DEFAULT_IMAGE_PIXELS ((uint64_t)178956970)

/** The most scans that a progressive JPEG may have. Encoders write about 10; hostile files have
 * thousands, each of which takes the time of a whole image. */
#define LX_MAX_JPEG_SCANS 100

/**
 * A decoder of images. It keeps its memory from one image to the next.
 *
 * @par Thread safety
 * Only one thread at a time may use a decoder.
 */
typedef struct lx_image_decoder lx_image_decoder;

/** What the header of an image says. */
typedef struct lx_image_info {
    lx_image_format format; /**< The format of the file. */
    uint32_t width;         /**< The width in pixels of what lx_image_decoder_read() returns. */
    uint32_t height;        /**< Its height. */
    uint32_t channels;      /**< Of the file: 1 (grey), 2 (grey, alpha), 3 (colour, also with a
                                 palette), 4 (colour, alpha; or CMYK). */
    uint32_t bits;          /**< Of a channel in the file: 1, 2, 4, 8 or 16; 8 with a palette. */
    uint32_t orientation;   /**< The orientation in the Exif data, from 1 to 8; 1 if there is none.
                                 A PNG must have it before its pixels. */
} lx_image_info;

/** Creates a decoder; free it with lx_image_decoder_free(). Returns NULL if memory is exhausted. */
LX_API lx_image_decoder *lx_image_decoder_new(void);

/** Frees a decoder. NULL is allowed. */
LX_API void lx_image_decoder_free(lx_image_decoder *decoder);

/**
 * Sets the number of channels of the pixels. Options apply to images that are opened later.
 *
 * @param[in]  decoder   The decoder.
 * @param[in]  channels  3: red, green and blue, the default; 1: grey. The grey of a JPEG in YCbCr
 *                       is its Y channel, and otherwise .299 red + .587 green + .114 blue.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The number was set.
 * @retval LX_ERR_ARGUMENT  The number is neither 1 nor 3, or @p decoder is NULL.
 */
LX_API lx_status lx_image_decoder_set_channels(lx_image_decoder *decoder, uint32_t channels,
                                               lx_error *error);

/**
 * Sets the scale of JPEG images: 1/2, 1/4 or 1/8 of their size, rounded up, which is several times
 * faster than to decode and shrink them, but gives other pixels. Images of other formats are then
 * refused.
 *
 * @param[in]  decoder  The decoder.
 * @param[in]  divisor  1 (the default), 2, 4 or 8.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The scale was set.
 * @retval LX_ERR_ARGUMENT  The number is not in the list, or @p decoder is NULL.
 */
LX_API lx_status lx_image_decoder_set_scale(lx_image_decoder *decoder, uint32_t divisor,
                                            lx_error *error);

/**
 * Sets whether pixels are the classes of a mask instead of colours: each has one byte, whatever
 * lx_image_decoder_set_channels() says. The image must then be a PNG with a palette, of which the
 * indices are the classes, as in PASCAL VOC, or one of grey with at most 8 bits and without alpha.
 * The bytes are those of Pillow, which numpy.array(Image.open(file)) returns: grey of 1 bit is 0
 * and 1, and grey of 2 or 4 bits becomes grey of 8 bits. The default is false.
 */
LX_API void lx_image_decoder_set_indices(lx_image_decoder *decoder, bool indices);

/** Sets the most pixels that an image may have in its file, so that a small file cannot take much
 * memory and time; the default is #LX_DEFAULT_IMAGE_PIXELS. */
LX_API void lx_image_decoder_set_max_pixels(lx_image_decoder *decoder, uint64_t pixels);

/** Sets whether images are turned and mirrored as the orientation in their Exif data says, so that
 * they are upright, as viewers and OpenCV show them; the default is true. */
LX_API void lx_image_decoder_set_upright(lx_image_decoder *decoder, bool upright);

/**
 * Opens an image: reads its header. An image that was opened before is closed.
 *
 * @param[in]  decoder  The decoder.
 * @param[in]  bytes    The file, which must remain unchanged until the last
 *                      lx_image_decoder_read(); may be NULL if @p size is 0.
 * @param[in]  size     The number of bytes.
 * @param[out] info     Receives what the header says.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The image is open.
 * @retval LX_ERR_ARGUMENT     A pointer is NULL.
 * @retval LX_ERR_CORRUPT      The header is damaged, or the file ends in it.
 * @retval LX_ERR_UNSUPPORTED  The format is unknown; the image is valid but cannot be decoded, such
 *                             as an animated WebP or a JPEG with 12 bits; or it is not a JPEG, and
 *                             a scale is set; or it does not contain classes, which
 *                             lx_image_decoder_set_indices() asks for.
 * @retval LX_ERR_LIMIT        The image has too many pixels.
 * @retval LX_ERR_NOMEM        Out of memory.
 */
LX_API lx_status lx_image_decoder_open(lx_image_decoder *decoder, const void *bytes, size_t size,
                                       lx_image_info *info, lx_error *error);

/**
 * Decodes the open image, or a region of it, any number of times.
 *
 * @param[in]  decoder  The decoder.
 * @param[in]  region   The region, in pixels of the image as @c info describes it: upright and
 *                      scaled; NULL: all of it.
 * @param[out] pixels   Receives the pixels, as in ::lx_image; after a failure, some of them may
 *                      have been written.
 * @param[in]  stride   The distance in bytes from one row to the next, at least the bytes of a row.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The pixels are complete.
 * @retval LX_ERR_ARGUMENT     A pointer is NULL, the region is empty or not within the image, or
 *                             @p stride is too small.
 * @retval LX_ERR_STATE        No image is open: none was opened, opening it failed, or an option
 *                             was set since then.
 * @retval LX_ERR_CORRUPT      The image is damaged, or the file ends too early.
 * @retval LX_ERR_UNSUPPORTED  The image cannot be decoded.
 * @retval LX_ERR_LIMIT        It is a JPEG with more than #LX_MAX_JPEG_SCANS scans.
 * @retval LX_ERR_NOMEM        Out of memory.
 */
LX_API lx_status lx_image_decoder_read(lx_image_decoder *decoder, const lx_image_region *region,
                                       void *pixels, size_t stride, lx_error *error);

/** @} */

LX_END_DECLS

#endif
