/* SPDX-License-Identifier: MIT */
/* Blurred images, compared with the formula. */
#include "image/pixel/blur.h"

#include <math.h>

#include "pixels.h"

static lx_image blur(const lx_image *in, uint32_t width, uint32_t height, double deviation)
{
    lx__blur_curve across, down;
    lx__blur_curve_fill(&across, width, deviation);
    lx__blur_curve_fill(&down, height, deviation);
    lx_image out = pixels_new(in->width, in->height, in->channels, 0);
    void *scratch = malloc(lx__blur_get_scratch(in, &across));
    lx__image_blur(in, &across, &down, scratch, &out);
    free(scratch);
    return out;
}

START_TEST(weights_add_up)
{
    for (uint32_t size = 1; size <= 255; size += 2)
        for (double deviation = 0.001; deviation <= 1000; deviation *= 1.7) {
            lx__blur_curve curve;
            lx__blur_curve_fill(&curve, size, deviation);
            uint32_t sum = curve.weights[0];
            ck_assert_uint_le(curve.reach, size / 2);
            for (uint32_t i = 1; i <= curve.reach; i++) {
                sum += 2 * curve.weights[i];
                ck_assert_uint_le(curve.weights[i], curve.weights[i - 1] + 255);
            }
            ck_assert_uint_eq(sum, 65536);
        }
}
END_TEST

/** Returns the pixel that is shown beyond an edge. */
static int reflect(int at, int size)
{
    return at < 0 ? -at : at >= size ? 2 * (size - 1) - at : at;
}

static double curve_at(int distance, double deviation)
{
    return exp(-0.5 * (distance / deviation) * (distance / deviation));
}

/** Computes a pixel in floating point. */
static double formula(const lx_image *in, int x, int y, uint32_t c, int across, int down,
                      double deviation)
{
    double sum = 0, weights = 0;
    for (int j = -down / 2; j <= down / 2; j++)
        for (int i = -across / 2; i <= across / 2; i++) {
            double weight = curve_at(i, deviation) * curve_at(j, deviation);
            size_t from_x = (size_t)reflect(x + i, (int)in->width);
            size_t from_y = (size_t)reflect(y + j, (int)in->height);
            sum += weight * in->pixels[from_y * in->stride + from_x * in->channels + c];
            weights += weight;
        }
    return sum / weights;
}

START_TEST(pixels_are_those_of_the_formula)
{
    static const int sizes[][2] = {{1, 1}, {3, 3}, {5, 9}, {23, 1}, {9, 17}};
    static const double deviations[] = {0.1, 0.8, 2, 30};
    for (int i = 0; i < 40; i++) {
        lx_image in = pixels_noise(13, 10, i % 2 ? 1 : 3);
        int across = sizes[i / 8][0], down = sizes[i / 8][1];
        double deviation = deviations[i / 2 % 4];
        lx_image out = blur(&in, (uint32_t)across, (uint32_t)down, deviation);
        for (uint32_t y = 0; y < in.height; y++)
            for (uint32_t x = 0; x < in.width * in.channels; x++) {
                double right = formula(&in, (int)(x / in.channels), (int)y, x % in.channels, across,
                                       down, deviation);
                ck_assert(fabs(out.pixels[y * out.stride + x] - right) < 0.6);
            }
        free(in.pixels);
        free(out.pixels);
    }
}
END_TEST

START_TEST(even_surfaces_stay)
{
    for (int value = 0; value < 256; value++) {
        lx_image in = pixels_new(9, 7, 3, 0);
        memset(in.pixels, value, in.stride * in.height);
        lx_image out = blur(&in, 13, 11, 0.1 + value * 0.1);
        ck_assert_int_eq(pixels_compare(&in, &out), 0);
        free(in.pixels);
        free(out.pixels);
    }
}
END_TEST

START_TEST(mirroring_before_is_mirroring_afterwards)
{
    lx_image in = pixels_noise(41, 23, 3), mirrored = pixels_mirror(&in);
    lx_image out = blur(&in, 11, 7, 1.3), other = blur(&mirrored, 11, 7, 1.3);
    lx_image again = pixels_mirror(&other);
    ck_assert_int_eq(pixels_compare(&out, &again), 0);
    free(in.pixels);
    free(mirrored.pixels);
    free(out.pixels);
    free(other.pixels);
    free(again.pixels);
}
END_TEST

UNIT_MAIN("image/pixel/blur", weights_add_up, pixels_are_those_of_the_formula, even_surfaces_stay,
          mirroring_before_is_mirroring_afterwards)
