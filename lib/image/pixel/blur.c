/* SPDX-License-Identifier: MIT */
#include "image/pixel/blur.h"

#include <math.h>
#include <string.h>

#include "image/pixel/exact-math.h"

void lx__blur_curve_fill(lx__blur_curve *curve, uint32_t size, double deviation)
{
    double heights[LX__BLUR_REACH_MAX + 1] = {1}, sum = 1;
    for (uint32_t i = 1; i <= size / 2; i++) {
        double distance = i / deviation, power = distance * distance / 2;
        heights[i] = power < 40 ? lx__exact_exp(-power) : 0;
        sum += 2 * heights[i];
    }
    curve->reach = 0;
    curve->weights[0] = 65536;
    for (uint32_t i = 1; i <= size / 2; i++) {
        curve->weights[i] = (uint32_t)nearbyint(heights[i] / sum * 65536);
        curve->weights[0] -= 2 * curve->weights[i];
        if (curve->weights[i] != 0)
            curve->reach = i;
    }
}

/** Returns the pixel that is shown at place @p at of @p size. */
static size_t reflect(ptrdiff_t at, size_t size)
{
    size_t place = (size_t)(at < 0 ? -at : at);
    return place < size ? place : 2 * (size - 1) - place;
}

/** Blurs a column of each place of a row. Results have 8 bits after the binary point. */
static void blur_down(const lx_image *in, size_t y, const lx__blur_curve *curve, uint32_t *sums,
                      uint16_t *out)
{
    size_t size = (size_t)in->width * in->channels;
    const uint8_t *middle = in->pixels + y * in->stride;
    for (size_t x = 0; x < size; x++)
        sums[x] = curve->weights[0] * middle[x] + 128;
    for (uint32_t i = 1; i <= curve->reach; i++) {
        const uint8_t *above = in->pixels + reflect((ptrdiff_t)y - i, in->height) * in->stride;
        const uint8_t *below = in->pixels + reflect((ptrdiff_t)y + i, in->height) * in->stride;
        uint32_t weight = curve->weights[i];
        for (size_t x = 0; x < size; x++)
            sums[x] += weight * ((uint32_t)above[x] + below[x]);
    }
    for (size_t x = 0; x < size; x++)
        out[x] = (uint16_t)(sums[x] >> 8);
}

/** Continues a row at both ends. */
static void extend_row(uint16_t *row, size_t width, size_t channels, size_t reach)
{
    for (size_t i = 1; i <= reach; i++) {
        uint16_t *left = row - i * channels, *right = row + (width - 1 + i) * channels;
        memcpy(left, row + i * channels, channels * sizeof *row);
        memcpy(right, row + (width - 1 - i) * channels, channels * sizeof *row);
    }
}

/** Blurs a row of which both ends are continued. */
static void blur_across(const uint16_t *row, size_t size, size_t channels,
                        const lx__blur_curve *curve, uint32_t *sums, uint8_t *out)
{
    for (size_t x = 0; x < size; x++)
        sums[x] = curve->weights[0] * row[x] + (1 << 23);
    for (uint32_t i = 1; i <= curve->reach; i++) {
        const uint16_t *left = row - i * channels, *right = row + i * channels;
        uint32_t weight = curve->weights[i];
        for (size_t x = 0; x < size; x++)
            sums[x] += weight * ((uint32_t)left[x] + right[x]);
    }
    for (size_t x = 0; x < size; x++)
        out[x] = (uint8_t)(sums[x] >> 24);
}

size_t lx__blur_get_scratch(const lx_image *in, const lx__blur_curve *across)
{
    size_t size = (size_t)in->width * in->channels;
    return size * sizeof(uint32_t) +
           (size + 2 * (size_t)across->reach * in->channels) * sizeof(uint16_t);
}

void lx__image_blur(const lx_image *in, const lx__blur_curve *across, const lx__blur_curve *down,
                    void *scratch, const lx_image *out)
{
    size_t size = (size_t)in->width * in->channels;
    uint32_t *sums = scratch;
    uint16_t *row = (uint16_t *)(sums + size) + (size_t)across->reach * in->channels;
    for (size_t y = 0; y < in->height; y++) {
        blur_down(in, y, down, sums, row);
        extend_row(row, in->width, in->channels, across->reach);
        blur_across(row, size, in->channels, across, sums, out->pixels + y * out->stride);
    }
}
