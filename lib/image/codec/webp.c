/* SPDX-License-Identifier: MIT */
/* WebP images, by libwebp. */
#include "image/codec/image-codec.h"

#include <inttypes.h>
#include <string.h>

#include <webp/decode.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "image/codec/exif.h"

/* The upsampling of colours mixes each pixel with neighbours at most this far away. */
#define NEIGHBOURS 2

/* A file is a header of 12 bytes and chunks: a name, a length, and the data with padding to an even
 * length. */
#define RIFF_HEADER 12
#define CHUNK_HEADER 8

/** Fails with what libwebp returned. */
static lx_status fail(VP8StatusCode code, size_t size, lx_error *error)
{
    switch (code) {
    case VP8_STATUS_OUT_OF_MEMORY:
        return lx__fail_memory(error, "a WebP image");
    case VP8_STATUS_UNSUPPORTED_FEATURE:
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "the WebP image uses a feature that libwebp does not support");
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA:
        return lx_fail(error, LX_ERR_CORRUPT,
                       "the WebP image cannot be decoded: the file ends too early, at byte %zu",
                       size);
    default:
        return lx_fail(error, LX_ERR_CORRUPT,
                       "the WebP image of %zu bytes cannot be decoded: it is damaged", size);
    }
}

/** Finds the data of the first chunk of this name; NULL if there is none. */
static const uint8_t *find_chunk(const lx__codec_input *input, const char name[4], size_t *size)
{
    uint64_t at = RIFF_HEADER;
    while (lx__range_fits(at, CHUNK_HEADER, input->size)) {
        const uint8_t *chunk = input->bytes + at;
        uint32_t length = lx__load_le32(chunk + 4);
        if (!lx__range_fits(at + CHUNK_HEADER, length, input->size))
            return NULL;
        *size = length;
        if (memcmp(chunk, name, 4) == 0)
            return chunk + CHUNK_HEADER;
        at += CHUNK_HEADER + lx__align_up(length, 2);
    }
    return NULL;
}

static uint32_t find_orientation(const lx__codec_input *input)
{
    size_t size = 0;
    const uint8_t *exif = find_chunk(input, "EXIF", &size);
    return exif == NULL ? 1 : lx__exif_get_orientation(exif, size);
}

static lx_status open_image(void *object, lx__codec_input *input, lx_image_info *info,
                            lx_error *error)
{
    WebPBitstreamFeatures features;
    (void)object;
    VP8StatusCode code = WebPGetFeatures(input->bytes, input->size, &features);
    if (code != VP8_STATUS_OK)
        return fail(code, input->size, error);
    if (features.has_animation)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "the WebP image is animated; only still images can be decoded");
    info->width = (uint32_t)features.width;
    info->height = (uint32_t)features.height;
    info->channels = features.has_alpha ? 4 : 3;
    info->bits = 8;
    info->orientation = find_orientation(input);
    return lx__codec_check_size(input, info->width, info->height, error);
}

/** Sets a range of columns or rows to the pixels from @p first on and their neighbours. libwebp
 * begins only at even numbers. */
static void widen(uint32_t first, uint32_t count, int whole, int *from, int *length)
{
    uint32_t end = first + count, rest = (uint32_t)whole - end;
    *from = (int)(first > NEIGHBOURS ? (first - NEIGHBOURS) & ~1U : 0);
    *length = (int)(end + (rest < NEIGHBOURS ? rest : NEIGHBOURS)) - *from;
}

/** Decodes the colours alone, if they have a chunk of their own. libwebp would decode the
 * transparency as well, which we drop; if that is damaged, version 1.5 reports a lack of memory. */
static VP8StatusCode decode(const lx__codec_input *input, WebPDecoderConfig *config)
{
    size_t size = 0;
    const uint8_t *colours = find_chunk(input, "VP8 ", &size);
    WebPBitstreamFeatures features;
    if (colours == NULL || WebPGetFeatures(colours, size, &features) != VP8_STATUS_OK ||
        features.width != config->input.width || features.height != config->input.height)
        return WebPDecode(input->bytes, input->size, config);
    return WebPDecode(colours, size, config);
}

static lx_status read_image(void *object, lx__codec_input *input, const lx__canvas *canvas,
                            lx_error *error)
{
    const lx_image_region *region = &canvas->region;
    WebPDecoderConfig config;
    WebPDecoderOptions *options = &config.options;
    (void)object;
    if (!WebPInitDecoderConfig(&config))
        return lx_fail(error, LX_ERR_UNSUPPORTED, "libwebp has another version than its header");
    VP8StatusCode code = WebPGetFeatures(input->bytes, input->size, &config.input);
    if (code != VP8_STATUS_OK)
        return fail(code, input->size, error);
    options->use_cropping = 1;
    widen(region->left, region->width, config.input.width, &options->crop_left,
          &options->crop_width);
    widen(region->top, region->height, config.input.height, &options->crop_top,
          &options->crop_height);
    size_t stride = (size_t)options->crop_width * 3, size = stride * (size_t)options->crop_height;
    if (!lx__reserve(&input->scratch, &input->capacity, size))
        return lx__fail_memory(error, "a WebP image");
    config.output.colorspace = MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA = (WebPRGBABuffer){input->scratch, (int)stride, size};
    code = decode(input, &config);
    WebPFreeDecBuffer(&config.output);
    if (code != VP8_STATUS_OK)
        return fail(code, input->size, error);
    const uint8_t *row = input->scratch + (region->top - (size_t)options->crop_top) * stride +
                         (region->left - (size_t)options->crop_left) * 3;
    for (uint32_t y = 0; y < region->height; y++, row += stride)
        lx__canvas_put(canvas, region->top + y, row, 3);
    return LX_OK;
}

static void close_image(void *object)
{
    (void)object;
}

const lx__codec_class lx__codec_webp = {1, open_image, read_image, close_image};
