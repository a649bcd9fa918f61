/* SPDX-License-Identifier: MIT */
#include <loaderx/image/encoder.h>

#include <inttypes.h>

#include "base/alloc.h"
#include "base/error.h"
#include "image/codec/image-codec.h"
#include "image/pixel/image-check.h"

#define CODECS (LX_IMAGE_WEBP + 1)

static const lx__encoding_class *const classes[CODECS] = {
    [LX_IMAGE_JPEG] = &lx__encoding_jpeg,
    [LX_IMAGE_PNG] = &lx__encoding_png,
    [LX_IMAGE_WEBP] = &lx__encoding_webp,
};

struct lx_image_encoder {
    void *objects[CODECS]; /**< By format; NULL until an image needs it. */
    lx__codec_output output;
};

lx_image_encoder *lx_image_encoder_new(void)
{
    lx_image_encoder *encoder = lx__alloc_array(1, sizeof *encoder);
    if (encoder != NULL)
        encoder->output.quality = LX_DEFAULT_IMAGE_QUALITY;
    return encoder;
}

void lx_image_encoder_free(lx_image_encoder *encoder)
{
    if (encoder == NULL)
        return;
    for (int i = 0; i < CODECS; i++) {
        if (encoder->objects[i] != NULL)
            classes[i]->release(encoder->objects[i]);
        lx__free(encoder->objects[i]);
    }
    lx__free(encoder->output.bytes);
    lx__free(encoder->output.scratch);
    lx__free(encoder);
}

/* ---- options */

lx_status lx_image_encoder_set_quality(lx_image_encoder *encoder, int quality, lx_error *error)
{
    if (encoder == NULL)
        return lx__fail_null(error, "encoder");
    if (quality < 1 || quality > 100)
        return lx_fail(error, LX_ERR_ARGUMENT, "the quality must be from 1 to 100, not %d",
                       quality);
    encoder->output.quality = quality;
    return LX_OK;
}

void lx_image_encoder_set_lossless(lx_image_encoder *encoder, bool lossless)
{
    encoder->output.lossless = lossless;
}

/* ---- encoding */

/** Checks whether a format can hold the image. */
static lx_status check_format(const lx_image_encoder *encoder, const lx_image *image,
                              lx_image_format format, lx_error *error)
{
    const char *name = lx_image_format_get_name(format);
    if (name == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "there is no image format with the number %d",
                       (int)format);
    if (encoder->output.lossless && format == LX_IMAGE_JPEG)
        return lx_fail(error, LX_ERR_ARGUMENT, "JPEG images are not lossless: choose PNG or WebP");
    uint32_t most = classes[format]->max_side;
    if (image->width > most || image->height > most)
        return lx_fail(error, LX_ERR_LIMIT,
                       "the image has %" PRIu32 " x %" PRIu32 " pixels, but %s images have at most "
                       "%" PRIu32 " on each side: shrink it or choose another format",
                       image->width, image->height, name, most);
    return LX_OK;
}

lx_status lx_image_encoder_encode(lx_image_encoder *encoder, const lx_image *image,
                                  lx_image_format format, const void **bytes, size_t *size,
                                  lx_error *error)
{
    if (encoder == NULL || bytes == NULL || size == NULL)
        return lx__fail_null(error, encoder == NULL ? "encoder" : bytes == NULL ? "bytes" : "size");
    lx_status status = lx__image_check(image, "image", error);
    if (status == LX_OK)
        status = check_format(encoder, image, format, error);
    if (status != LX_OK)
        return status;
    if (encoder->objects[format] == NULL)
        encoder->objects[format] = lx__alloc_array(1, classes[format]->object_size);
    if (encoder->objects[format] == NULL)
        return lx__fail_memory(error, "an image encoder");
    encoder->output.size = 0;
    status = classes[format]->encode(encoder->objects[format], image, &encoder->output, error);
    if (status != LX_OK)
        return status;
    *bytes = encoder->output.bytes;
    *size = encoder->output.size;
    return LX_OK;
}
