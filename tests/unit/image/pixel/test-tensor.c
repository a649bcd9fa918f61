/* SPDX-License-Identifier: MIT */
/* Converting images to tensors. */
#include "image/pixel/tensor.h"

#include <math.h>

#include <loaderx/image/resize.h>

#include "base/bytes.h"
#include "image/pixel/element.h"
#include "pixels.h"

static const float mean[] = {0.485F, 0.456F, 0.406F}, std[] = {0.229F, 0.224F, 0.225F};
static const lx_dtype dtypes[] = {LX_UINT8, LX_INT8, LX_FLOAT16, LX_BFLOAT16, LX_FLOAT32};

static lx_image_tensorizer *make(lx_dtype dtype, lx_image_layout layout, uint32_t channels,
                                 float divisor, const float *means, const float *stds)
{
    lx_error error = LX_ERROR_INIT;
    lx_image_tensorizer *tensorizer = NULL;
    unit_ok(lx_image_tensorizer_new(dtype, layout, channels, divisor, means, stds, &tensorizer,
                                    &error));
    return tensorizer;
}

static uint8_t *convert(const lx_image_tensorizer *tensorizer, const lx_image *image, bool mirror,
                        size_t element)
{
    lx_error error = LX_ERROR_INIT;
    size_t size = (size_t)image->width * image->height * image->channels * element;
    uint8_t *out = malloc(size);
    unit_ok(lx_image_tensorizer_convert(tensorizer, image, mirror, out, size, &error));
    return out;
}

/** Returns the number that an element represents. */
static double read_element(lx_dtype dtype, const uint8_t *at)
{
    uint32_t bits;
    float value;
    if (dtype == LX_UINT8)
        return at[0];
    if (dtype == LX_INT8)
        return (int8_t)at[0];
    bits = dtype == LX_FLOAT32 ? lx__load_le32(at) : at[0] | (uint32_t)at[1] << 8;
    if (dtype == LX_FLOAT16) {
        int exponent = bits >> 10 & 31;
        double part = (bits & 1023) + (exponent != 0 ? 1024 : 0);
        return ldexp(bits >> 15 ? -part : part, (exponent != 0 ? exponent : 1) - 25);
    }
    if (dtype == LX_BFLOAT16)
        bits <<= 16;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* Every byte in every layout, with widths below and above a block and with rests. */
START_TEST(each_byte_becomes_its_value_in_its_place)
{
    static const uint32_t widths[] = {1, 7, 8, 9, 23, 24, 25, 50};
    for (size_t n = 0; n < 5 * 8 * 8; n++) {
        lx_dtype dtype = dtypes[n % 5];
        uint32_t width = widths[n / 5 % 8], channels = n / 40 % 2 != 0 ? 3 : 1,
                 height = 260 / width + 1;
        lx_image_layout layout = n / 80 % 2 != 0 ? LX_IMAGE_HWC : LX_IMAGE_CHW;
        bool mirror = n / 160 % 2 != 0;
        size_t size = lx_dtype_get_size(dtype), at = 0;
        lx_image image = pixels_new(width, height, channels, 3);
        for (size_t y = 0; y < height; y++)
            for (size_t i = 0; i < width * channels; i++)
                image.pixels[y * image.stride + i] = (uint8_t)(y * width * channels + i);
        lx_image_tensorizer *tensorizer = make(dtype, layout, channels, 255, mean, std);
        uint8_t *out = convert(tensorizer, &image, mirror, size);
        for (size_t c = 0; c < channels; c++)
            for (size_t y = 0; y < height; y++)
                for (size_t x = 0; x < width; x++) {
                    size_t from = mirror ? width - 1 - x : x;
                    float byte = image.pixels[y * image.stride + from * channels + c];
                    volatile float step = byte / 255; /* volatile: each step is rounded */
                    step = step - mean[c];
                    step = step / std[c];
                    at = layout == LX_IMAGE_CHW ? (c * height + y) * width + x
                                                : (y * width + x) * channels + c;
                    double value = read_element(dtype, out + at * size);
                    if (dtype == LX_FLOAT32)
                        ck_assert(value == (double)step);
                    else if (dtype == LX_FLOAT16 || dtype == LX_BFLOAT16)
                        ck_assert_double_le(fabs(value - (double)step),
                                            fabs((double)step) /
                                                (dtype == LX_FLOAT16 ? 2048 : 256));
                    else
                        ck_assert(value ==
                                  fmax(nearbyint((double)step), dtype == LX_INT8 ? -128 : 0));
                }
        free(image.pixels);
        free(out);
        lx_image_tensorizer_free(tensorizer);
    }
}
END_TEST

/** Returns an image of all bytes, in a row. */
static lx_image all_bytes(void)
{
    lx_image image = pixels_new(256, 1, 1, 0);
    for (size_t i = 0; i < 256; i++)
        image.pixels[i] = (uint8_t)i;
    return image;
}

START_TEST(bytes_can_stay_as_they_are)
{
    lx_image image = all_bytes();
    for (size_t i = 0; i < 5; i++) {
        if (dtypes[i] == LX_INT8)
            continue;
        size_t size = lx_dtype_get_size(dtypes[i]);
        lx_image_tensorizer *tensorizer = make(dtypes[i], LX_IMAGE_CHW, 1, 1, NULL, NULL);
        uint8_t *out = convert(tensorizer, &image, false, size);
        for (size_t byte = 0; byte < 256; byte++)
            ck_assert(read_element(dtypes[i], out + byte * size) == (double)byte);
        free(out);
        lx_image_tensorizer_free(tensorizer);
    }
    free(image.pixels);
}
END_TEST

START_TEST(integers_are_rounded_to_even_and_limited)
{
    lx_image image = all_bytes();
    const float middle = 128, two = 2, tenth = 0.1F;
    lx_image_tensorizer *centred = make(LX_INT8, LX_IMAGE_CHW, 1, 1, &middle, NULL);
    lx_image_tensorizer *halves = make(LX_UINT8, LX_IMAGE_CHW, 1, 1, NULL, &two);
    lx_image_tensorizer *limited = make(LX_INT8, LX_IMAGE_CHW, 1, 1, &middle, &tenth);
    uint8_t *a = convert(centred, &image, false, 1), *b = convert(halves, &image, false, 1);
    uint8_t *c = convert(limited, &image, false, 1);
    for (int byte = 0; byte < 256; byte++) {
        int tenfold = (byte - 128) * 10;
        ck_assert_int_eq((int8_t)a[byte], byte - 128);
        ck_assert_int_eq(b[byte], byte / 2 + (byte % 4 == 3));
        ck_assert_int_eq((int8_t)c[byte], tenfold < -128 ? -128 : tenfold > 127 ? 127 : tenfold);
    }
    free(a);
    free(b);
    free(c);
    free(image.pixels);
    lx_image_tensorizer_free(centred);
    lx_image_tensorizer_free(halves);
    lx_image_tensorizer_free(limited);
}
END_TEST

/* Among them are very small numbers, and values that no formula gives. */
START_TEST(halves_are_the_nearest)
{
    static const float stds[] = {1, 3, 255, 1e3F, 4e6F, 1e9F, 3e10F, 0.37F};
    lx_image image = all_bytes();
    for (size_t n = 0; n < 16; n++) {
        lx_dtype dtype = n % 2 != 0 ? LX_FLOAT16 : LX_BFLOAT16;
        const float centre = 100.7F;
        lx_image_tensorizer *halves = make(dtype, LX_IMAGE_CHW, 1, 7.3F, &centre, &stds[n / 2]);
        lx_image_tensorizer *floats = make(LX_FLOAT32, LX_IMAGE_CHW, 1, 7.3F, &centre,
                                           &stds[n / 2]);
        uint8_t *half = convert(halves, &image, false, 2),
                *whole = convert(floats, &image, false, 4);
        for (size_t byte = 0; byte < 256; byte++) {
            double value = read_element(LX_FLOAT32, whole + 4 * byte);
            uint16_t bits = (uint16_t)(half[2 * byte] | half[2 * byte + 1] << 8);
            double nearest = fabs(read_element(dtype, half + 2 * byte) - value);
            for (int step = -1; step <= 1; step += 2) {
                if ((bits & 0x7fff) == 0 && step < 0)
                    continue;
                uint16_t other = (uint16_t)(bits + step);
                const uint8_t bytes[] = {(uint8_t)other, (uint8_t)(other >> 8)};
                double next = fabs(read_element(dtype, bytes) - value);
                ck_assert(nearest < next || (nearest == next && bits % 2 == 0));
            }
        }
        free(half);
        free(whole);
        lx_image_tensorizer_free(halves);
        lx_image_tensorizer_free(floats);
    }
    free(image.pixels);
}
END_TEST

/* ---- multiplying, and mean images */

/** What every combination is tested with. */
struct scaled_case {
    lx_dtype dtype;
    lx_image_layout layout;
    uint32_t channels, width;
    bool mirror, has_image, is_exposed;
};

enum { SCALED_CASES = 5 * 2 * 2 * 5 * 2 * 2 * 2, SCALED_HEIGHT = 11 };

static struct scaled_case scaled_case(size_t n)
{
    static const uint32_t widths[] = {1, 7, 8, 25, 50};
    return (struct scaled_case){.dtype = dtypes[n % 5],
                                .layout = n / 5 % 2 ? LX_IMAGE_HWC : LX_IMAGE_CHW,
                                .channels = n / 10 % 2 ? 3 : 1,
                                .width = widths[n / 20 % 5],
                                .mirror = n / 100 % 2,
                                .has_image = n / 200 % 2,
                                .is_exposed = n / 400 % 2};
}

static const float means[] = {123.68F, 116.779F, 103.939F}, factors[] = {1 / 58.393F, -0.3F, 3};
static const lx__exposure exposure = {.gain = 1.2F, .light = -7.5F};

static lx_image_tensorizer *make_scaled(const struct scaled_case *c, const float *mean_image)
{
    lx_error error = LX_ERROR_INIT;
    lx_image_tensorizer *made = NULL;
    if (c->has_image)
        unit_ok(lx_image_tensorizer_new_mean_image(c->dtype, c->layout, c->channels, c->width,
                                                   SCALED_HEIGHT, mean_image, factors, &made,
                                                   &error));
    else
        unit_ok(lx_image_tensorizer_new_scaled(c->dtype, c->layout, c->channels, means, factors,
                                               &made, &error));
    return made;
}

/** Computes the value of an element, each step being rounded. */
static float scaled_value(const struct scaled_case *c, float byte, float centre, size_t channel)
{
    volatile float scale = factors[channel], light = 0, step = byte - centre;
    if (c->is_exposed) {
        light = scale * exposure.light;
        scale = scale * exposure.gain;
    }
    step = step * scale;
    return step + light;
}

static void check_scaled(const struct scaled_case *c, const lx_image *image,
                         const float *mean_image, const uint8_t *tensor)
{
    size_t size = lx_dtype_get_size(c->dtype), planes = c->layout == LX_IMAGE_CHW;
    for (size_t i = 0; i < (size_t)c->width * SCALED_HEIGHT * c->channels; i++) {
        size_t channel = planes ? i / (c->width * SCALED_HEIGHT) : i % c->channels;
        size_t pixel = planes ? i % (c->width * SCALED_HEIGHT) : i / c->channels;
        size_t y = pixel / c->width, x = pixel % c->width;
        size_t from = y * c->width + (c->mirror ? c->width - 1 - x : x); /* in the image */
        size_t mean_at = planes ? channel * c->width * SCALED_HEIGHT + from
                                : from * c->channels + channel;
        float byte = image->pixels[from * c->channels + channel];
        float centre = c->has_image ? mean_image[mean_at] : means[channel];
        uint8_t right[sizeof(float)];
        ck_assert(lx__element_store(c->dtype, scaled_value(c, byte, centre, channel), right));
        ck_assert_mem_eq(tensor + i * size, right, size);
    }
}

/* In each layout, dtype and width, mirrored and not. The mean is that of the pixel, not that of its
 * place in a mirrored tensor. */
START_TEST(each_pixel_is_subtracted_from_and_multiplied)
{
    lx_error error = LX_ERROR_INIT;
    for (size_t n = 0; n < SCALED_CASES; n++) {
        const struct scaled_case c = scaled_case(n);
        size_t count = (size_t)c.width * SCALED_HEIGHT * c.channels;
        size_t size = count * lx_dtype_get_size(c.dtype);
        lx_image image = pixels_noise(c.width, SCALED_HEIGHT, c.channels);
        float *mean_image = malloc(count * sizeof *mean_image);
        uint8_t *tensor = malloc(size);
        for (size_t i = 0; i < count; i++)
            mean_image[i] = (float)(i * 7919 % 25500) / 100;
        lx_image_tensorizer *tensorizer = make_scaled(&c, mean_image);
        const lx__conversion conversion = {c.mirror, c.mirror, c.is_exposed ? &exposure : NULL};
        unit_ok(lx__tensorizer_convert(tensorizer, &image, &conversion, tensor, size, &error));
        check_scaled(&c, &image, mean_image, tensor);
        free(image.pixels);
        free(mean_image);
        free(tensor);
        lx_image_tensorizer_free(tensorizer);
    }
}
END_TEST

/** An infinite float does not become NaN, which would be undefined as an integer. */
START_TEST(an_exposure_can_exceed_floats)
{
    static const float huge[] = {1e38F};
    static const lx__exposure bright = {.gain = 3, .light = 0};
    static const lx__conversion conversion = {.mirror = true, .exposure = &bright};
    lx_error error = LX_ERROR_INIT;
    lx_image image = all_bytes();
    lx_image_tensorizer *tensorizer, *none;
    int8_t out[256];
    unit_ok(lx_image_tensorizer_new_scaled(LX_INT8, LX_IMAGE_CHW, 1, NULL, (float[]){1e36F},
                                           &tensorizer, &error));
    unit_ok(lx__tensorizer_convert(tensorizer, &image, &conversion, out, sizeof out, &error));
    for (int i = 0; i < 256; i++)
        ck_assert_int_eq(out[i], i == 255 ? 0 : 127);
    unit_fails(lx_image_tensorizer_new_scaled(LX_INT8, LX_IMAGE_CHW, 1, NULL, huge, &none, &error),
               LX_ERR_ARGUMENT);
    free(image.pixels);
    lx_image_tensorizer_free(tensorizer);
}
END_TEST

START_TEST(refuses_invalid_mean_images)
{
    static const float mean_image[12] = {0}, wrong[12] = {[7] = NAN}, large[12] = {[11] = 3e38F};
    static const float endless[] = {1, INFINITY, 1};
    lx_error error = LX_ERROR_INIT;
    lx_image_tensorizer *out = NULL;
#define NEW(width, height, mean, factor)                                                           \
    lx_image_tensorizer_new_mean_image(LX_FLOAT16, LX_IMAGE_HWC, 3, width, height, mean, factor,   \
                                       &out, &error)
    unit_refuses_null(NEW(2, 2, NULL, NULL), "mean");
    unit_refuses_null(lx_image_tensorizer_new_mean_image(LX_UINT8, LX_IMAGE_CHW, 3, 2, 2,
                                                         mean_image, NULL, NULL, &error),
                      "tensorizer");
    unit_refuses_null(
        lx_image_tensorizer_new_scaled(LX_UINT8, LX_IMAGE_CHW, 3, NULL, NULL, NULL, &error),
        "tensorizer");
    unit_fails(NEW(0, 2, mean_image, NULL), LX_ERR_ARGUMENT);
    unit_fails(NEW(2, LX_IMAGE_SIDE_MAX + 1, mean_image, NULL), LX_ERR_ARGUMENT);
    unit_fails(NEW(2, 2, mean_image, endless), LX_ERR_ARGUMENT);
    unit_fails(NEW(2, 2, large, NULL), LX_ERR_ARGUMENT);
    ck_assert_int_eq(NEW(2, 2, wrong, NULL), LX_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "channel 1 at (0, 1)"));
    lx_error_clear(&error);
    unit_fails(
        lx_image_tensorizer_new_scaled(LX_FLOAT32, LX_IMAGE_CHW, 3, endless, NULL, &out, &error),
        LX_ERR_ARGUMENT);
    ck_assert_ptr_null(out);
    unit_ok(NEW(2, 2, mean_image, NULL));
#undef NEW
    lx_image image = pixels_new(4, 1, 3, 0);
    uint8_t tensor[24];
    unit_fails(lx_image_tensorizer_convert(out, &image, false, tensor, 24, &error),
               LX_ERR_ARGUMENT);
    free(image.pixels);
    lx_image_tensorizer_free(out);
}
END_TEST

START_TEST(refuses_invalid_kinds)
{
    static const float zero[] = {1, 0, 1}, tiny[] = {1e-39F, 1, 1}, wrong[] = {NAN, 0, 0};
    static const float small[] = {1e-3F, 1, 1};
    lx_error error = LX_ERROR_INIT;
    lx_image_tensorizer *out = NULL;
#define NEW(dtype, layout, channels, divisor, mean, std)                                           \
    lx_image_tensorizer_new(dtype, layout, channels, divisor, mean, std, &out, &error)
    unit_refuses_null(
        lx_image_tensorizer_new(LX_UINT8, LX_IMAGE_CHW, 3, 1, NULL, NULL, NULL, &error),
        "tensorizer");
    unit_fails(NEW(LX_INT64, LX_IMAGE_CHW, 3, 1, NULL, NULL), LX_ERR_UNSUPPORTED);
    unit_fails(NEW((lx_dtype)99, LX_IMAGE_CHW, 3, 1, NULL, NULL), LX_ERR_UNSUPPORTED);
    unit_fails(NEW(LX_UINT8, (lx_image_layout)2, 3, 1, NULL, NULL), LX_ERR_ARGUMENT);
    unit_fails(NEW(LX_UINT8, LX_IMAGE_CHW, 4, 1, NULL, NULL), LX_ERR_ARGUMENT);
    unit_fails(NEW(LX_UINT8, LX_IMAGE_CHW, 3, 0, NULL, NULL), LX_ERR_ARGUMENT);
    unit_fails(NEW(LX_UINT8, LX_IMAGE_CHW, 3, NAN, NULL, NULL), LX_ERR_ARGUMENT);
    unit_fails(NEW(LX_FLOAT32, LX_IMAGE_CHW, 3, 255, NULL, zero), LX_ERR_ARGUMENT);
    unit_fails(NEW(LX_FLOAT32, LX_IMAGE_CHW, 3, 1, NULL, tiny), LX_ERR_ARGUMENT);
    unit_fails(NEW(LX_FLOAT16, LX_IMAGE_CHW, 3, 1, NULL, small), LX_ERR_ARGUMENT);
    unit_fails(NEW(LX_INT8, LX_IMAGE_CHW, 3, 1, wrong, NULL), LX_ERR_ARGUMENT);
    unit_fails(NEW(LX_BFLOAT16, LX_IMAGE_CHW, 3, 1e-38F, NULL, NULL), LX_ERR_ARGUMENT);
#undef NEW
    ck_assert_ptr_null(out);
}
END_TEST

START_TEST(refuses_invalid_images)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t out[48];
    lx_image image = pixels_new(4, 4, 3, 0), none = image, grey = image;
    lx_image_tensorizer *tensorizer = make(LX_UINT8, LX_IMAGE_CHW, 3, 1, NULL, NULL);
    none.width = 0;
    grey.channels = 1;
    unit_refuses_null(lx_image_tensorizer_convert(NULL, &image, false, out, 48, &error),
                      "tensorizer");
    unit_refuses_null(lx_image_tensorizer_convert(tensorizer, NULL, false, out, 48, &error),
                      "image");
    unit_refuses_null(lx_image_tensorizer_convert(tensorizer, &image, false, NULL, 48, &error),
                      "out");
    unit_fails(lx_image_tensorizer_convert(tensorizer, &none, false, out, 48, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_image_tensorizer_convert(tensorizer, &grey, false, out, 16, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_image_tensorizer_convert(tensorizer, &image, false, out, 47, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_image_tensorizer_convert(tensorizer, &image, false, out, 49, &error),
               LX_ERR_ARGUMENT);
    free(image.pixels);
    lx_image_tensorizer_free(tensorizer);
    lx_image_tensorizer_free(NULL);
}
END_TEST

UNIT_MAIN("image/pixel/tensor", each_byte_becomes_its_value_in_its_place,
          bytes_can_stay_as_they_are, integers_are_rounded_to_even_and_limited,
          halves_are_the_nearest, each_pixel_is_subtracted_from_and_multiplied,
          an_exposure_can_exceed_floats, refuses_invalid_mean_images, refuses_invalid_kinds,
          refuses_invalid_images)
