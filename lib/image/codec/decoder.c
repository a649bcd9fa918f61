/* SPDX-License-Identifier: MIT */
#include "image/codec/decoder.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/image-signature.h"
#include "image/codec/image-codec.h"

#define CODECS (LX_IMAGE_WEBP + 1)

static const lx__codec_class *const classes[CODECS] = {
    [LX_IMAGE_JPEG] = &lx__codec_jpeg,
    [LX_IMAGE_PNG] = &lx__codec_png,
    [LX_IMAGE_WEBP] = &lx__codec_webp,
};

struct lx_image_decoder {
    void *codecs[CODECS]; /**< The objects, by format; NULL until an image needs it. */
    lx__codec_input input;
    uint32_t channels; /**< Of colours. */
    bool upright;
    lx_image_info info; /**< Of the open image; its format is LX_IMAGE_UNKNOWN if none is open. */
    bool fresh;         /**< The codec has opened the image, and has not read it yet. */
};

lx_image_decoder *lx_image_decoder_new(void)
{
    lx_image_decoder *decoder = lx__alloc_array(1, sizeof *decoder);
    if (decoder == NULL)
        return NULL;
    decoder->input.channels = decoder->channels = 3;
    decoder->input.scale = 1;
    decoder->input.max_pixels = LX_DEFAULT_IMAGE_PIXELS;
    decoder->upright = true;
    return decoder;
}

static void close_image(lx_image_decoder *decoder)
{
    lx_image_format format = decoder->info.format;
    if (decoder->codecs[format] != NULL)
        classes[format]->close(decoder->codecs[format]);
    decoder->info.format = LX_IMAGE_UNKNOWN;
    decoder->fresh = false;
}

void lx_image_decoder_free(lx_image_decoder *decoder)
{
    if (decoder == NULL)
        return;
    close_image(decoder);
    for (int i = 0; i < CODECS; i++)
        lx__free(decoder->codecs[i]);
    lx__free(decoder->input.scratch);
    lx__free(decoder);
}

/* ---- options */

lx_status lx_image_decoder_set_channels(lx_image_decoder *decoder, uint32_t channels,
                                        lx_error *error)
{
    if (decoder == NULL)
        return lx__fail_null(error, "decoder");
    if (channels != 1 && channels != 3)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the number of channels must be 1 or 3, not %" PRIu32, channels);
    close_image(decoder);
    decoder->channels = channels;
    decoder->input.channels = decoder->input.indices ? 1 : channels;
    return LX_OK;
}

void lx_image_decoder_set_indices(lx_image_decoder *decoder, bool indices)
{
    close_image(decoder);
    decoder->input.indices = indices;
    decoder->input.channels = indices ? 1 : decoder->channels;
}

lx_status lx_image_decoder_set_scale(lx_image_decoder *decoder, uint32_t divisor, lx_error *error)
{
    if (decoder == NULL)
        return lx__fail_null(error, "decoder");
    if (divisor != 1 && divisor != 2 && divisor != 4 && divisor != 8)
        return lx_fail(error, LX_ERR_ARGUMENT, "the scale must be 1, 2, 4 or 8, not %" PRIu32,
                       divisor);
    close_image(decoder);
    decoder->input.scale = divisor;
    return LX_OK;
}

void lx_image_decoder_set_max_pixels(lx_image_decoder *decoder, uint64_t pixels)
{
    close_image(decoder);
    decoder->input.max_pixels = pixels;
}

void lx_image_decoder_set_upright(lx_image_decoder *decoder, bool upright)
{
    close_image(decoder);
    decoder->upright = upright;
}

/* ---- opening */

/** Reports that a file has no signature of a codec. */
static lx_status fail_unknown(const uint8_t *bytes, size_t size, lx_error *error)
{
    char text[3 * 12 + 1] = "";
    lx__image_signature found = lx__image_signature_find(bytes, size);
    bool image = found != LX__IMAGE_NONE;
    if (size == 0)
        return lx_fail(error, LX_ERR_CORRUPT, "the image is empty: it has 0 bytes");
    for (size_t i = 0; i < size && i < 12; i++)
        snprintf(text + 3 * i, sizeof text - 3 * i, " %02x", bytes[i]);
    return lx_fail(error, LX_ERR_UNSUPPORTED,
                   "the image is not a JPEG, PNG or WebP file%s%s%s; its first bytes are%s",
                   image ? ", but " : "", image ? lx__image_signature_get_name(found) : "",
                   image ? ": convert it to one of these" : "", text);
}

/** Lets the codec open the image, whose format is that of the info. */
static lx_status open_codec(lx_image_decoder *decoder, lx_error *error)
{
    lx_image_format format = decoder->info.format;
    if (decoder->codecs[format] == NULL)
        decoder->codecs[format] = lx__alloc_array(1, classes[format]->object_size);
    void *codec = decoder->codecs[format];
    if (codec == NULL)
        return lx__fail_memory(error, "an image decoder");
    classes[format]->close(codec);
    lx_status status = classes[format]->open(codec, &decoder->input, &decoder->info, error);
    decoder->fresh = status == LX_OK;
    return status;
}

lx_status lx_image_decoder_open(lx_image_decoder *decoder, const void *bytes, size_t size,
                                lx_image_info *info, lx_error *error)
{
    if (decoder == NULL || info == NULL || (bytes == NULL && size > 0))
        return lx__fail_null(error, decoder == NULL ? "decoder" : info == NULL ? "info" : "bytes");
    close_image(decoder);
    lx_image_format format = lx_image_format_find(bytes, size);
    if (format == LX_IMAGE_UNKNOWN)
        return fail_unknown(bytes, size, error);
    if (decoder->input.scale != 1 && format != LX_IMAGE_JPEG)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "only JPEG images can be decoded at a scale of 1/%" PRIu32
                       ", and this one is a %s file",
                       decoder->input.scale, lx_image_format_get_name(format));
    if (decoder->input.indices && format != LX_IMAGE_PNG)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "a mask must be a PNG with a palette or with grey of at most 8 bits, and "
                       "this one is a %s file",
                       lx_image_format_get_name(format));
    decoder->input.bytes = bytes;
    decoder->input.size = size;
    decoder->info = (lx_image_info){.format = format, .orientation = 1};
    lx_status status = open_codec(decoder, error);
    if (status != LX_OK) {
        close_image(decoder);
        return status;
    }
    if (decoder->upright && lx__canvas_swaps(decoder->info.orientation)) {
        uint32_t width = decoder->info.width;
        decoder->info.width = decoder->info.height;
        decoder->info.height = width;
    }
    *info = decoder->info;
    return LX_OK;
}

/* ---- reading */

/** Checks the arguments that depend on the open image. */
static lx_status check_target(const lx_image_decoder *decoder, const lx_image_region *region,
                              size_t stride, lx_error *error)
{
    const lx_image_info *info = &decoder->info;
    uint32_t channels = decoder->input.channels;
    if (region->width == 0 || region->height == 0 ||
        !lx__range_fits(region->left, region->width, info->width) ||
        !lx__range_fits(region->top, region->height, info->height))
        return lx_fail(
            error, LX_ERR_ARGUMENT,
            "the region of %" PRIu32 " x %" PRIu32 " pixels at column %" PRIu32 ", row %" PRIu32
            " is empty or not within the image of %" PRIu32 " x %" PRIu32 " pixels",
            region->width, region->height, region->left, region->top, info->width, info->height);
    if (stride / channels < region->width)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "a stride of %zu bytes is less than a row of %" PRIu32
                       " pixels with %" PRIu32 " bytes each",
                       stride, region->width, channels);
    return LX_OK;
}

/** Opens the image again if it has been read before. */
static lx_status refresh(lx_image_decoder *decoder, lx_error *error)
{
    lx_image_info info = decoder->info;
    if (decoder->fresh)
        return LX_OK;
    lx_status status = open_codec(decoder, error);
    decoder->info = info;
    return status;
}

static lx_status read_to(lx_image_decoder *decoder, const lx__canvas *canvas, lx_error *error)
{
    lx_image_format format = decoder->info.format;
    lx_status status = refresh(decoder, error);
    if (status != LX_OK)
        return status;
    decoder->fresh = false;
    status = classes[format]->read(decoder->codecs[format], &decoder->input, canvas, error);
    classes[format]->close(decoder->codecs[format]);
    return status;
}

lx_status lx_image_decoder_read(lx_image_decoder *decoder, const lx_image_region *region,
                                void *pixels, size_t stride, lx_error *error)
{
    if (decoder == NULL || pixels == NULL)
        return lx__fail_null(error, decoder == NULL ? "decoder" : "pixels");
    const lx_image_info *info = &decoder->info;
    if (info->format == LX_IMAGE_UNKNOWN)
        return lx_fail(error, LX_ERR_STATE,
                       "the decoder has no open image: open it after all options are set");
    lx_image_region all = {0, 0, info->width, info->height};
    if (region == NULL)
        region = &all;
    lx_status status = check_target(decoder, region, stride, error);
    if (status != LX_OK)
        return status;
    lx__canvas canvas;
    lx_image to = {pixels, stride, region->width, region->height, decoder->input.channels};
    lx__canvas_init(&canvas, region, info->width, info->height,
                    decoder->upright ? info->orientation : 1, &to);
    return read_to(decoder, &canvas, error);
}

bool lx__decoder_has_rows(const lx_image_decoder *decoder)
{
    /* Grey may have to be made of colours. */
    return decoder->input.channels == 3 && (!decoder->upright || decoder->info.orientation == 1);
}

lx_status lx__decoder_read_rows(lx_image_decoder *decoder, const lx_image_region *region,
                                lx__row_function put, void *user, lx_error *error)
{
    const lx__canvas canvas = {.region = *region, .channels = 3, .put = put, .user = user};
    return read_to(decoder, &canvas, error);
}
