/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Philox2x64-10: counter-based random numbers, any of which can be computed in constant
 * time.
 *
 * Source of the algorithm: Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1,
 * 2, 3", SC 2011. This member of the family returns two 64-bit words per block and needs one 64 x
 * 64 multiplication per round: on 64-bit processors, its scalar code is as fast as vector code for
 * the other members.
 */
#ifndef LX_SAMPLER_PHILOX_H
#define LX_SAMPLER_PHILOX_H

#include <stddef.h>
#include <stdint.h>

#include "sampler/random/wide-arithmetic.h"

/** The two words of one block. */
typedef struct lx__philox_block {
    uint64_t word[2];
} lx__philox_block;

static inline lx__philox_block lx__philox_round(lx__philox_block from, uint64_t key)
{
    uint64_t high, low = lx__multiply_wide(from.word[0], 0xd2b74407b1ce6e93u, &high);
    return (lx__philox_block){{high ^ key ^ from.word[1], low}};
}

/** Returns the block of the 128-bit counter @p high : @p low under @p key. The ten rounds are
 * unrolled by hand, because some compilers keep the loop, which takes 50% longer. */
static inline lx__philox_block lx__philox(uint64_t low, uint64_t high, uint64_t key)
{
    const uint64_t weyl = 0x9e3779b97f4a7c15u; /* the fractional part of the golden ratio */
    lx__philox_block block = lx__philox_round((lx__philox_block){{low, high}}, key);
    block = lx__philox_round(block, key += weyl);
    block = lx__philox_round(block, key += weyl);
    block = lx__philox_round(block, key += weyl);
    block = lx__philox_round(block, key += weyl);
    block = lx__philox_round(block, key += weyl);
    block = lx__philox_round(block, key += weyl);
    block = lx__philox_round(block, key += weyl);
    block = lx__philox_round(block, key += weyl);
    return lx__philox_round(block, key + weyl);
}

/** Computes draws first, first + 1, ... of the stream under @p key: draw d is word d mod 2 of the
 * block of counter d div 2. The number of the last draw must fit in 64 bits. */
void lx__philox_draws(uint64_t key, uint64_t first, size_t count, uint64_t *draws);

/** Replaces each number with the draw that has this number. */
void lx__philox_draws_at(uint64_t key, uint64_t *numbers, size_t count);

#endif
