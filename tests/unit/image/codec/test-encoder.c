/* SPDX-License-Identifier: MIT */
/* The encoder: what is decoded is what was encoded, and the same bytes come out each time. */
#include "../pixel/pixels.h"

#include <loaderx/image/decoder.h>
#include <loaderx/image/encoder.h>

static lx_error error = LX_ERROR_INIT;

/* Of width and height. */
static const uint32_t sizes[][2] = {{1, 1},   {1, 40},  {40, 1},  {7, 9},
                                    {16, 16}, {17, 33}, {83, 61}, {300, 200}};
#define SIZES (sizeof sizes / sizeof *sizes)

static const lx_image_format formats[] = {LX_IMAGE_JPEG, LX_IMAGE_PNG, LX_IMAGE_WEBP};

/** A copy of an encoded file, which ends with its last byte. */
struct file {
    uint8_t *bytes;
    size_t size;
};

static struct file encode(lx_image_encoder *encoder, const lx_image *image, lx_image_format format)
{
    struct file file;
    const void *bytes;
    unit_ok(lx_image_encoder_encode(encoder, image, format, &bytes, &file.size, &error));
    ck_assert_int_eq(lx_image_format_find(bytes, file.size), format);
    file.bytes = malloc(file.size);
    ck_assert_ptr_nonnull(file.bytes);
    memcpy(file.bytes, bytes, file.size);
    return file;
}

/** Returns whether two files are the same, and releases them. */
static bool equal(struct file a, struct file b)
{
    bool same = a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
    free(a.bytes);
    free(b.bytes);
    return same;
}

static lx_image decode(const struct file *file, const lx_image *like)
{
    lx_image_info info;
    lx_image_decoder *decoder = lx_image_decoder_new();
    lx_image image = pixels_new(like->width, like->height, like->channels, 0);
    unit_ok(lx_image_decoder_set_channels(decoder, like->channels, &error));
    unit_ok(lx_image_decoder_open(decoder, file->bytes, file->size, &info, &error));
    ck_assert_uint_eq(info.width, like->width);
    ck_assert_uint_eq(info.height, like->height);
    ck_assert_uint_eq(info.channels, info.format == LX_IMAGE_WEBP ? 3 : like->channels);
    unit_ok(lx_image_decoder_read(decoder, NULL, image.pixels, image.stride, &error));
    lx_image_decoder_free(decoder);
    return image;
}

/** Returns the largest change of a byte. */
static int loss(lx_image_encoder *encoder, const lx_image *image, lx_image_format format)
{
    struct file file = encode(encoder, image, format);
    lx_image decoded = decode(&file, image);
    int most = pixels_compare(image, &decoded);
    free(decoded.pixels);
    free(file.bytes);
    return most;
}

/** Returns an image whose brightness changes evenly. */
static lx_image make_slope(uint32_t width, uint32_t height, uint32_t channels)
{
    lx_image image = pixels_new(width, height, channels, 0);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t i = 0; i < width * channels; i++)
            image.pixels[y * image.stride + i] =
                (uint8_t)(40 + 20 * (i % channels) + (i / channels + y) * 120 / (width + height));
    return image;
}

START_TEST(lossless_files_have_the_same_pixels)
{
    lx_image_encoder *encoder = lx_image_encoder_new();
    lx_image_encoder_set_lossless(encoder, true);
    for (size_t i = 0; i < 2 * SIZES; i++) {
        lx_image noise = pixels_noise(sizes[i / 2][0], sizes[i / 2][1], i % 2 == 0 ? 1 : 3);
        ck_assert_int_eq(loss(encoder, &noise, LX_IMAGE_PNG), 0);
        ck_assert_int_eq(loss(encoder, &noise, LX_IMAGE_WEBP), 0);
        free(noise.pixels);
    }
    lx_image_encoder_free(encoder);
}
END_TEST

START_TEST(lossy_files_lose_little)
{
    lx_image_encoder *encoder = lx_image_encoder_new();
    for (size_t i = 0; i < 2 * SIZES; i++) {
        lx_image slope = make_slope(sizes[i / 2][0], sizes[i / 2][1], i % 2 == 0 ? 1 : 3);
        ck_assert_int_le(loss(encoder, &slope, LX_IMAGE_JPEG), 8);
        ck_assert_int_le(loss(encoder, &slope, LX_IMAGE_WEBP), 12);
        free(slope.pixels);
    }
    /* With quality 100, each of the 64 coefficients of a block is rounded to an integer, and moves
     * a pixel by up to 1/8; the conversions add 1. */
    unit_ok(lx_image_encoder_set_quality(encoder, 100, &error));
    for (size_t i = 0; i < SIZES; i++) {
        lx_image noise = pixels_noise(sizes[i][0], sizes[i][1], 1);
        ck_assert_int_le(loss(encoder, &noise, LX_IMAGE_JPEG), 9);
        free(noise.pixels);
    }
    lx_image_encoder_free(encoder);
}
END_TEST

START_TEST(rows_may_have_gaps)
{
    lx_image_encoder *encoder = lx_image_encoder_new();
    for (uint32_t channels = 1; channels <= 3; channels += 2)
        for (int f = 0; f < 3; f++) {
            lx_image whole = pixels_noise(60, 40, channels);
            lx_image part = {whole.pixels + 5 * whole.stride + 7 * channels, whole.stride, 31, 22,
                             channels};
            lx_image copy = pixels_new(31, 22, channels, 0);
            for (uint32_t y = 0; y < 22; y++)
                memcpy(copy.pixels + y * copy.stride, part.pixels + y * part.stride, copy.stride);
            ck_assert(
                equal(encode(encoder, &part, formats[f]), encode(encoder, &copy, formats[f])));
            free(copy.pixels);
            free(whole.pixels);
        }
    lx_image_encoder_free(encoder);
}
END_TEST

START_TEST(bytes_do_not_depend_on_earlier_images)
{
    lx_image_encoder *encoder = lx_image_encoder_new();
    for (uint32_t channels = 1; channels <= 3; channels += 2)
        for (int f = 0; f < 3; f++) {
            lx_image_encoder *fresh = lx_image_encoder_new();
            lx_image image = pixels_noise(40, 30, channels),
                     other = make_slope(99, 7, 4 - channels);
            for (int g = 0; g < 3; g++) { /* with other qualities */
                unit_ok(lx_image_encoder_set_quality(encoder, 30 + g, &error));
                free(encode(encoder, &other, formats[g]).bytes);
            }
            unit_ok(lx_image_encoder_set_quality(encoder, 80, &error));
            unit_ok(lx_image_encoder_set_quality(fresh, 80, &error));
            ck_assert(
                equal(encode(encoder, &image, formats[f]), encode(fresh, &image, formats[f])));
            free(image.pixels);
            free(other.pixels);
            lx_image_encoder_free(fresh);
        }
    lx_image_encoder_free(encoder);
}
END_TEST

START_TEST(more_quality_takes_more_bytes)
{
    lx_image image = pixels_noise(64, 64, 3);
    for (int f = 0; f < 3; f += 2) {
        lx_image_encoder *encoder = lx_image_encoder_new();
        struct file usual = encode(encoder, &image, formats[f]);
        size_t before = 0;
        for (int quality = 1; quality <= 100; quality += 11) {
            unit_ok(lx_image_encoder_set_quality(encoder, quality, &error));
            struct file file = encode(encoder, &image, formats[f]);
            ck_assert_uint_gt(file.size, before);
            before = file.size;
            free(file.bytes);
        }
        unit_ok(lx_image_encoder_set_quality(encoder, LX_DEFAULT_IMAGE_QUALITY, &error));
        ck_assert(equal(usual, encode(encoder, &image, formats[f])));
        lx_image_encoder_free(encoder);
    }
    free(image.pixels);
}
END_TEST

START_TEST(jpeg_files_are_baseline_with_a_quarter_of_the_colours)
{
    static const uint8_t header[] = {0xff, 0xc0, 0, 17, 8, 0, 9, 0, 7, 3, 1, 0x22, 0, 2, 0x11, 1};
    lx_image_encoder *encoder = lx_image_encoder_new();
    lx_image image = pixels_noise(7, 9, 3);
    struct file file = encode(encoder, &image, LX_IMAGE_JPEG);
    ck_assert_ptr_nonnull(memmem(file.bytes, file.size, header, sizeof header));
    free(file.bytes);
    free(image.pixels);
    lx_image_encoder_free(encoder);
}
END_TEST

START_TEST(each_format_has_a_longest_side)
{
    static const uint32_t most[] = {65500, 100000, 16383};
    lx_image_encoder *encoder = lx_image_encoder_new();
    uint8_t *pixels = calloc(1, 100001);
    const void *bytes;
    size_t size;
    for (int f = 0; f < 3; f++) {
        lx_image wide = {pixels, most[f], most[f], 1, 1}, high = {pixels, 1, 1, most[f], 1};
        ck_assert_int_eq(loss(encoder, &wide, formats[f]), 0);
        ck_assert_int_eq(loss(encoder, &high, formats[f]), 0);
        if (formats[f] == LX_IMAGE_PNG)
            continue;
        wide.stride = ++wide.width;
        high.height++;
        unit_fails(lx_image_encoder_encode(encoder, &wide, formats[f], &bytes, &size, &error),
                   LX_ERR_LIMIT);
        unit_fails(lx_image_encoder_encode(encoder, &high, formats[f], &bytes, &size, &error),
                   LX_ERR_LIMIT);
    }
    lx_image huge = {pixels, (size_t)1 << 31, 1U << 31, 1, 1};
    unit_fails(lx_image_encoder_encode(encoder, &huge, LX_IMAGE_PNG, &bytes, &size, &error),
               LX_ERR_LIMIT);
    free(pixels);
    lx_image_encoder_free(encoder);
}
END_TEST

START_TEST(refuses_wrong_arguments)
{
    lx_image_encoder *encoder = lx_image_encoder_new();
    lx_image image = pixels_noise(8, 8, 3), wrong = image;
    const void *bytes;
    size_t size;
    unit_refuses_null(lx_image_encoder_encode(NULL, &image, LX_IMAGE_PNG, &bytes, &size, &error),
                      "encoder");
    unit_refuses_null(lx_image_encoder_encode(encoder, NULL, LX_IMAGE_PNG, &bytes, &size, &error),
                      "image");
    unit_refuses_null(lx_image_encoder_encode(encoder, &image, LX_IMAGE_PNG, NULL, &size, &error),
                      "bytes");
    unit_refuses_null(lx_image_encoder_encode(encoder, &image, LX_IMAGE_PNG, &bytes, NULL, &error),
                      "size");
    for (int format = -1; format <= 4; format += format == 0 ? 4 : 1)
        unit_fails(lx_image_encoder_encode(encoder, &image, (lx_image_format)format, &bytes, &size,
                                           &error),
                   LX_ERR_ARGUMENT);
    wrong.channels = 4;
    unit_fails(lx_image_encoder_encode(encoder, &wrong, LX_IMAGE_PNG, &bytes, &size, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_image_encoder_set_quality(encoder, 0, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_image_encoder_set_quality(encoder, 101, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_image_encoder_set_quality(NULL, 50, &error), "encoder");
    lx_image_encoder_set_lossless(encoder, true);
    unit_fails(lx_image_encoder_encode(encoder, &image, LX_IMAGE_JPEG, &bytes, &size, &error),
               LX_ERR_ARGUMENT);
    unit_ok(lx_image_encoder_encode(encoder, &image, LX_IMAGE_PNG, &bytes, &size, &error));
    free(image.pixels);
    lx_image_encoder_free(encoder);
    lx_image_encoder_free(NULL);
}
END_TEST

UNIT_MAIN("image/codec/encoder", lossless_files_have_the_same_pixels, lossy_files_lose_little,
          rows_may_have_gaps, bytes_do_not_depend_on_earlier_images, more_quality_takes_more_bytes,
          jpeg_files_are_baseline_with_a_quarter_of_the_colours, each_format_has_a_longest_side,
          refuses_wrong_arguments)
