/* SPDX-License-Identifier: MIT */
/* Encoding: a byte each for the format and options, the quality, the width, the height and the gap
 * between rows, and then pixels. What is decoded has the size of the image, and its pixels, unless
 * the file is lossy. It takes the inputs of fuzz-image.c. */
#include "fuzz.h"

#include <loaderx/image/decoder.h>
#include <loaderx/image/encoder.h>

enum {
    FORMAT = 3,   /* 0: an unknown one */
    GREY = 4,     /* one channel */
    LOSSLESS = 8, /* refused by JPEG */
};

#define SIDE 64
#define GAP 8

/* What a grey JPEG of the quality 100 loses: each of the 64 coefficients of a block is rounded, and
 * changes a pixel by up to 1/8; the conversions add 1. */
#define JPEG_LOSS 9

static uint8_t decoded[SIDE * SIDE * 3];

/** Decodes the file, which must be as large as the image. */
static void decode(const lx_image *image, const void *bytes, size_t size)
{
    lx_image_info info;
    lx_error error = LX_ERROR_INIT;
    lx_image_decoder *decoder = need(lx_image_decoder_new());
    lx_image_decoder_set_channels(decoder, image->channels, &error);
    lx_image_decoder_open(decoder, bytes, size, &info, &error);
    if (error.status == LX_OK && (info.width != image->width || info.height != image->height))
        fuzz_fail("%u x %u became %u x %u", image->width, image->height, info.width, info.height);
    lx_image_decoder_read(decoder, NULL, decoded, (size_t)image->width * image->channels, &error);
    if (error.status != LX_OK)
        fuzz_fail("decoding: %s", error.message);
    lx_image_decoder_free(decoder);
}

/** Returns the largest change of a byte. */
static int find_loss(const lx_image *image)
{
    size_t row = (size_t)image->width * image->channels;
    int most = 0;
    for (size_t i = 0; i < row * image->height; i++) {
        int change = abs(decoded[i] - image->pixels[i / row * image->stride + i % row]);
        most = change > most ? change : most;
    }
    return most;
}

static void check(unsigned options, int quality, const lx_image *image)
{
    lx_error error = LX_ERROR_INIT;
    lx_image_format format = (lx_image_format)(options & FORMAT);
    bool lossless = options & LOSSLESS;
    const void *bytes;
    size_t size;
    lx_image_encoder *encoder = need(lx_image_encoder_new());
    lx_image_encoder_set_lossless(encoder, lossless);
    if (lx_image_encoder_set_quality(encoder, quality, NULL) != LX_OK)
        fuzz_fail("the quality %d is refused", quality);
    lx_status status = lx_image_encoder_encode(encoder, image, format, &bytes, &size, &error);
    bool refused = format == LX_IMAGE_UNKNOWN || (format == LX_IMAGE_JPEG && lossless);
    if (status != error.status || status != (refused ? LX_ERR_ARGUMENT : LX_OK))
        fuzz_fail("encoding: %s", error.message);
    if (!refused) {
        decode(image, bytes, size);
        int loss = find_loss(image);
        if ((lossless || format == LX_IMAGE_PNG) && loss != 0)
            fuzz_fail("a lossless file lost %d", loss);
        if (format == LX_IMAGE_JPEG && quality == 100 && image->channels == 1 && loss > JPEG_LOSS)
            fuzz_fail("a JPEG lost %d", loss);
    }
    lx_image_encoder_free(encoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    unsigned options = input_byte(&input);
    int quality = 1 + input_byte(&input) % 100;
    uint32_t channels = options & GREY ? 1 : 3;
    uint32_t width = 1 + input_byte(&input) % SIDE, height = 1 + input_byte(&input) % SIDE;
    size_t row = (size_t)width * channels, stride = row + input_byte(&input) % GAP;
    size_t needed = stride * (height - 1) + row, given = needed;
    uint8_t *pixels = need(calloc(1, needed)); /* exactly as large as the image */
    const uint8_t *bytes = input_bytes(&input, &given);
    if (given != 0)
        memcpy(pixels, bytes, given);
    check(options, quality, &(lx_image){pixels, stride, width, height, channels});
    free(pixels);
    return 0;
}
