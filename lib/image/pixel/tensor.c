/* SPDX-License-Identifier: MIT */
#include "image/pixel/tensor.h"

#include <string.h>

#include <loaderx/image/resize.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "image/pixel/element.h"
#include "image/pixel/image-check.h"
#include "image/pixel/tensor-rows.h"

struct lx_image_tensorizer {
    lx__tensor_kind kind;
    lx__tensor_row *convert;
    float *mean_images[2];  /* [1]: mirrored, in the memory of [0]; NULL without a mean image */
    uint32_t width, height; /* of the mean image */
};

/* ---- what bytes become */

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
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
static lx_status set_values(lx__tensor_kind *kind, const lx__tensor_spec *spec, size_t channel,
                            lx_error *error)
{
    float mean = spec->mean[channel], scale = spec->scale[channel];
    for (int byte = 0; byte < 256; byte++) {
        float x = (float)byte;
        float value = spec->multiplies ? (x - mean) * scale + 0.0f
                                       : (x / spec->divisor - mean) / scale;
        if (!lx__element_store(kind->dtype, value, kind->values[channel] + byte * kind->size))
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "the byte %d of channel %zu would become %g, which %s cannot represent: "
                           "check %s",
                           byte, channel, (double)value, lx_dtype_get_name(kind->dtype),
                           spec->multiplies ? "the mean and the factor"
                                            : "the divisor, the mean and the standard deviation");
        float divided = spec->multiplies ? value : (x * kind->high + x * kind->low - mean) / scale;
        kind->is_exact = kind->is_exact && bits_of(divided) == bits_of(value);
        kind->is_copy = kind->is_copy && kind->values[channel][byte * kind->size] == byte;
    }
    return LX_OK;
}

/** Says which byte of a block becomes which element. */
static void arrange(lx__tensor_kind *kind, const lx__tensor_spec *spec)
{
    size_t channels = kind->channels, pixels = LX__BLOCK / channels;
    for (size_t i = 0; i < LX__BLOCK; i++) {
        size_t pixel = kind->planar ? i % LX__LANES : i / channels;
        size_t channel = kind->planar ? i / LX__LANES : i % channels;
        kind->sources[0][i] = (uint8_t)(pixel * channels + channel);
        kind->sources[1][i] = (uint8_t)((pixels - 1 - pixel) * channels + channel);
        kind->means[i] = spec->mean[channel];
        kind->scales[i] = spec->scale[channel];
    }
}

static lx_status set_kind(lx__tensor_kind *kind, const lx__tensor_spec *spec, lx_error *error)
{
    lx_status status = LX_OK;
    kind->dtype = spec->dtype;
    kind->size = lx_dtype_get_size(spec->dtype);
    kind->channels = spec->channels;
    kind->planar = spec->layout == LX_IMAGE_CHW && spec->channels > 1;
    kind->multiplies = spec->multiplies;
    kind->is_varied = spec->mean_image != NULL;
    kind->is_exact = true;
    kind->is_copy = kind->dtype == LX_UINT8 && !kind->is_varied;
    split_reciprocal(kind, spec->divisor);
    for (size_t i = 0; i < kind->channels && !kind->is_varied && status == LX_OK; i++)
        status = set_values(kind, spec, i, error);
    arrange(kind, spec);
    return status;
}

/* ---- mean images */

/** Finds the place of an element of a mean image. */
static void locate(const lx__tensor_spec *spec, size_t i, size_t *channel, size_t *row, size_t *x)
{
    bool first = spec->layout == LX_IMAGE_CHW;
    size_t inner = first ? 1 : spec->channels, plane = (size_t)spec->width * spec->height;
    *channel = first ? i / plane : i % spec->channels;
    *row = i / inner / spec->width % spec->height;
    *x = i / inner % spec->width;
}

/** Fails unless all bytes become elements: the first and the last become the extremes. */
static lx_status check_mean(const lx__tensor_spec *spec, size_t i, lx_error *error)
{
    size_t channel, row, x;
    uint8_t element[sizeof(float)];
    locate(spec, i, &channel, &row, &x);
    for (int byte = 0; byte < 256; byte += 255) {
        float value = ((float)byte - spec->mean_image[i]) * spec->scale[channel];
        if (!lx__element_store(spec->dtype, value, element))
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "the mean image has %g in channel %zu at (%zu, %zu): the byte %d there "
                           "would become %g, which %s cannot represent",
                           (double)spec->mean_image[i], channel, x, row, byte, (double)value,
                           lx_dtype_get_name(spec->dtype));
    }
    return LX_OK;
}

/** Copies the mean image, as it is and mirrored. */
static lx_status set_mean_image(lx_image_tensorizer *self, const lx__tensor_spec *spec,
                                lx_error *error)
{
    size_t count = (size_t)spec->width * spec->height * spec->channels;
    size_t inner = spec->layout == LX_IMAGE_CHW ? 1 : spec->channels;
    self->mean_images[0] = lx__alloc_array(2 * count, sizeof(float));
    if (self->mean_images[0] == NULL)
        return lx__fail_memory(error, "a mean image");
    self->mean_images[1] = self->mean_images[0] + count;
    self->width = spec->width;
    self->height = spec->height;
    for (size_t i = 0; i < count; i++) {
        size_t x = i / inner % spec->width;
        lx_status status = check_mean(spec, i, error);
        if (status != LX_OK)
            return status;
        self->mean_images[0][i] = spec->mean_image[i];
        self->mean_images[1][i + (spec->width - 1) * inner - 2 * x * inner] = spec->mean_image[i];
    }
    return LX_OK;
}

uint32_t lx__tensor_spec_get_checksum(const lx__tensor_spec *spec)
{
    size_t count = (size_t)spec->width * spec->height * spec->mean_channels;
    uint32_t crc = 0;
    for (size_t i = 0; i < count; i++) {
        uint8_t bytes[sizeof(float)];
        lx__store_le32(bytes, bits_of(spec->mean_image[i]));
        crc = lx__crc32c(crc, bytes, sizeof bytes);
    }
    return crc;
}

/* ---- the object */

static lx_status check_scale(const lx__tensor_spec *spec, lx_error *error)
{
    if (!(spec->divisor > 0))
        return lx_fail(error, LX_ERR_ARGUMENT, "the divisor is %g: it must be positive",
                       (double)spec->divisor);
    for (uint32_t i = 0; i < spec->channels && !spec->multiplies; i++)
        if (spec->scale[i] == 0)
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "the standard deviation of channel %u is 0: values cannot be divided by "
                           "it",
                           i);
    return LX_OK;
}

static lx_status check_mean_image(const lx__tensor_spec *spec, lx_error *error)
{
    if (spec->mean_image == NULL)
        return LX_OK;
    if (spec->mean_channels != spec->channels)
        return lx_fail(error, LX_ERR_ARGUMENT, "the mean image has %u channels, and images have %u",
                       spec->mean_channels, spec->channels);
    if (spec->width == 0 || spec->height == 0 || spec->width > LX_IMAGE_SIDE_MAX ||
        spec->height > LX_IMAGE_SIDE_MAX)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the mean image has %u x %u pixels: each side must have from 1 to %u",
                       spec->width, spec->height, LX_IMAGE_SIDE_MAX);
    return LX_OK;
}

static lx_status check(const lx__tensor_spec *spec, lx_error *error)
{
    lx_dtype dtype = spec->dtype;
    if (dtype != LX_UINT8 && dtype != LX_INT8 && dtype != LX_FLOAT16 && dtype != LX_BFLOAT16 &&
        dtype != LX_FLOAT32) {
        const char *name = lx_dtype_get_name(dtype);
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "images cannot become tensors of %s: the dtype must be uint8, int8, "
                       "float16, bfloat16 or float32",
                       name != NULL ? name : "an unknown dtype");
    }
    if (spec->layout != LX_IMAGE_CHW && spec->layout != LX_IMAGE_HWC)
        return lx_fail(error, LX_ERR_ARGUMENT, "%d is no layout: see lx_image_layout",
                       (int)spec->layout);
    if (spec->channels != 1 && spec->channels != LX__CHANNELS)
        return lx_fail(error, LX_ERR_ARGUMENT, "%u channels: images have 1 or 3", spec->channels);
    lx_status status = check_scale(spec, error);
    return status == LX_OK ? check_mean_image(spec, error) : status;
}

lx_status lx__tensorizer_new(const lx__tensor_spec *spec, lx_image_tensorizer **tensorizer,
                             lx_error *error)
{
    lx_status status = check(spec, error);
    if (status != LX_OK)
        return status;
    lx_image_tensorizer *made = lx__alloc_array(1, sizeof *made);
    if (made == NULL)
        return lx__fail_memory(error, "a tensorizer");
    status = set_kind(&made->kind, spec, error);
    if (status == LX_OK && spec->mean_image != NULL)
        status = set_mean_image(made, spec, error);
    if (status != LX_OK) {
        lx_image_tensorizer_free(made);
        return status;
    }
    made->convert = lx__tensor_row_find(&made->kind);
    *tensorizer = made;
    return LX_OK;
}

/** Sets the numbers of each channel; NULL for the defaults. */
static void set_numbers(lx__tensor_spec *spec, const float *mean, const float *scale)
{
    for (uint32_t i = 0; i < spec->channels && i < LX__CHANNELS; i++) {
        spec->mean[i] = mean != NULL ? mean[i] : 0;
        spec->scale[i] = scale != NULL ? scale[i] : 1;
    }
}

lx_status lx_image_tensorizer_new(lx_dtype dtype, lx_image_layout layout, uint32_t channels,
                                  float divisor, const float *mean, const float *std,
                                  lx_image_tensorizer **tensorizer, lx_error *error)
{
    lx__tensor_spec spec = {
        .dtype = dtype, .layout = layout, .channels = channels, .divisor = divisor};
    LX__CLEAR(tensorizer);
    if (tensorizer == NULL)
        return lx__fail_null(error, "tensorizer");
    set_numbers(&spec, mean, std);
    return lx__tensorizer_new(&spec, tensorizer, error);
}

lx_status lx_image_tensorizer_new_scaled(lx_dtype dtype, lx_image_layout layout, uint32_t channels,
                                         const float *mean, const float *factor,
                                         lx_image_tensorizer **tensorizer, lx_error *error)
{
    lx__tensor_spec spec = {
        .dtype = dtype, .layout = layout, .channels = channels, .multiplies = true, .divisor = 1};
    LX__CLEAR(tensorizer);
    if (tensorizer == NULL)
        return lx__fail_null(error, "tensorizer");
    set_numbers(&spec, mean, factor);
    return lx__tensorizer_new(&spec, tensorizer, error);
}

lx_status lx_image_tensorizer_new_mean_image(lx_dtype dtype, lx_image_layout layout,
                                             uint32_t channels, uint32_t width, uint32_t height,
                                             const float *mean, const float *factor,
                                             lx_image_tensorizer **tensorizer, lx_error *error)
{
    lx__tensor_spec spec = {.dtype = dtype,
                            .layout = layout,
                            .channels = channels,
                            .multiplies = true,
                            .divisor = 1,
                            .mean_image = mean,
                            .width = width,
                            .height = height,
                            .mean_channels = channels};
    LX__CLEAR(tensorizer);
    if (tensorizer == NULL || mean == NULL)
        return lx__fail_null(error, tensorizer == NULL ? "tensorizer" : "mean");
    set_numbers(&spec, NULL, factor);
    return lx__tensorizer_new(&spec, tensorizer, error);
}

void lx_image_tensorizer_free(lx_image_tensorizer *tensorizer)
{
    if (tensorizer != NULL)
        lx__free(tensorizer->mean_images[0]);
    lx__free(tensorizer);
}

/* ---- images */

/** Fails unless the tensorizer converts images of this size to tensors of this one. */
static lx_status check_size(const lx_image_tensorizer *self, const lx_image *image, size_t size,
                            lx_error *error)
{
    const lx__tensor_kind *kind = &self->kind;
    if (image->channels != kind->channels)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the image has %u channels: the tensorizer converts images with %zu",
                       image->channels, kind->channels);
    if (self->mean_images[0] != NULL &&
        (image->width != self->width || image->height != self->height))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the image has %u x %u pixels, and the mean image %u x %u", image->width,
                       image->height, self->width, self->height);
    uint64_t pixels = (uint64_t)image->width * image->height, wanted;
    if (!lx__multiply_fits(pixels, kind->size * kind->channels, &wanted) || wanted != size)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the memory for the tensor of an image of %u x %u pixels has %zu bytes: it "
                       "must have %zu for each pixel",
                       image->width, image->height, size, kind->size * kind->channels);
    return LX_OK;
}

static void convert_rows(const lx_image_tensorizer *self, const lx__tensor_kind *kind,
                         const lx_image *image, const lx__conversion *how, uint8_t *out)
{
    size_t plane = (size_t)image->width * image->height;
    size_t row = (size_t)image->width * (kind->planar ? 1 : kind->channels);
    const float *means = self->mean_images[how->mirror_mean];
    for (size_t y = 0; y < image->height; y++)
        self->convert(kind, image->pixels + y * image->stride, image->width, how->mirror,
                      means != NULL ? means + y * row : NULL, out + y * row * kind->size, plane);
}

static void expose(lx__tensor_kind *kind, const lx__exposure *exposure)
{
    kind->is_varied = true;
    kind->is_copy = false;
    for (size_t i = 0; i < LX__BLOCK; i++) {
        kind->offsets[i] = kind->scales[i] * exposure->light;
        kind->scales[i] *= exposure->gain;
    }
}

lx_status lx__tensorizer_convert(const lx_image_tensorizer *tensorizer, const lx_image *image,
                                 const lx__conversion *conversion, void *out, size_t size,
                                 lx_error *error)
{
    lx_status status = lx__image_check(image, "image", error);
    if (status == LX_OK)
        status = check_size(tensorizer, image, size, error);
    if (status != LX_OK)
        return status;
    if (conversion->exposure != NULL) {
        lx__tensor_kind exposed = tensorizer->kind;
        expose(&exposed, conversion->exposure);
        convert_rows(tensorizer, &exposed, image, conversion, out);
    } else {
        convert_rows(tensorizer, &tensorizer->kind, image, conversion, out);
    }
    return LX_OK;
}

lx_status lx_image_tensorizer_convert(const lx_image_tensorizer *tensorizer, const lx_image *image,
                                      bool mirror, void *out, size_t size, lx_error *error)
{
    const lx__conversion conversion = {.mirror = mirror, .mirror_mean = mirror};
    if (tensorizer == NULL)
        return lx__fail_null(error, "tensorizer");
    if (out == NULL)
        return lx__fail_null(error, "out");
    return lx__tensorizer_convert(tensorizer, image, &conversion, out, size, error);
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
        (void)lx__element_store(kind->dtype, values[c], element); /* values are within the range */
        for (uint32_t y = 0; y < part->height; y++, to += stride)
            fill_row(to, part->width, step, element, kind->size);
    }
}
