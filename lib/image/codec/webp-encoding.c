/* SPDX-License-Identifier: MIT */
/* Encoding of WebP images, by libwebp. */
#include "image/codec/image-codec.h"

#include <webp/encode.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"

/* Of 0 (fast) to 9 (small): that of cwebp. */
#define LOSSLESS_EFFORT 6

static int append(const uint8_t *bytes, size_t count, const WebPPicture *picture)
{
    return lx__codec_append(picture->custom_ptr, bytes, count);
}

/** Fails with what libwebp reports. */
static lx_status fail(WebPEncodingError code, lx_error *error)
{
    switch (code) {
    case VP8_ENC_ERROR_OUT_OF_MEMORY:
    case VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY:
    case VP8_ENC_ERROR_BAD_WRITE: /* append() failed */
        return lx__fail_memory(error, "a WebP image");
    case VP8_ENC_ERROR_PARTITION0_OVERFLOW:
    case VP8_ENC_ERROR_PARTITION_OVERFLOW:
    case VP8_ENC_ERROR_FILE_TOO_BIG:
        return lx_fail(error, LX_ERR_LIMIT,
                       "the image gets too large for a WebP file: lower the quality, or choose "
                       "another format");
    default:
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "the image cannot be encoded as WebP: libwebp reports error %d", (int)code);
    }
}

/** Makes the pixels of libwebp, which are numbers of 32 bits. */
static void convert(const lx_image *image, uint32_t *to)
{
    for (uint32_t y = 0; y < image->height; y++) {
        const uint8_t *from = image->pixels + y * image->stride;
        for (uint32_t x = 0; x < image->width; x++, from += image->channels) {
            uint8_t green = from[image->channels / 2], blue = from[image->channels - 1];
            *to++ = 0xff000000U | (uint32_t)from[0] << 16 | (uint32_t)green << 8 | blue;
        }
    }
}

static lx_status encode(void *object, const lx_image *image, lx__codec_output *output,
                        lx_error *error)
{
    WebPConfig config;
    WebPPicture picture;
    uint64_t pixels = (uint64_t)image->width * image->height;
    (void)object;
    if (!WebPConfigPreset(&config, WEBP_PRESET_DEFAULT, (float)output->quality) ||
        !WebPPictureInit(&picture) ||
        (output->lossless && !WebPConfigLosslessPreset(&config, LOSSLESS_EFFORT)))
        return lx_fail(error, LX_ERR_UNSUPPORTED, "libwebp has another version than its header");
    if (pixels > SIZE_MAX / 4 ||
        !lx__reserve(&output->scratch, &output->scratch_capacity, (size_t)pixels * 4))
        return lx__fail_memory(error, "a WebP image");
    picture.use_argb = 1;
    picture.width = picture.argb_stride = (int)image->width;
    picture.height = (int)image->height;
    picture.argb = (void *)output->scratch;
    picture.writer = append;
    picture.custom_ptr = output;
    convert(image, picture.argb);
    bool complete = WebPEncode(&config, &picture);
    WebPEncodingError code = picture.error_code;
    WebPPictureFree(&picture);
    return complete ? LX_OK : fail(code, error);
}

static void release(void *object)
{
    (void)object;
}

const lx__encoding_class lx__encoding_webp = {1, WEBP_MAX_DIMENSION, encode, release};
