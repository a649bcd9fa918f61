/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Functions whose last bits C leaves to the math library. Here, they are made of operations
 * that IEEE 754 defines exactly, so that every machine gets the same pixels.
 */
#ifndef LX_IMAGE_EXACT_MATH_H
#define LX_IMAGE_EXACT_MATH_H

/** Returns e to the power of @p x, which must be in [-40, 40]. */
double lx__exact_exp(double x);

/** Returns the natural logarithm of @p x, which must be in [0.001, 1000]. */
double lx__exact_log(double x);

/** Computes the sine and the cosine of an angle in [-7, 7], both to less than one unit in the last
 * place. */
void lx__exact_sin_cos(double radians, double *sine, double *cosine);

#endif
