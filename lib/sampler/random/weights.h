/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Weights: doubles that a user gives, and the whole numbers that formulas use, which are the
 * same everywhere.
 */
#ifndef LX_SAMPLER_WEIGHTS_H
#define LX_SAMPLER_WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/status.h>

/** LX_ERR_ARGUMENT, naming the weight by its number, if it is negative, infinite or no number. */
lx_status lx__weight_check(uint64_t number, double weight, lx_error *error);

/** The same of @p count of them, one of which at least is above 0; and the largest. */
LX_API lx_status lx__weights_check(const double *weights, uint64_t count, double *largest,
                                   lx_error *error);

/**
 * The power of two by which @p count weights become whole numbers that stand to each other as they
 * do: the same everywhere, however doubles are added there. Their sum is below 2^62 and as many
 * more as there are weights; of two, weights down to a 256th of the largest lose nothing.
 */
int lx__weights_scale(double largest, uint64_t count);

/** A weight above 0 as a whole number, 1 or more. */
uint64_t lx__weight_whole(double weight, int scale);

#endif
