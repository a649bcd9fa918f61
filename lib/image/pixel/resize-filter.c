/* SPDX-License-Identifier: MIT */
#include "image/pixel/resize-filter.h"

#include <math.h>

double lx__filter_reach(lx_image_filter filter)
{
    switch (filter) {
    case LX_IMAGE_BOX:
        return 0.5;
    case LX_IMAGE_BILINEAR:
    case LX_IMAGE_HAMMING:
        return 1;
    case LX_IMAGE_BICUBIC:
        return 2;
    case LX_IMAGE_LANCZOS:
        return 3;
    case LX_IMAGE_NEAREST:
        break;
    }
    return 0;
}

#define PI 3.14159265358979323846

/** Returns sin(pi * x), for x of at least 0 and less than 2^31. */
static double sin_pi(double x)
{
    /* The Taylor series: 1 / 21!, -1 / 19! and so on. For an angle of at most pi / 2, the rest is
     * below 2^-55. */
    static const double series[] = {0x1.71b8ef6dcf572p-66, -0x1.2f49b46814157p-57,
                                    0x1.952c77030ad4ap-49, -0x1.ae7f3e733b81fp-41,
                                    0x1.6124613a86d09p-33, -0x1.ae64567f544e4p-26,
                                    0x1.71de3a556c734p-19, -0x1.a01a01a01a01ap-13,
                                    0x1.1111111111111p-7,  -0x1.5555555555555p-3};
    unsigned whole = (unsigned)(x + 0.5);
    double angle = PI * (x - whole), square = angle * angle, sum = 0;
    for (size_t i = 0; i < sizeof series / sizeof *series; i++)
        sum = (sum + series[i]) * square;
    sum = angle + angle * sum;
    return whole % 2 != 0 ? -sum : sum;
}

static double sinc(double x)
{
    return x == 0 ? 1 : sin_pi(x) / (PI * x);
}

static double bilinear(double x)
{
    return x < 1 ? 1 - x : 0;
}

/** As in Pillow, whose constants are floats, and whose curve is not continuous at 0. */
static double hamming(double x)
{
    if (x == 0)
        return 1;
    return x < 1 ? sinc(x) * (0.54F + 0.46F * sin_pi(x + 0.5)) : 0;
}

static double bicubic(double x, double a)
{
    if (x < 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

static double lanczos(double x)
{
    return x < 3 ? sinc(x) * sinc(x / 3) : 0;
}

void lx__filter_weigh(lx_image_filter filter, double cubic, double *pixels, size_t count)
{
    if (filter == LX_IMAGE_BOX) /* of two pixels at the same distance, only one counts */
        for (size_t i = 0; i < count; i++)
            pixels[i] = pixels[i] > -0.5 && pixels[i] <= 0.5 ? 1 : 0;
    else if (filter == LX_IMAGE_BILINEAR)
        for (size_t i = 0; i < count; i++)
            pixels[i] = bilinear(fabs(pixels[i]));
    else if (filter == LX_IMAGE_HAMMING)
        for (size_t i = 0; i < count; i++)
            pixels[i] = hamming(fabs(pixels[i]));
    else if (filter == LX_IMAGE_BICUBIC)
        for (size_t i = 0; i < count; i++)
            pixels[i] = bicubic(fabs(pixels[i]), cubic);
    else
        for (size_t i = 0; i < count; i++)
            pixels[i] = lanczos(fabs(pixels[i]));
}
