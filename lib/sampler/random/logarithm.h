/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Logarithms of whole numbers, in whole numbers: the same bits everywhere, which those of
 * the C library are not.
 *
 * Source of the method: Tang, "Table-Driven Implementation of the Logarithm Function in IEEE
 * Floating-Point Arithmetic", 1990: a table for the upper bits, a short series for the rest.
 */
#ifndef LX_SAMPLER_LOGARITHM_H
#define LX_SAMPLER_LOGARITHM_H

#include <stdint.h>

/** Logarithms are in units of 2^-57. */
#define LX__LOGARITHM_ONE (UINT64_C(1) << 57)

/** The logarithm to base 2 of a number above 0, off by less than two units, and never less than
 * that of a smaller number (doc/orders.md has the formula). */
uint64_t lx__logarithm(uint64_t number);

#endif
