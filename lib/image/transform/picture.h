/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief An image on its way through the steps of a transform. It is decoded as late as possible, so
 * that crops reduce what is decoded, and mirrored as late as possible, in the conversion.
 */
#ifndef LX_IMAGE_PICTURE_H
#define LX_IMAGE_PICTURE_H

#include <stdbool.h>

#include <loaderx/image/decoder.h>
#include <loaderx/image/resize.h>
#include <loaderx/image/transform.h>

/** Reused from image to image; one thread at a time. Zeroed, then lx__picture_init(). */
typedef struct lx__picture {
    lx_image_decoder *decoder;
    lx_image_resizer *resizer;
    uint32_t channels;
    lx_image_convention convention;
    uint32_t width, height; /**< The size after the steps so far. */
    bool mirrored;          /**< Left and right are still to be exchanged. */
    bool decoded;
    lx_image_region region; /**< Until it is decoded: the part of the file's image. */
    lx_image pixels;        /**< Once decoded; in one of the buffers. */
    struct {
        uint8_t *data;
        size_t capacity;
    } buffers[2];
    int used; /**< The buffer that contains the pixels. */
} lx__picture;

lx_status lx__picture_init(lx__picture *picture, uint32_t channels, lx_error *error);

/** Frees what lx__picture_init() allocated, even if it failed. */
void lx__picture_clear(lx__picture *picture);

/** Starts with an encoded image, which must stay valid until the picture is decoded. Returns any
 * status of lx_image_decoder_open(). */
lx_status lx__picture_open(lx__picture *picture, const void *bytes, size_t size, lx_error *error);

/** Keeps a part of the picture, which must be within it. */
void lx__picture_crop(lx__picture *picture, const lx_image_region *part);

/** Exchanges left and right. */
void lx__picture_mirror(lx__picture *picture);

/** Resizes the picture as its convention says. */
lx_status lx__picture_resize(lx__picture *picture, uint32_t width, uint32_t height,
                             lx_image_filter filter, lx_error *error);

/** Makes the pixels available, decoding them if that was not done yet. */
lx_status lx__picture_decode(lx__picture *picture, lx_error *error);

#endif
