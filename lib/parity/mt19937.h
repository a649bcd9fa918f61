/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief MT19937, the generator that torch and NumPy's RandomState use, for orders that reproduce
 * what these libraries compute. All other orders use Philox.
 *
 * Source of the algorithm: Matsumoto and Nishimura, "Mersenne Twister: A 623-dimensionally
 * Equidistributed Uniform Pseudo-random Number Generator", 1998; the seeding is that of their 2002
 * version.
 */
#ifndef LX_PARITY_MT19937_H
#define LX_PARITY_MT19937_H

#include <stdint.h>

#define LX__MT19937_WORDS 624

/** A generator. A copy continues with the same numbers. */
typedef struct lx__mt19937 {
    uint32_t words[LX__MT19937_WORDS];
    uint32_t used; /**< Number of words already used. */
} lx__mt19937;

void lx__mt19937_seed(lx__mt19937 *generator, uint32_t seed);

/** Generates the next words, once all words have been used. */
void lx__mt19937_advance(lx__mt19937 *generator);

/** Returns the next 32-bit number. */
static inline uint32_t lx__mt19937_next(lx__mt19937 *generator)
{
    if (generator->used == LX__MT19937_WORDS)
        lx__mt19937_advance(generator);
    uint32_t word = generator->words[generator->used++];
    word ^= word >> 11;
    word ^= word << 7 & 0x9d2c5680u;
    word ^= word << 15 & 0xefc60000u;
    return word ^ word >> 18;
}

#endif
