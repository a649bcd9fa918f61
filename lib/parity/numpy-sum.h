/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Sums of doubles in NumPy's order of addition, so that the rounding is identical.
 */
#ifndef LX_PARITY_NUMPY_SUM_H
#define LX_PARITY_NUMPY_SUM_H

#include <stddef.h>

/** Like numpy.sum() for a contiguous float64 array: pairwise summation, with eight chains for
 * blocks of up to 128 numbers. */
double lx__numpy_sum(const double *values, size_t count);

#endif
