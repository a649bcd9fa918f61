/* SPDX-License-Identifier: MIT */
#include "parity/torch-randperm.h"

static uint64_t next64(lx__mt19937 *generator)
{
    uint64_t high = lx__mt19937_next(generator);
    return high << 32 | lx__mt19937_next(generator);
}

void lx__randperm(lx__mt19937 *generator, uint32_t *indices, uint64_t length)
{
    if (length >= LX__RANDPERM_LONG) {
        for (uint64_t i = 0; i < length; i++) {
            uint64_t other = next64(generator) % (i + 1);
            indices[i] = indices[other];
            indices[other] = (uint32_t)i;
        }
        return;
    }
    for (uint64_t i = 0; i < length; i++)
        indices[i] = (uint32_t)i;
    for (uint32_t i = 0; i + 1 < length; i++) {
        uint32_t other = i + lx__mt19937_next(generator) % ((uint32_t)length - i);
        uint32_t index = indices[i];
        indices[i] = indices[other];
        indices[other] = index;
    }
}

uint64_t lx__randperm_draws(uint64_t length)
{
    if (length >= LX__RANDPERM_LONG)
        return 2 * length;
    return length != 0 ? length - 1 : 0;
}
