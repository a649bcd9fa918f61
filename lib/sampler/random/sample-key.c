/* SPDX-License-Identifier: MIT */
#include "sampler/random/sample-key.h"

#include "sampler/random/philox.h"
#include "sampler/random/stream-key.h"

/* Philox4x64-10, whose factors differ from those of Philox2x64. */
static void make_block(const uint64_t key[2], uint64_t counter, uint64_t block[4])
{
    uint64_t k0 = key[0], k1 = key[1], c0 = counter, c1 = 0, c2 = 0, c3 = 0;
    for (int round = 0; round < 10; round++) {
        uint64_t high0, low0 = lx__multiply_wide(c0, 0xd2e7470ee14c6c93u, &high0);
        uint64_t high1, low1 = lx__multiply_wide(c2, 0xca5a826395121157u, &high1);
        c0 = high1 ^ c1 ^ k0;
        c1 = low1;
        c2 = high0 ^ c3 ^ k1;
        c3 = low0;
        k0 += 0x9e3779b97f4a7c15u; /* the fractional part of the golden ratio */
        k1 += 0xbb67ae8584caa73bu; /* the fractional part of the square root of 3 */
    }
    block[0] = c0;
    block[1] = c1;
    block[2] = c2;
    block[3] = c3;
}

void lx__sample_keys(uint64_t seed, uint64_t epoch, const uint64_t *samples, uint64_t count,
                     uint64_t *keys)
{
    uint64_t key;
    lx__key(seed, 0, LX__STREAM_SAMPLES, 1, &key);
    for (uint64_t i = 0; i < count; i++) {
        lx__philox_block block = lx__philox(samples[i], epoch, key);
        keys[2 * i] = block.word[0];
        keys[2 * i + 1] = block.word[1];
    }
}

void lx_random_get_key(uint64_t seed, uint64_t epoch, uint64_t sample, uint64_t key[2])
{
    lx__sample_keys(seed, epoch, &sample, 1, key);
}

void lx_random_get_draws(const uint64_t key[2], uint64_t first, size_t count, uint64_t *draws)
{
    uint64_t block[4], at = first % 4;
    if (count != 0) /* NumPy's first block has counter 1 */
        make_block(key, first / 4 + 1, block);
    for (size_t i = 0; i < count; i++, at++) {
        if (at == 4) {
            make_block(key, (first + i) / 4 + 1, block);
            at = 0;
        }
        draws[i] = block[at];
    }
}
