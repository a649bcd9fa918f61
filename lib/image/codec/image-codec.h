/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What a codec is: the parts of the decoder and of the encoder that know one format.
 */
#ifndef LX_IMAGE_CODEC_IMAGE_CODEC_H
#define LX_IMAGE_CODEC_IMAGE_CODEC_H

#include <loaderx/image/decoder.h>

#include "image/codec/canvas.h"

/** An image to decode. */
typedef struct lx__codec_input {
    const uint8_t *bytes; /**< The file. */
    size_t size;          /**< Its length. */
    uint32_t channels;    /**< Of the pixels to make: 1 or 3. */
    bool indices;         /**< Pixels are the classes of a mask; then there is one channel. */
    uint32_t scale;       /**< Its divisor; 1 unless the codec is that of JPEG. */
    uint64_t max_pixels;  /**< The codec checks it with lx__codec_check_size(). */
    uint8_t *scratch;     /**< Memory for any purpose, by lx__reserve(). */
    size_t capacity;      /**< Of @ref scratch. */
} lx__codec_input;

/** A codec. Its object is zeroed memory at first; the decoder keeps it from image to image. */
typedef struct lx__codec_class {
    size_t object_size;

    /** Reads the header. @p info receives the stored width and height, scaled but not turned. The
     * object is closed before; if this fails, it is closed afterwards. */
    lx_status (*open)(void *object, lx__codec_input *input, lx_image_info *info, lx_error *error);

    /** Decodes the region of the canvas, once after each open. */
    lx_status (*read)(void *object, lx__codec_input *input, const lx__canvas *canvas,
                      lx_error *error);

    /** Releases what the object holds; does nothing if it is closed. */
    void (*close)(void *object);
} lx__codec_class;

/** Returns LX_ERR_LIMIT if an image has too many pixels, and LX_ERR_CORRUPT if it has none. */
lx_status lx__codec_check_size(const lx__codec_input *input, uint32_t width, uint32_t height,
                               lx_error *error);

extern const lx__codec_class lx__codec_jpeg;
extern const lx__codec_class lx__codec_png;
extern const lx__codec_class lx__codec_webp;

/** A file that is made. */
typedef struct lx__codec_output {
    int quality;             /**< From 1 to 100, of JPEG and lossy WebP. */
    bool lossless;           /**< Of WebP. */
    uint8_t *bytes;          /**< The file. */
    size_t size;             /**< Its length so far. */
    size_t capacity;         /**< Of @ref bytes. */
    uint8_t *scratch;        /**< Memory for any purpose, by lx__reserve(). */
    size_t scratch_capacity; /**< Of @ref scratch. */
} lx__codec_output;

/** The encoding part of a codec. Its object is zeroed memory at first; the encoder keeps it from
 * image to image. */
typedef struct lx__encoding_class {
    size_t object_size;
    uint32_t max_side; /**< The most pixels of a row or column. */

    /** Encodes a valid image into the output, which is empty. */
    lx_status (*encode)(void *object, const lx_image *image, lx__codec_output *output,
                        lx_error *error);

    /** Releases what the object holds. */
    void (*release)(void *object);
} lx__encoding_class;

/** Makes room for @p count bytes after those of the output, in ever larger steps. When out of
 * memory, returns false and changes nothing. */
bool lx__codec_make_room(lx__codec_output *output, size_t count);

/** Appends bytes to the output. When out of memory, returns false and changes nothing. */
bool lx__codec_append(lx__codec_output *output, const void *bytes, size_t count);

extern const lx__encoding_class lx__encoding_jpeg;
extern const lx__encoding_class lx__encoding_png;
extern const lx__encoding_class lx__encoding_webp;

#endif
