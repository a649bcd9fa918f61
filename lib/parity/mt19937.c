/* SPDX-License-Identifier: MIT */
#include "parity/mt19937.h"

#define WORDS LX__MT19937_WORDS
#define APART 397

void lx__mt19937_seed(lx__mt19937 *generator, uint32_t seed)
{
    generator->words[0] = seed;
    for (uint32_t i = 1; i < WORDS; i++) {
        uint32_t last = generator->words[i - 1];
        generator->words[i] = 1812433253u * (last ^ last >> 30) + i;
    }
    generator->used = WORDS;
}

static uint32_t twist(uint32_t upper, uint32_t lower)
{
    uint32_t mixed = (upper & 0x80000000u) | (lower & 0x7fffffffu);
    return mixed >> 1 ^ (lower & 1 ? 0x9908b0dfu : 0);
}

void lx__mt19937_advance(lx__mt19937 *generator)
{
    uint32_t *words = generator->words;
    int i = 0;
    for (; i < WORDS - APART; i++)
        words[i] = words[i + APART] ^ twist(words[i], words[i + 1]);
    for (; i < WORDS - 1; i++)
        words[i] = words[i + APART - WORDS] ^ twist(words[i], words[i + 1]);
    words[i] = words[i + APART - WORDS] ^ twist(words[i], words[0]);
    generator->used = 0;
}
