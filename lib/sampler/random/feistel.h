/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A permutation by formula: any number of it at once, from 32 bytes of keys, whatever the
 * length.
 *
 * A Feistel network over the fewest bits that hold the length, in two halves that are equal or
 * differ by one bit, with cycle walking: a result beyond the length goes through the network again
 * until one is within. That is a permutation of 0..length-1, since the network is one of all
 * numbers of so many bits; it takes fewer than two passes on average, where halves that are always
 * equal would take up to four.
 *
 * Sources: Luby and Rackoff, "How to Construct Pseudorandom Permutations from Pseudorandom
 * Functions", 1988; Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002, for cycle
 * walking; Patarin, "Generic Attacks on Feistel Schemes", 2001, for what rounds are worth. The
 * round function is two steps of multiply and xorshift, which vectors of 32-bit numbers have; its
 * shifts and factors are those of the "hash prospector" of Wellons. doc/orders.md has the reasons
 * and what was measured.
 */
#ifndef LX_SAMPLER_FEISTEL_H
#define LX_SAMPLER_FEISTEL_H

#include <stddef.h>
#include <stdint.h>

#define LX__FEISTEL_ROUNDS 8

/** One permutation. Set by lx__feistel_init(), not changed after. */
typedef struct lx__feistel {
    uint64_t length;      /**< It is one of 0..length-1. */
    uint32_t left, right; /**< Bits of the halves, 1 .. 32; the right one has the odd bit. */
    uint32_t key[LX__FEISTEL_ROUNDS];
} lx__feistel;

/** The permutation of 0..length-1, length 1 or more, of a seed's epoch. */
void lx__feistel_init(lx__feistel *feistel, uint64_t length, uint64_t seed, uint64_t epoch);

/** Puts in the place of each of @p count numbers below the length its image, by the fastest
 * kernel. */
void lx__feistel_map(const lx__feistel *feistel, uint64_t *values, size_t count);

/** The number whose image is @p image, below the length. */
uint64_t lx__feistel_invert(const lx__feistel *feistel, uint64_t image);

/** A kernel: each of @p count values of left + right bits goes through the network
 * once, in place. */
typedef void lx__feistel_kernel(const lx__feistel *feistel, uint64_t *values, size_t count);

/** In plain C: the reference that the others are tested against. */
lx__feistel_kernel lx__feistel_pass_scalar;
#if defined(__x86_64__)
/** By AVX2; only where the processor has it. */
lx__feistel_kernel lx__feistel_pass_avx2;
#elif defined(__aarch64__)
/** By NEON, which every arm64 has. */
lx__feistel_kernel lx__feistel_pass_neon;
#endif

/** As lx__feistel_map() by a given kernel. */
void lx__feistel_map_by(lx__feistel_kernel *kernel, const lx__feistel *feistel, uint64_t *values,
                        size_t count);

/* What the kernels share: the numbers of the round function. */
#define LX__FEISTEL_SHIFT_1 16
#define LX__FEISTEL_FACTOR_1 0x21f0aaadu
#define LX__FEISTEL_SHIFT_2 15
#define LX__FEISTEL_FACTOR_2 0xd35a2d97u

#endif
