/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Logarithms of integers, computed in integer arithmetic: bit-identical on all machines,
 * unlike those of the C library.
 *
 * Source of the method: Tang, "Table-Driven Implementation of the Logarithm Function in IEEE
 * Floating-Point Arithmetic", 1990: a table for the upper bits, a short series for the rest.
 */
#ifndef LX_SAMPLER_LOGARITHM_H
#define LX_SAMPLER_LOGARITHM_H

#include <stdint.h>

/** The unit of logarithms is 2^-57. */
#define LX__LOGARITHM_ONE (UINT64_C(1) << 57)

/** Returns the logarithm to base 2 of a number above 0. The result is monotonic, with an error
 * below two units. doc/orders.md gives the formula. */
uint64_t lx__logarithm(uint64_t number);

#endif
