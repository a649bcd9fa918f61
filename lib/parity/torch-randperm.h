/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief torch.randperm on a CPU, reproduced exactly.
 */
#ifndef LX_PARITY_TORCH_RANDPERM_H
#define LX_PARITY_TORCH_RANDPERM_H

#include <stddef.h>
#include <stdint.h>

#include "parity/mt19937.h"

/** The minimum length for which torch draws 64-bit numbers and builds the permutation from the
 * front. */
#define LX__RANDPERM_LONG (UINT32_MAX / 20)

/** Fills @p indices with the generator's next permutation of 0..length-1; length is at most
 * 2^32. */
void lx__randperm(lx__mt19937 *generator, uint32_t *indices, uint64_t length);

/** Returns the number of 32-bit numbers that lx__randperm() draws from the generator. */
uint64_t lx__randperm_draws(uint64_t length);

#endif
