/* SPDX-License-Identifier: MIT */
#include "sampler/random/fisher-yates.h"

#include "sampler/random/philox.h"

/* Draws per chunk, which fits on the stack and in the first-level cache. */
#define CHUNK 512u

void lx__fisher_yates(uint16_t *table, uint32_t length, uint64_t key)
{
    for (uint32_t i = 0; i < length; i++)
        table[i] = (uint16_t)i;

    uint64_t draws[CHUNK];
    for (uint32_t first = 0; first + 1 < length; first += CHUNK) {
        uint32_t count = length - 1 - first < CHUNK ? length - 1 - first : CHUNK;
        lx__philox_draws(key, first, count, draws);
        for (uint32_t i = first; i < first + count; i++) {
            uint32_t chosen = i + (uint32_t)lx__draw_below(draws[i - first], length - i);
            uint16_t number = table[chosen];
            table[chosen] = table[i];
            table[i] = number;
        }
    }
}

void lx__fisher_yates_map(const uint16_t *table, uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = table[values[i]];
}
