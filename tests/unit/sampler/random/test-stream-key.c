/* SPDX-License-Identifier: MIT */
#include "sampler/random/stream-key.h"

#include "../../unit.h"
#include "sampler/random/philox.h"
#include "../statistics.h"

static uint64_t key_of(uint64_t seed, uint64_t epoch, lx__stream stream)
{
    uint64_t key;
    lx__key(seed, epoch, stream, 1, &key);
    return key;
}

START_TEST(words_match_the_blocks)
{
    uint64_t words[5];
    lx__key(42, 7, LX__STREAM_FEISTEL, 5, words);
    for (uint64_t i = 0; i < 5; i++)
        ck_assert_uint_eq(words[i], lx__philox(7, 3ull << 32 | i / 2, 42).word[i % 2]);
}
END_TEST

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

START_TEST(keys_are_not_additive)
{
    ck_assert_uint_ne(key_of(42, 1, LX__STREAM_FEISTEL), key_of(43, 0, LX__STREAM_FEISTEL));
    static uint64_t keys[64 * 64 * 3];
    size_t count = 0;
    for (uint64_t seed = 0; seed < 64; seed++)
        for (uint64_t epoch = 0; epoch < 64; epoch++)
            for (int stream = 1; stream <= 3; stream++)
                keys[count++] = key_of(seed, epoch, (lx__stream)stream);
    qsort(keys, count, sizeof *keys, compare);
    for (size_t i = 1; i < count; i++)
        ck_assert_uint_ne(keys[i - 1], keys[i]);
}
END_TEST

START_TEST(one_bit_changes_half_of_the_key)
{
    double changed = 0, pairs = 0;
    for (uint64_t at = 0; at < 200; at++) {
        uint64_t seed = at * at, epoch = at / 7, key = key_of(seed, epoch, LX__STREAM_FEISTEL);
        for (int bit = 0; bit < 64; bit++) {
            changed += __builtin_popcountll(key ^
                                            key_of(seed ^ 1ull << bit, epoch, LX__STREAM_FEISTEL));
            changed += __builtin_popcountll(key ^
                                            key_of(seed, epoch ^ 1ull << bit, LX__STREAM_FEISTEL));
            pairs += 128;
        }
    }
    expect_chance((changed - pairs / 2) / sqrt(pairs / 4));
}
END_TEST

UNIT_MAIN("sampler/stream-key", words_match_the_blocks, keys_are_not_additive,
          one_bit_changes_half_of_the_key)
