/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Encoding images.
 */
#ifndef LOADERX_IMAGE_ENCODER_H
#define LOADERX_IMAGE_ENCODER_H

#include <stdbool.h>
#include <stddef.h>

#include <loaderx/image/format.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_image_encoder Encode images
 *
 * An encoder turns pixels, grey or red, green and blue, into JPEG, PNG and WebP files in memory.
 *
 * - JPEG: baseline; a colour for each 2 x 2 pixels (4:2:0), and the standard Huffman tables. These
 *   are the defaults of libjpeg-turbo, Pillow and OpenCV.
 * - PNG: 8 bits for each channel, not interlaced. It is always lossless.
 * - WebP: lossy or lossless. It has no grey: decoded, a grey image has colours, which are all grey.
 *
 * The same image with the same options always becomes the same bytes, with the same versions of
 * libjpeg-turbo, libpng, zlib and libwebp.
 *
 * Besides the file, an encoder needs the memory of a few rows, and for WebP at least 4 bytes for
 * each pixel, several times as much if it is lossless.
 *
 * @code
 * lx_image_encoder *encoder = lx_image_encoder_new();
 * const void *bytes;
 * size_t size;
 * lx_image_encoder_encode(encoder, &image, LX_IMAGE_JPEG, &bytes, &size,
 *                         &error);
 * if (error.status != LX_OK)
 *     return complain(&error);
 * fwrite(bytes, 1, size, file);
 * lx_image_encoder_free(encoder);
 * @endcode
 * @see lx_error, lx_image_format, lx_image_decoder
 * @{
 */

/** The quality unless lx_image_encoder_set_quality() sets another. A model sees what the encoder
 * lost in each epoch, so it is higher than that of pictures for people. */
#define LX_DEFAULT_IMAGE_QUALITY 95

/**
 * An encoder of images. It keeps its memory from one image to the next.
 *
 * @par Thread safety
 * Only one thread at a time may use an encoder.
 */
typedef struct lx_image_encoder lx_image_encoder;

/** Creates an encoder; free it with lx_image_encoder_free(). Returns NULL when out of memory. */
LX_API lx_image_encoder *lx_image_encoder_new(void);

/** Frees an encoder. NULL is allowed. */
LX_API void lx_image_encoder_free(lx_image_encoder *encoder);

/**
 * Sets the quality of JPEG and lossy WebP images. Their scales differ: at the same number, WebP
 * files are smaller and lose more.
 *
 * @param[in]  encoder  The encoder.
 * @param[in]  quality  From 1, the smallest files, to 100; the default is
 *                      #LX_DEFAULT_IMAGE_QUALITY.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The quality was set.
 * @retval LX_ERR_ARGUMENT  The number is not from 1 to 100, or @p encoder is NULL.
 */
LX_API lx_status lx_image_encoder_set_quality(lx_image_encoder *encoder, int quality,
                                              lx_error *error);

/** Sets whether no pixel may change; the default is false. WebP images are then lossless and have
 * no quality, and JPEG images are refused. */
LX_API void lx_image_encoder_set_lossless(lx_image_encoder *encoder, bool lossless);

/**
 * Encodes an image.
 *
 * @param[in]  encoder  The encoder.
 * @param[in]  image    The image; its pixels are only read.
 * @param[in]  format   The format of the file.
 * @param[out] bytes    Receives the file. It belongs to the encoder, and stays valid until its next
 *                      call or lx_image_encoder_free().
 * @param[out] size     Receives the number of bytes.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The file is complete.
 * @retval LX_ERR_ARGUMENT     A pointer is NULL, the image has no pixels, a wrong number of
 *                             channels or a stride smaller than a row, the format is unknown, or it
 *                             is JPEG and pixels may not change.
 * @retval LX_ERR_LIMIT        A side is longer than the format allows: 65,500 pixels for JPEG,
 *                             16,383 for WebP, 2^31 - 1 for PNG. Or it is a lossy WebP, and a part
 *                             of the file gets too large: WebP cannot have this quality at this
 *                             size.
 * @retval LX_ERR_UNSUPPORTED  The library of the format cannot encode the image.
 * @retval LX_ERR_NOMEM        Out of memory.
 */
LX_API lx_status lx_image_encoder_encode(lx_image_encoder *encoder, const lx_image *image,
                                         lx_image_format format, const void **bytes, size_t *size,
                                         lx_error *error);

/** @} */

LX_END_DECLS

#endif
