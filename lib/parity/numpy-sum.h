/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Sums of doubles in the order in which NumPy adds them, so that they are rounded alike.
 */
#ifndef LX_PARITY_NUMPY_SUM_H
#define LX_PARITY_NUMPY_SUM_H

#include <stddef.h>

/** As numpy.sum() of a contiguous array of float64: by halves, of which up to 128 numbers are added
 * in eight chains. */
double lx__numpy_sum(const double *values, size_t count);

#endif
