/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What happens to the bytes of an image before it is packed: it is checked, or also decoded,
 * resized, cropped and encoded.
 */
#ifndef LX_TOOLS_IMAGE_RECODER_H
#define LX_TOOLS_IMAGE_RECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/image/format.h>
#include <loaderx/status.h>

#include "pixel-budget.h"

/** How images are changed: resized, then cropped, then encoded. */
typedef struct image_recoding {
    lx_image_format format; /**< #LX_IMAGE_UNKNOWN: they are not changed. */
    uint32_t shorter;       /**< Their shorter side after resizing; 0: they are not resized. */
    uint32_t width, height; /**< The middle that is kept; 0: all. */
    int quality;            /**< 0: the default. */
    uint64_t max_pixels;    /**< Of an image, in its file or resized; 0: the default. */
    bool lossless;
} image_recoding;

/** Whether a file of these first bytes, at most 12, is an image that can be decoded. Without
 * libloaderx-image, none is. */
bool image_recoder_knows(const void *bytes, size_t size);

/** Changes one image. Freed after it, so that no thread keeps the memory of a large image. */
typedef struct image_recoder image_recoder;

/**
 * Creates a recoder, which image_recoder_free() frees, even after a failure. Its pixels count in
 * the budget until then.
 * @retval LX_ERR_UNSUPPORTED  Images are to be changed, but this build has no libloaderx-image.
 */
lx_status image_recoder_new(const image_recoding *recoding, pixel_budget *budget,
                            image_recoder **recoder, lx_error *error);

/** NULL is allowed. */
void image_recoder_free(image_recoder *recoder);

/**
 * Changes the image; call it once. One that stays as it is must have a header that can be decoded;
 * without libloaderx-image, nothing is checked.
 *
 * @param[in]  self      The recoder.
 * @param[in]  bytes     The file.
 * @param[in]  size      Its size.
 * @param[out] out       Receives @p bytes, or bytes that belong to the recoder.
 * @param[out] out_size  Receives their number.
 * @param[out] error     The failure, with which the image is bad.
 */
lx_status image_recoder_run(image_recoder *self, const void *bytes, size_t size, const void **out,
                            size_t *out_size, lx_error *error);

#endif
