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

#include "image/pixel/blur.h"
#include "image/transform/moves.h"

/** What a picture contains. */
typedef enum lx__picture_content {
    LX__PICTURE_COLORS,
    LX__PICTURE_CLASSES, /**< The pixels of a mask: steps choose among them, but do not mix them. */
    LX__PICTURE_OUTLINE  /**< No pixels: the image is not decoded, and only its size is followed. */
} lx__picture_content;

/** Reused from image to image; one thread at a time. Zeroed, then lx__picture_init(). */
typedef struct lx__picture {
    lx_image_decoder *decoder;
    lx_image_resizer *resizer;
    uint32_t channels;
    lx_image_convention convention;
    lx__picture_content content;
    uint8_t fill;    /**< Of classes: that of new pixels. */
    lx__moves moves; /**< What the steps so far have done to coordinates in the file's image. */
    uint32_t width, height; /**< The size after the steps so far. */
    bool mirrored;          /**< Left and right are still to be exchanged. */
    bool flipped; /**< Mirrors have exchanged them, in the pixels or not: a mean image follows. */
    bool decoded;
    lx_image_region region; /**< Until it is decoded: the part of the file's image. */
    lx_image pixels;        /**< Once decoded; in one of the buffers. */
    struct {
        uint8_t *data;
        size_t capacity;
    } buffers[2], scratch;
    int used; /**< The buffer that contains the pixels. */
    struct {
        lx_image_region part; /**< As the tensor shows it. */
        const float *values;
    } erasures[LX_MAX_IMAGE_STEPS]; /**< What is to be replaced in the tensor. */
    size_t erasure_count;
} lx__picture;

lx_status lx__picture_init(lx__picture *picture, uint32_t channels, lx_error *error);

/** Likewise for masks. */
lx_status lx__picture_init_mask(lx__picture *picture, lx_error *error);

/** Sets the most pixels that an image may have in its file. */
void lx__picture_set_max_pixels(lx__picture *picture, uint64_t pixels);

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

/** Adds pixels of a colour: on the left, at the top, on the right and at the bottom. */
lx_status lx__picture_pad(lx__picture *picture, const uint32_t sides[4], const uint8_t fill[3],
                          lx_error *error);

/** Rotates the picture as lx__image_rotate() does. */
lx_status lx__picture_rotate(lx__picture *picture, double degrees, lx_image_filter filter,
                             const uint8_t fill[3], lx_error *error);

/** Blurs the picture as lx__image_blur() does; both sides must be longer than the curves reach. */
lx_status lx__picture_blur(lx__picture *picture, const lx__blur_curve *across,
                           const lx__blur_curve *down, lx_error *error);

/** Remembers a part of the picture whose elements in the tensor are to be replaced: by a number for
 * each channel, which must stay valid. Other changes cannot follow. */
void lx__picture_erase(lx__picture *picture, const lx_image_region *part, const float *values);

/** Makes the pixels available, decoding them if that was not done yet. */
lx_status lx__picture_decode(lx__picture *picture, lx_error *error);

#endif
