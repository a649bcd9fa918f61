/* SPDX-License-Identifier: MIT */
#include "image/pixel/tensor.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "image/pixel/image-check.h"
#include "image/pixel/tensor-rows.h"

struct lx_image_tensorizer {
    lx__tensor_kind kind;
    lx__tensor_row *convert;
};

/* ---- values */

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/** Shifts right and rounds to the nearest, or to the even one of two. */
static uint32_t shift_round(uint32_t bits, unsigned shift)
{
    uint32_t rest = bits & ((1U << shift) - 1), half = 1U << (shift - 1);
    bits >>= shift;
    return bits + (rest > half || (rest == half && (bits & 1) != 0));
}

/** Converts to float16; what is too large becomes infinite. */
static uint16_t to_float16(uint32_t bits)
{
    uint32_t sign = bits >> 16 & 0x8000, exponent = bits >> 23 & 255;
    if (exponent > 142) /* 65536 and more */
        return (uint16_t)(sign | 0x7c00);
    if (exponent > 112) /* The exponents are biased by 127 and 15. A carry changes the exponent. */
        return (uint16_t)(sign | shift_round((bits & 0x7fffffff) - (112U << 23), 13));
    if (exponent < 102)
        return (uint16_t)sign;
    return (uint16_t)(sign | shift_round((bits & 0x7fffff) | 0x800000, 126 - exponent));
}

/** Converts to an integer within the range. */
static int to_integer(float value, float least, float most)
{
    return (int)nearbyintf(value < least ? least : value > most ? most : value);
}

/** Stores a value as an element; returns false if either is infinite or NaN. */
static bool store(lx_dtype dtype, float value, uint8_t *to)
{
    uint32_t bits = bits_of(value);
    uint16_t half;
    if (!isfinite(value))
        return false;
    switch (dtype) {
    case LX_FLOAT32:
        lx__store_le32(to, bits);
        return true;
    case LX_FLOAT16:
        half = LX__LE16(to_float16(bits));
        memcpy(to, &half, sizeof half);
        return (half & LX__LE16(0x7c00)) != LX__LE16(0x7c00);
    case LX_BFLOAT16:
        half = LX__LE16((uint16_t)shift_round(bits, 16));
        memcpy(to, &half, sizeof half);
        return (half & LX__LE16(0x7f80)) != LX__LE16(0x7f80);
    case LX_INT8:
        *to = (uint8_t)to_integer(value, -128, 127);
        return true;
    default:
        *to = (uint8_t)to_integer(value, 0, 255);
        return true;
    }
}

/** Splits the reciprocal of the divisor, so that the product of a byte and its high part is exact:
 * this part has 16 bits. */
static void split_reciprocal(lx__tensor_kind *kind, float divisor)
{
    double reciprocal = 1.0 / (double)divisor;
    uint32_t bits = bits_of((float)reciprocal) & ~(uint32_t)0xff;
    memcpy(&kind->high, &bits, sizeof bits);
    kind->low = (float)(reciprocal - (double)kind->high);
}

/** Fills in the values of a channel. */
static lx_status set_values(lx__tensor_kind *kind, size_t channel, float divisor, float mean,
                            float std, lx_error *error)
{
    for (int byte = 0; byte < 256; byte++) {
        float x = (float)byte, value = (x / divisor - mean) / std;
        if (!store(kind->dtype, value, kind->values[channel] + byte * kind->size))
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "the byte %d of channel %zu would become %g, which %s cannot represent: "
                           "check the divisor, the mean and the standard deviation",
                           byte, channel, (double)value, lx_dtype_get_name(kind->dtype));
        float formula = (x * kind->high + x * kind->low - mean) / std;
        kind->is_exact = kind->is_exact && bits_of(formula) == bits_of(value);
        kind->is_copy = kind->is_copy && kind->values[channel][byte * kind->size] == byte;
    }
    return LX_OK;
}

/* ---- the object */

static lx_status check(lx_dtype dtype, lx_image_layout layout, uint32_t channels, float divisor,
                       const float *std, lx_error *error)
{
    if (dtype != LX_UINT8 && dtype != LX_INT8 && dtype != LX_FLOAT16 && dtype != LX_BFLOAT16 &&
        dtype != LX_FLOAT32) {
        const char *name = lx_dtype_get_name(dtype);
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "images cannot become tensors of %s: the dtype must be uint8, int8, "
                       "float16, bfloat16 or float32",
                       name != NULL ? name : "an unknown dtype");
    }
    if (layout != LX_IMAGE_CHW && layout != LX_IMAGE_HWC)
        return lx_fail(error, LX_ERR_ARGUMENT, "%d is no layout: see lx_image_layout", (int)layout);
    if (channels != 1 && channels != LX__CHANNELS)
        return lx_fail(error, LX_ERR_ARGUMENT, "%u channels: images have 1 or 3", channels);
    if (!(divisor > 0))
        return lx_fail(error, LX_ERR_ARGUMENT, "the divisor is %g: it must be positive",
                       (double)divisor);
    for (uint32_t i = 0; i < channels && std != NULL; i++)
        if (std[i] == 0)
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "the standard deviation of channel %u is 0: values cannot be divided by "
                           "it",
                           i);
    return LX_OK;
}

/** Says which byte of a block becomes which element. */
static void arrange(lx__tensor_kind *kind, const float *mean, const float *std)
{
    size_t channels = kind->channels, pixels = LX__BLOCK / channels;
    for (size_t i = 0; i < LX__BLOCK; i++) {
        size_t pixel = kind->planar ? i % LX__LANES : i / channels;
        size_t channel = kind->planar ? i / LX__LANES : i % channels;
        kind->sources[0][i] = (uint8_t)(pixel * channels + channel);
        kind->sources[1][i] = (uint8_t)((pixels - 1 - pixel) * channels + channel);
        kind->means[i] = mean != NULL ? mean[channel] : 0;
        kind->stds[i] = std != NULL ? std[channel] : 1;
    }
}

static lx_status set_kind(lx__tensor_kind *kind, float divisor, const float *mean, const float *std,
                          lx_error *error)
{
    lx_status status = LX_OK;
    split_reciprocal(kind, divisor);
    kind->is_exact = true;
    kind->is_copy = kind->dtype == LX_UINT8;
    for (size_t i = 0; i < kind->channels && status == LX_OK; i++)
        status = set_values(kind, i, divisor, mean != NULL ? mean[i] : 0, std != NULL ? std[i] : 1,
                            error);
    arrange(kind, mean, std);
    return status;
}

lx_status lx_image_tensorizer_new(lx_dtype dtype, lx_image_layout layout, uint32_t channels,
                                  float divisor, const float *mean, const float *std,
                                  lx_image_tensorizer **tensorizer, lx_error *error)
{
    LX__CLEAR(tensorizer);
    if (tensorizer == NULL)
        return lx__fail_null(error, "tensorizer");
    lx_status status = check(dtype, layout, channels, divisor, std, error);
    if (status != LX_OK)
        return status;
    lx_image_tensorizer *made = lx__alloc_array(1, sizeof *made);
    if (made == NULL)
        return lx__fail_memory(error, "a tensorizer");
    made->kind.dtype = dtype;
    made->kind.size = lx_dtype_get_size(dtype);
    made->kind.channels = channels;
    made->kind.planar = layout == LX_IMAGE_CHW && channels > 1;
    if ((status = set_kind(&made->kind, divisor, mean, std, error)) != LX_OK) {
        lx__free(made);
        return status;
    }
    made->convert = lx__tensor_row_find(&made->kind);
    *tensorizer = made;
    return LX_OK;
}

void lx_image_tensorizer_free(lx_image_tensorizer *tensorizer)
{
    lx__free(tensorizer);
}

/** Sets the size of the elements of one channel in bytes; fails if it is not that of @p size. */
static lx_status check_size(const lx__tensor_kind *kind, const lx_image *image, size_t size,
                            size_t *plane, lx_error *error)
{
    if (image->channels != kind->channels)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the image has %u channels: the tensorizer converts images with %zu",
                       image->channels, kind->channels);
    uint64_t pixels = (uint64_t)image->width * image->height, wanted;
    if (!lx__multiply_fits(pixels, kind->size * kind->channels, &wanted) || wanted != size)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the memory for the tensor of an image of %u x %u pixels has %zu bytes: it "
                       "must have %zu for each pixel",
                       image->width, image->height, size, kind->size * kind->channels);
    *plane = size / kind->channels;
    return LX_OK;
}

lx_status lx_image_tensorizer_convert(const lx_image_tensorizer *tensorizer, const lx_image *image,
                                      bool mirror, void *out, size_t size, lx_error *error)
{
    if (tensorizer == NULL)
        return lx__fail_null(error, "tensorizer");
    if (out == NULL)
        return lx__fail_null(error, "out");
    const lx__tensor_kind *kind = &tensorizer->kind;
    size_t plane = 0;
    lx_status status = lx__image_check(image, "image", error);
    if (status == LX_OK)
        status = check_size(kind, image, size, &plane, error);
    if (status != LX_OK)
        return status;
    size_t row_size = (size_t)image->width * kind->size * (kind->planar ? 1 : kind->channels);
    for (size_t y = 0; y < image->height; y++)
        tensorizer->convert(kind, image->pixels + y * image->stride, image->width, mirror,
                            (uint8_t *)out + y * row_size, plane);
    return LX_OK;
}

/** Fills a row of one channel; @p step is the distance in bytes from one element to the next. */
static void fill_row(uint8_t *to, size_t count, size_t step, const uint8_t *element, size_t size)
{
    for (size_t x = 0; x < count; x++, to += step)
        memcpy(to, element, size);
}

void lx__tensorizer_fill(const lx_image_tensorizer *tensorizer, uint32_t width, uint32_t height,
                         const lx_image_region *part, const float *values, void *tensor)
{
    const lx__tensor_kind *kind = &tensorizer->kind;
    size_t step = kind->size * (kind->planar ? 1 : kind->channels), stride = width * step;
    for (size_t c = 0; c < kind->channels; c++) {
        uint8_t element[sizeof(float)];
        uint8_t *to = (uint8_t *)tensor + part->top * stride + part->left * step +
                      c * (kind->planar ? height * stride : kind->size);
        (void)store(kind->dtype, values[c], element); /* values are within the range */
        for (uint32_t y = 0; y < part->height; y++, to += stride)
            fill_row(to, part->width, step, element, kind->size);
    }
}
