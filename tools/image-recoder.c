/* SPDX-License-Identifier: MIT */
#include "image-recoder.h"

#include <inttypes.h>
#include <stdlib.h>

#include "failure.h"

#ifdef HAVE_IMAGES
#include <loaderx/image.h>

/** Pixels, which keep their memory from one image to the next. */
typedef struct canvas {
    lx_image image;
    size_t capacity;
} canvas;

struct image_recoder {
    const image_recoding *recoding;
    lx_image_decoder *decoder;
    lx_image_resizer *resizer;
    lx_image_encoder *encoder;
    canvas decoded, resized;
};

lx_status image_recoder_new(const image_recoding *recoding, image_recoder **recoder,
                            lx_error *error)
{
    image_recoder *made = *recoder = calloc(1, sizeof *made);
    if (made == NULL)
        return fail_memory(error, "an image");
    made->recoding = recoding;
    made->decoder = lx_image_decoder_new();
    made->resizer = lx_image_resizer_new();
    made->encoder = lx_image_encoder_new();
    if (made->decoder == NULL || made->resizer == NULL || made->encoder == NULL)
        return fail_memory(error, "an image");
    lx_image_encoder_set_lossless(made->encoder, recoding->lossless);
    return recoding->quality != 0
               ? lx_image_encoder_set_quality(made->encoder, recoding->quality, error)
               : LX_OK;
}

void image_recoder_free(image_recoder *recoder)
{
    if (recoder == NULL)
        return;
    lx_image_decoder_free(recoder->decoder);
    lx_image_resizer_free(recoder->resizer);
    lx_image_encoder_free(recoder->encoder);
    free(recoder->decoded.image.pixels);
    free(recoder->resized.image.pixels);
    free(recoder);
}

static lx_status make_room(canvas *self, uint64_t width, uint64_t height, uint32_t channels,
                           lx_error *error)
{
    if (width > LX_IMAGE_SIDE_MAX || height > LX_IMAGE_SIDE_MAX ||
        width * height > LX_DEFAULT_IMAGE_PIXELS)
        return lx_fail(error, LX_ERR_LIMIT,
                       "the image would have %" PRIu64 " x %" PRIu64 " pixels, which is too large",
                       width, height);
    size_t size = (size_t)width * height * channels;
    if (size > self->capacity) {
        uint8_t *grown = realloc(self->image.pixels, size);
        if (grown == NULL)
            return fail_memory(error, "an image");
        self->image.pixels = grown;
        self->capacity = size;
    }
    self->image.width = (uint32_t)width;
    self->image.height = (uint32_t)height;
    self->image.channels = channels;
    self->image.stride = (size_t)width * channels;
    return LX_OK;
}

/** Decodes the open image; grey ones stay grey. */
static lx_status decode(image_recoder *self, const void *bytes, size_t size, lx_image_info info,
                        lx_error *error)
{
    uint32_t channels = info.channels <= 2 ? 1 : 3;
    lx_status status = lx_image_decoder_set_channels(self->decoder, channels, error);
    if (status == LX_OK)
        status = lx_image_decoder_open(self->decoder, bytes, size, &info, error);
    if (status == LX_OK)
        status = make_room(&self->decoded, info.width, info.height, channels, error);
    return status == LX_OK ? lx_image_decoder_read(self->decoder, NULL, self->decoded.image.pixels,
                                                   self->decoded.image.stride, error)
                           : status;
}

/** Resizes the decoded image; the longer side keeps the proportions, rounded down. */
static lx_status resize(image_recoder *self, lx_image *result, lx_error *error)
{
    const lx_image *from = &self->decoded.image;
    uint64_t side = self->recoding->shorter, width = from->width, height = from->height;
    *result = *from;
    if (side == 0 || (width < height ? width : height) == side)
        return LX_OK;
    lx_status status =
        width < height
            ? make_room(&self->resized, side, side * height / width, from->channels, error)
            : make_room(&self->resized, side * width / height, side, from->channels, error);
    *result = self->resized.image;
    return status == LX_OK ? lx_image_resizer_resize(self->resizer, from, NULL, LX_IMAGE_BILINEAR,
                                                     true, result, error)
                           : status;
}

/** Leaves only the middle of an image. */
static lx_status crop(const image_recoding *recoding, lx_image *image, lx_error *error)
{
    uint32_t width = recoding->width, height = recoding->height;
    if (width == 0)
        return LX_OK;
    if (image->width < width || image->height < height)
        return lx_fail(error, LX_ERR_MISMATCH,
                       "the image has %" PRIu32 " x %" PRIu32 " pixels, which is smaller than the "
                       "crop: --resize makes it larger",
                       image->width, image->height);
    image->pixels += (image->height - height) / 2 * image->stride +
                     (size_t)((image->width - width) / 2) * image->channels;
    image->width = width;
    image->height = height;
    return LX_OK;
}

lx_status image_recoder_run(image_recoder *self, const void *bytes, size_t size, const void **out,
                            size_t *out_size, lx_error *error)
{
    lx_image_info info;
    lx_image image;
    lx_status status = lx_image_decoder_open(self->decoder, bytes, size, &info, error);
    *out = bytes;
    *out_size = size;
    if (status != LX_OK || self->recoding->format == LX_IMAGE_UNKNOWN)
        return status;
    status = decode(self, bytes, size, info, error);
    if (status == LX_OK)
        status = resize(self, &image, error);
    if (status == LX_OK)
        status = crop(self->recoding, &image, error);
    return status == LX_OK ? lx_image_encoder_encode(self->encoder, &image, self->recoding->format,
                                                     out, out_size, error)
                           : status;
}

#else

lx_status image_recoder_new(const image_recoding *recoding, image_recoder **recoder,
                            lx_error *error)
{
    *recoder = NULL;
    return recoding->format == LX_IMAGE_UNKNOWN
               ? LX_OK
               : lx_fail(error, LX_ERR_UNSUPPORTED,
                         "images can only be packed as they are: this loaderx was built without "
                         "libloaderx-image");
}

void image_recoder_free(image_recoder *recoder)
{
    (void)recoder;
}

lx_status image_recoder_run(image_recoder *self, const void *bytes, size_t size, const void **out,
                            size_t *out_size, lx_error *error)
{
    (void)self, (void)error;
    *out = bytes;
    *out_size = size;
    return LX_OK;
}

#endif
