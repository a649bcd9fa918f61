/* SPDX-License-Identifier: MIT */
#include "image/pixel/rotate.h"

#include <math.h>
#include <string.h>

#include "image/pixel/exact-math.h"

/** The pixels to rotate: columns have negative distances if the image is mirrored. */
typedef struct view {
    const uint8_t *first;
    ptrdiff_t column, row;
    int64_t width, height;
} view;

/** Where the centre of a pixel comes from: x is m[0] * x + m[1] * y + m[2], y likewise. */
typedef double matrix[6];

/** Rounds to 15 decimals, like Python's round(). */
static double round_decimals(double value)
{
    double product = value * 1e15, lost = fma(value, 1e15, -product);
    double whole = nearbyint(product), rest = (product - whole) + lost;
    return (rest > 0.5 ? whole + 1 : rest < -0.5 ? whole - 1 : whole) / 1e15;
}

void lx__rotation_find(double degrees, uint32_t width, uint32_t height, double m[6])
{
    double sine, cosine, x = width / 2.0, y = height / 2.0;
    double turn = fmod(degrees, 360);
    turn = turn < 0 ? turn + 360 : turn;
    lx__exact_sin_cos(-(turn * (3.141592653589793 / 180)), &sine, &cosine);
    m[0] = m[4] = round_decimals(cosine);
    m[1] = round_decimals(sine);
    m[3] = -m[1];
    m[2] = m[0] * -x + m[1] * -y + x;
    m[5] = m[3] * -x + m[4] * -y + y;
}

static int64_t to_fixed(double value)
{
    return (int64_t)floor(value * 65536.0 + 0.5);
}

/** Rotates with numbers that have 16 bits after the binary point. */
static inline void rotate_nearest(const view *in, const matrix m, const uint8_t *fill,
                                  const lx_image *out, size_t channels)
{
    int64_t right_x = to_fixed(m[0]), down_x = to_fixed(m[1]);
    int64_t right_y = to_fixed(m[3]), down_y = to_fixed(m[4]);
    int64_t row_x = to_fixed(m[2] + m[0] * 0.5 + m[1] * 0.5);
    int64_t row_y = to_fixed(m[5] + m[3] * 0.5 + m[4] * 0.5);
    for (size_t line = 0; line < out->height; line++, row_x += down_x, row_y += down_y) {
        uint8_t *to = out->pixels + line * out->stride, *end = to + out->width * channels;
        for (int64_t at_x = row_x, at_y = row_y; to != end; at_x += right_x, at_y += right_y) {
            int64_t x = at_x >> 16, y = at_y >> 16;
            bool inside = x >= 0 && x < in->width && y >= 0 && y < in->height;
            const uint8_t *from = inside ? in->first + y * in->row + x * in->column : fill;
            for (size_t c = 0; c < channels; c++)
                *to++ = from[c];
        }
    }
}

static inline double mix(double a, double b, double part)
{
    return a + (b - a) * part;
}

/** Interpolates at a place within the image. */
static inline void interpolate(const view *in, double x, double y, uint8_t *to, size_t channels)
{
    int64_t left = x < 0 ? -1 : (int64_t)x, top = y < 0 ? -1 : (int64_t)y;
    double part_x = x - (double)left, part_y = y - (double)top;
    ptrdiff_t right = (left + 1 < in->width ? left + 1 : left) * in->column;
    const uint8_t *below = in->first + (top + 1 < in->height ? top + 1 : top) * in->row;
    const uint8_t *above = in->first + (top < 0 ? 0 : top) * in->row;
    left = (left < 0 ? 0 : left) * in->column;
    for (size_t c = 0; c < channels; c++, left++, right++) {
        double upper = mix(above[left], above[right], part_x);
        double lower = mix(below[left], below[right], part_x);
        to[c] = (uint8_t)mix(upper, lower, part_y);
    }
}

static inline void rotate_bilinear(const view *in, const matrix m, const uint8_t *fill,
                                   const lx_image *out, size_t channels)
{
    double width = (double)in->width, height = (double)in->height;
    for (size_t line = 0; line < out->height; line++) {
        uint8_t *to = out->pixels + line * out->stride;
        double row_x = m[1] * ((double)line + 0.5), row_y = m[4] * ((double)line + 0.5);
        for (size_t column = 0; column < out->width; column++, to += channels) {
            double x = m[0] * ((double)column + 0.5) + row_x + m[2];
            double y = m[3] * ((double)column + 0.5) + row_y + m[5];
            if (x >= 0 && x < width && y >= 0 && y < height)
                interpolate(in, x - 0.5, y - 0.5, to, channels);
            else
                memcpy(to, fill, channels);
        }
    }
}

void lx__image_rotate(const lx_image *in, bool mirrored, double degrees, lx_image_filter filter,
                      const uint8_t fill[3], const lx_image *out)
{
    matrix m;
    view of_in = {.first = in->pixels,
                  .column = (ptrdiff_t)in->channels,
                  .row = (ptrdiff_t)in->stride,
                  .width = in->width,
                  .height = in->height};
    if (mirrored) {
        of_in.first += (size_t)(in->width - 1) * in->channels;
        of_in.column = -of_in.column;
    }
    lx__rotation_find(degrees, in->width, in->height, m);
    if (filter == LX_IMAGE_NEAREST && in->channels == 3)
        rotate_nearest(&of_in, m, fill, out, 3);
    else if (filter == LX_IMAGE_NEAREST)
        rotate_nearest(&of_in, m, fill, out, 1);
    else if (in->channels == 3)
        rotate_bilinear(&of_in, m, fill, out, 3);
    else
        rotate_bilinear(&of_in, m, fill, out, 1);
}
