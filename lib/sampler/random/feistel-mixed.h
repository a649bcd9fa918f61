/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Maps numbers of several permutations together, because one permutation may have too few to
 * fill a vector.
 */
#ifndef LX_SAMPLER_FEISTEL_MIXED_H
#define LX_SAMPLER_FEISTEL_MIXED_H

#include "sampler/random/feistel.h"

/** A kernel: passes each value at @p count places through network number @p of once, in place. */
typedef void lx__feistel_mixed_kernel(const lx__feistel *const *feistels, const uint16_t *of,
                                      uint64_t *values, const uint16_t *places, size_t count);

/** Plain C; the reference for the other kernel. */
lx__feistel_mixed_kernel lx__feistel_mixed_pass_scalar;
#if defined(__x86_64__)
/** Requires AVX2. */
lx__feistel_mixed_kernel lx__feistel_mixed_pass_avx2;
#endif

/** As lx__feistel_map_mixed() with given kernels. */
void lx__feistel_map_mixed_by(lx__feistel_kernel *alike, lx__feistel_mixed_kernel *mixed,
                              const lx__feistel *const *feistels, const uint16_t *of,
                              uint64_t *values, size_t count);

#endif
