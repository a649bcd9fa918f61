/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Weights: the user's doubles, and the integers that formulas use, which are identical on
 * all machines.
 */
#ifndef LX_SAMPLER_WEIGHTS_H
#define LX_SAMPLER_WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/status.h>

/** Returns LX_ERR_ARGUMENT, with the number of the weight in the message, if @p weight is negative,
 * infinite or NaN. */
lx_status lx__weight_check(uint64_t number, double weight, lx_error *error);

/** Checks @p count weights, at least one of which must be above 0, and finds the largest. */
LX_API lx_status lx__weights_check(const double *weights, uint64_t count, double *largest,
                                   lx_error *error);

/**
 * Returns the exponent of the power of two that converts @p count weights to integers in the same
 * proportions, so that their sum is exact on all machines. The sum is less than 2^62 + @p count.
 * With two weights, the conversion is exact if the smaller one is at least 1/256 of the larger one.
 */
int lx__weights_scale(double largest, uint64_t count);

/** Converts a weight above 0 to an integer of 1 or more. */
uint64_t lx__weight_to_integer(double weight, int scale);

#endif
