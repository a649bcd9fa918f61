/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What numpy.random.RandomState shuffles, for orders and samples that have to be those of
 * who trains with NumPy. RandomState(seed) is lx__mt19937_seed(); calls follow each other as its
 * methods would.
 */
#ifndef LX_PARITY_NUMPY_SHUFFLE_H
#define LX_PARITY_NUMPY_SHUFFLE_H

#include <stddef.h>
#include <stdint.h>

#include "parity/mt19937.h"

/** RandomState.shuffle() of an array of one axis; which numbers are exchanged does not depend on
 * their dtype. Of one number or none nothing is drawn. */
void lx__random_state_shuffle32(lx__mt19937 *generator, uint32_t *numbers, uint64_t count);
void lx__random_state_shuffle64(lx__mt19937 *generator, uint64_t *numbers, uint64_t count);

#endif
