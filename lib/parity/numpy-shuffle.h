/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The shuffle of numpy.random.RandomState, for orders and samples that reproduce a NumPy
 * training run. lx__mt19937_seed() corresponds to RandomState(seed), and consecutive calls
 * correspond to consecutive calls of its methods.
 */
#ifndef LX_PARITY_NUMPY_SHUFFLE_H
#define LX_PARITY_NUMPY_SHUFFLE_H

#include <stddef.h>
#include <stdint.h>

#include "parity/mt19937.h"

/** RandomState.shuffle() of a one-dimensional array; the swaps do not depend on the dtype. Draws no
 * random numbers if @p count is less than 2. */
void lx__random_state_shuffle32(lx__mt19937 *generator, uint32_t *numbers, uint64_t count);
void lx__random_state_shuffle64(lx__mt19937 *generator, uint64_t *numbers, uint64_t count);

#endif
