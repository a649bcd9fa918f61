/* SPDX-License-Identifier: MIT */
#include "image/pixel/exact-math.h"

#include <math.h>

/* By Taylor's series of x / 1024. */
double lx__exact_exp(double x)
{
    double small = x / 1024, term = 1, sum = 1;
    for (int i = 1; i <= 8; i++) {
        term = term * small / i;
        sum = sum + term;
    }
    for (int i = 0; i < 10; i++)
        sum = sum * sum;
    return sum;
}

/* By Halley's method. */
double lx__exact_log(double x)
{
    double log = 0;
    for (int i = 0; i < 12; i++) {
        double power = lx__exact_exp(log);
        log = log + 2 * (x - power) / (x + power);
    }
    return log;
}

/* Half of pi as a sum. The first part has 33 bits, so that small multiples of it are exact. */
#define HALF_PI_HIGH 0x1.921fb544p+0
#define HALF_PI_LOW 0x1.0b4611a626331p-34

/* By Taylor's series around the nearest multiple of half of pi. The largest terms are added last,
 * with what their sum loses, so that the results are almost always the nearest numbers. */
void lx__exact_sin_cos(double radians, double *sine, double *cosine)
{
    double quarters = nearbyint(radians / (HALF_PI_HIGH + HALF_PI_LOW));
    double rest = radians - quarters * HALF_PI_HIGH, low = quarters * HALF_PI_LOW;
    double x = rest - low, tail = (rest - x) - low; /* the angle is x + tail */
    double square = x * x, half = square / 2, near_cosine = 1 - half, s = 1, c = 1;
    for (int i = 18; i >= 4; i -= 2) {
        s = 1 - square * s / (i * (i + 1));
        c = 1 - square * c / (i * (i - 1));
    }
    s = x + (near_cosine * tail - x * square / 6 * s);
    c = near_cosine + (((1 - near_cosine) - half) + (half * (1 - c) - x * tail));
    switch ((int)quarters & 3) {
    case 0:
        *sine = s, *cosine = c;
        break;
    case 1:
        *sine = c, *cosine = -s;
        break;
    case 2:
        *sine = -s, *cosine = -c;
        break;
    default:
        *sine = -c, *cosine = s;
    }
}
