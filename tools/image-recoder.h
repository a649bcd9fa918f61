/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What happens to the bytes of an image before it is packed: it is checked, or also decoded,
 * resized, cropped and encoded.
 */
#ifndef LX_TOOLS_IMAGE_RECODER_H
#define LX_TOOLS_IMAGE_RECODER_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/status.h>

/** Checks images. Each thread needs its own. */
typedef struct image_recoder image_recoder;

/** Creates a recoder, which image_recoder_free() frees. */
lx_status image_recoder_new(image_recoder **recoder, lx_error *error);

/** NULL is allowed. */
void image_recoder_free(image_recoder *recoder);

/**
 * Checks that an image can be decoded, as far as its header tells.
 *
 * Without libloaderx-image, nothing is checked.
 * @return Any status that lx_image_decoder_open() returns.
 */
lx_status image_recoder_check(image_recoder *self, const void *bytes, size_t size, lx_error *error);

#endif
