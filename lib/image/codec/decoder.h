/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Decoding an image row by row, for a caller that needs each row only for a moment.
 */
#ifndef LX_IMAGE_CODEC_DECODER_H
#define LX_IMAGE_CODEC_DECODER_H

#include <stdbool.h>

#include <loaderx/image/decoder.h>

#include "image/codec/canvas.h"

/** Whether lx__decoder_read_rows() can read the open image: in colour, and stored upright. */
bool lx__decoder_has_rows(const lx_image_decoder *decoder);

/** Passes the rows of a region, which must be within the open image, from top to bottom to @p put.
 * Fails like lx_image_decoder_read(), perhaps after some of the rows. */
lx_status lx__decoder_read_rows(lx_image_decoder *decoder, const lx_image_region *region,
                                lx__row_function put, void *user, lx_error *error);

#endif
