/* SPDX-License-Identifier: MIT */
#include "sampler/random/stream-key.h"

#include "sampler/random/philox.h"

void lx__key(uint64_t seed, uint64_t epoch, lx__stream stream, size_t count, uint64_t *words)
{
    for (size_t i = 0; i < count; i++)
        words[i] = lx__philox(epoch, (uint64_t)stream << 32 | i >> 1, seed).word[i & 1];
}
