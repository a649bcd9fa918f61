/* SPDX-License-Identifier: MIT */
#include "image/pixel/resize-plain.h"

/** Rounds a sum of weighted bytes to a byte. */
static uint8_t round_sum(int32_t sum)
{
    int32_t value = sum >> LX__WEIGHT_BITS;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

#define HALF (1 << (LX__WEIGHT_BITS - 1))

static void horizontal_1(const lx__axis *axis, const uint8_t *const *in, uint8_t *const *out)
{
    for (size_t x = 0; x < axis->key.out_size; x++) {
        const int16_t *weights = lx__axis_weights(axis, x);
        for (size_t row = 0; row < LX__PASS_ROWS; row++) {
            const uint8_t *pixels = in[row] + axis->starts[x];
            int32_t sum = HALF;
            for (size_t k = 0; k < axis->counts[x]; k++)
                sum += pixels[k] * lx__weight(weights, k);
            out[row][x] = round_sum(sum);
        }
    }
}

static void horizontal_3(const lx__axis *axis, const uint8_t *const *in, uint8_t *const *out)
{
    for (size_t x = 0; x < axis->key.out_size; x++) {
        const int16_t *weights = lx__axis_weights(axis, x);
        for (size_t row = 0; row < LX__PASS_ROWS; row++) {
            const uint8_t *pixels = in[row] + 3 * (size_t)axis->starts[x];
            int32_t red = HALF, green = HALF, blue = HALF;
            for (size_t k = 0; k < axis->counts[x]; k++) {
                int32_t weight = lx__weight(weights, k);
                red += pixels[3 * k] * weight;
                green += pixels[3 * k + 1] * weight;
                blue += pixels[3 * k + 2] * weight;
            }
            out[row][3 * x] = round_sum(red);
            out[row][3 * x + 1] = round_sum(green);
            out[row][3 * x + 2] = round_sum(blue);
        }
    }
}

/* A block of sums, which compilers vectorize. */
#define BLOCK 64

static void vertical(const int16_t *weights, size_t count, const uint8_t *const *rows, size_t size,
                     uint8_t *out)
{
    int32_t sums[BLOCK];
    for (size_t from = 0; from < size; from += BLOCK) {
        size_t width = size - from < BLOCK ? size - from : BLOCK;
        for (size_t i = 0; i < BLOCK; i++)
            sums[i] = HALF;
        for (size_t k = 0; k < count; k++) {
            int32_t weight = lx__weight(weights, k);
            const uint8_t *row = rows[k] + from;
            for (size_t i = 0; i < width; i++)
                sums[i] += row[i] * weight;
        }
        for (size_t i = 0; i < width; i++)
            out[from + i] = round_sum(sums[i]);
    }
}

const lx__passes lx__passes_plain = {{horizontal_1, horizontal_3}, vertical};
