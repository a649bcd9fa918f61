/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Permutations with the fastest kernel that the processor supports.
 */
#ifndef LX_SAMPLER_FEISTEL_MAP_H
#define LX_SAMPLER_FEISTEL_MAP_H

#include "sampler/random/feistel.h"

/** Replaces each of @p count numbers below the length with its image, using the fastest kernel. */
void lx__feistel_map(const lx__feistel *feistel, uint64_t *values, size_t count);

#endif
