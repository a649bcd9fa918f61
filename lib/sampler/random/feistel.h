/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A permutation computed by a formula: any element can be computed independently of the
 * others, from 32 bytes of keys regardless of the length.
 *
 * The formula is a Feistel network over the smallest number of bits that can represent the length,
 * split into two halves whose sizes differ by at most one bit. It uses cycle walking: a result that
 * is not below the length passes through the network again until it is. This yields a permutation
 * of 0..length-1, because the network is a permutation of all numbers with this many bits. On
 * average, fewer than two passes are needed; halves of equal size would need up to four.
 *
 * Sources: Luby and Rackoff, "How to Construct Pseudorandom Permutations from Pseudorandom
 * Functions", 1988; Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002, for cycle
 * walking; Patarin, "Generic Attacks on Feistel Schemes", 2001, for the number of rounds. The round
 * function is two steps of xorshift and multiply, which 32-bit vectors support; its shifts and
 * factors come from Wellons's "hash prospector". doc/orders.md gives the reasons and the
 * measurements.
 */
#ifndef LX_SAMPLER_FEISTEL_H
#define LX_SAMPLER_FEISTEL_H

#include <stddef.h>
#include <stdint.h>

#define LX__FEISTEL_ROUNDS 8

/** A permutation. Immutable after lx__feistel_init(). */
typedef struct lx__feistel {
    uint64_t length;      /**< The numbers 0..length-1 are permuted. */
    uint32_t left, right; /**< Number of bits in each half, 1 to 32; if the total is odd, the right
                               half has one bit more. */
    uint32_t key[LX__FEISTEL_ROUNDS];
} lx__feistel;

/** Initializes the permutation of 0..length-1 for a seed and an epoch. @p length must be at least
 * 1. */
void lx__feistel_init(lx__feistel *feistel, uint64_t length, uint64_t seed, uint64_t epoch);

/** Returns the number whose image is @p image, which is below the length. */
uint64_t lx__feistel_invert(const lx__feistel *feistel, uint64_t image);

/** A kernel: passes @p count values of left + right bits through the network once, in place. */
typedef void lx__feistel_kernel(const lx__feistel *feistel, uint64_t *values, size_t count);

/** Plain C; the reference for the other kernels. */
lx__feistel_kernel lx__feistel_pass_scalar;
#if defined(__x86_64__)
/** Requires AVX2. */
lx__feistel_kernel lx__feistel_pass_avx2;
#elif defined(__aarch64__)
/** Uses NEON, which every arm64 processor has. */
lx__feistel_kernel lx__feistel_pass_neon;
#endif

/** Like lx__feistel_map(), with a given kernel. */
void lx__feistel_map_by(lx__feistel_kernel *kernel, const lx__feistel *feistel, uint64_t *values,
                        size_t count);

/* The constants of the round function, which the kernels share. */
#define LX__FEISTEL_SHIFT_1 16
#define LX__FEISTEL_FACTOR_1 0x21f0aaadu
#define LX__FEISTEL_SHIFT_2 15
#define LX__FEISTEL_FACTOR_2 0xd35a2d97u

#endif
