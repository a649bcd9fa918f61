/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Numbers of several permutations, mapped at once: each may have too few to fill a vector.
 */
#ifndef LX_SAMPLER_FEISTEL_MIXED_H
#define LX_SAMPLER_FEISTEL_MIXED_H

#include "sampler/random/feistel.h"

/** Puts in the place of each of @p count numbers its image by the permutation that @p of says for
 * it, below whose length it is. Those of one are best side by side. */
void lx__feistel_map_mixed(const lx__feistel *const *feistels, const uint16_t *of,
                           uint64_t *values, size_t count);

/** A kernel: each of the values at @p count places goes through the network that @p of says for it
 * once, in place. */
typedef void lx__feistel_mixed_kernel(const lx__feistel *const *feistels, const uint16_t *of,
                                      uint64_t *values, const uint16_t *places, size_t count);

/** In plain C: the reference for the other one. */
lx__feistel_mixed_kernel lx__feistel_mixed_pass_scalar;
#if defined(__x86_64__)
/** By AVX2; only where the processor has it. */
lx__feistel_mixed_kernel lx__feistel_mixed_pass_avx2;
#endif

/** As lx__feistel_map_mixed() by given kernels. */
void lx__feistel_map_mixed_by(lx__feistel_kernel *alike, lx__feistel_mixed_kernel *mixed,
                              const lx__feistel *const *feistels, const uint16_t *of,
                              uint64_t *values, size_t count);

#endif
