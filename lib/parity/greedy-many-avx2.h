/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A greedy mixture of more than 16 sets with AVX2.
 */
#ifndef LX_PARITY_GREEDY_MANY_AVX2_H
#define LX_PARITY_GREEDY_MANY_AVX2_H

#include "parity/greedy.h"

/** Implements lx__greedy_assign_avx2() for more than 16 sets. */
void lx__greedy_assign_many_avx2(lx__greedy *greedy, uint16_t *sets, size_t length);

#endif
