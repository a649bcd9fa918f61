/* SPDX-License-Identifier: MIT */
#include "image-recoder.h"

#include <inttypes.h>
#include <stdlib.h>

#include "failure.h"

#ifdef HAVE_IMAGES
#include <loaderx/image.h>

struct image_recoder {
    const image_recoding *recoding;
    pixel_budget *budget;
    uint64_t taken; /* from the budget */
    uint64_t max_pixels;
    lx_image_decoder *decoder;
    lx_image_resizer *resizer;
    lx_image_encoder *encoder;
    lx_image decoded, resized;
};

bool image_recoder_knows(const void *bytes, size_t size)
{
    return lx_image_format_find(bytes, size) != LX_IMAGE_UNKNOWN;
}

lx_status image_recoder_new(const image_recoding *recoding, pixel_budget *budget,
                            image_recoder **recoder, lx_error *error)
{
    image_recoder *made = *recoder = calloc(1, sizeof *made);
    if (made == NULL)
        return fail_memory(error, "an image");
    made->recoding = recoding;
    made->budget = budget;
    made->decoder = lx_image_decoder_new();
    made->resizer = lx_image_resizer_new();
    made->encoder = lx_image_encoder_new();
    if (made->decoder == NULL || made->resizer == NULL || made->encoder == NULL)
        return fail_memory(error, "an image");
    made->max_pixels = recoding->max_pixels != 0 ? recoding->max_pixels : LX_DEFAULT_IMAGE_PIXELS;
    lx_image_decoder_set_max_pixels(made->decoder, made->max_pixels);
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
    free(recoder->decoded.pixels);
    free(recoder->resized.pixels);
    if (recoder->taken != 0)
        pixel_budget_give(recoder->budget, recoder->taken);
    free(recoder);
}

static lx_status set_size(const image_recoder *self, lx_image *image, uint64_t width,
                          uint64_t height, uint32_t channels, lx_error *error)
{
    bool sides = width > LX_IMAGE_SIDE_MAX || height > LX_IMAGE_SIDE_MAX;
    if (sides || width * height > self->max_pixels)
        return lx_fail(error, LX_ERR_LIMIT,
                       "the image would have %" PRIu64 " x %" PRIu64
                       " pixels, which is too large%s",
                       width, height, sides ? "" : ": --max-pixels sets the limit");
    image->width = (uint32_t)width;
    image->height = (uint32_t)height;
    image->channels = channels;
    image->stride = (size_t)width * channels;
    return LX_OK;
}

/** Computes the sizes of the decoded and the resized image, and waits until the budget has their
 * pixels. Grey images stay grey; the longer side keeps the proportions, rounded down. */
static lx_status plan(image_recoder *self, const lx_image_info *info, lx_error *error)
{
    uint32_t channels = info->channels <= 2 ? 1 : 3;
    uint64_t side = self->recoding->shorter, width = info->width, height = info->height;
    lx_status status = set_size(self, &self->decoded, width, height, channels, error);
    if (status == LX_OK && side != 0 && (width < height ? width : height) != side)
        status = width < height
                     ? set_size(self, &self->resized, side, side * height / width, channels, error)
                     : set_size(self, &self->resized, side * width / height, side, channels, error);
    if (status != LX_OK)
        return status;
    self->taken = width * height + (uint64_t)self->resized.width * self->resized.height;
    pixel_budget_take(self->budget, self->taken);
    return LX_OK;
}

static lx_status allocate(lx_image *image, lx_error *error)
{
    image->pixels = malloc(image->stride * image->height);
    return image->pixels != NULL ? LX_OK : fail_memory(error, "an image");
}

static lx_status decode(image_recoder *self, const void *bytes, size_t size, lx_error *error)
{
    lx_image_info info;
    lx_status status = lx_image_decoder_set_channels(self->decoder, self->decoded.channels, error);
    if (status == LX_OK)
        status = lx_image_decoder_open(self->decoder, bytes, size, &info, error);
    if (status == LX_OK)
        status = allocate(&self->decoded, error);
    return status == LX_OK ? lx_image_decoder_read(self->decoder, NULL, self->decoded.pixels,
                                                   self->decoded.stride, error)
                           : status;
}

static lx_status resize(image_recoder *self, lx_image *result, lx_error *error)
{
    *result = self->decoded;
    if (self->resized.width == 0)
        return LX_OK;
    lx_status status = allocate(&self->resized, error);
    *result = self->resized;
    return status == LX_OK ? lx_image_resizer_resize(self->resizer, &self->decoded, NULL,
                                                     LX_IMAGE_BILINEAR, true, result, error)
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
    advise(error, LX_ERR_LIMIT, "--max-pixels does so");
    if (status != LX_OK || self->recoding->format == LX_IMAGE_UNKNOWN)
        return status;
    status = plan(self, &info, error);
    if (status == LX_OK)
        status = decode(self, bytes, size, error);
    if (status == LX_OK)
        status = resize(self, &image, error);
    if (status == LX_OK)
        status = crop(self->recoding, &image, error);
    return status == LX_OK ? lx_image_encoder_encode(self->encoder, &image, self->recoding->format,
                                                     out, out_size, error)
                           : status;
}

#else

bool image_recoder_knows(const void *bytes, size_t size)
{
    (void)bytes, (void)size;
    return false;
}

lx_status image_recoder_new(const image_recoding *recoding, pixel_budget *budget,
                            image_recoder **recoder, lx_error *error)
{
    (void)budget;
    *recoder = NULL;
    return recoding->format == LX_IMAGE_UNKNOWN && recoding->max_pixels == 0
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
