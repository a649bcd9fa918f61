/* SPDX-License-Identifier: MIT */
#include "sampler/random/feistel.h"

#include "sampler/random/stream-key.h"

/* Numbers per batch. Results beyond the length are collected for their next pass, so that vectors
 * stay full. Only the last values of a batch leave a vector partly empty, so batches are long. */
#define BATCH 1024

void lx__feistel_init(lx__feistel *feistel, uint64_t length, uint64_t seed, uint64_t epoch)
{
    uint32_t bits = 2;
    while (bits < 64 && (uint64_t)1 << bits < length)
        bits++;
    feistel->length = length;
    feistel->left = bits / 2;
    feistel->right = bits - bits / 2;

    uint64_t words[LX__FEISTEL_ROUNDS / 2];
    lx__key(seed, epoch, LX__STREAM_FEISTEL, LX__FEISTEL_ROUNDS / 2, words);
    for (int round = 0; round < LX__FEISTEL_ROUNDS; round++)
        feistel->key[round] = (uint32_t)(words[round / 2] >> 32 * (round % 2));
}

/** Computes what one half contributes to the other half, which has @p bits bits. */
static inline uint32_t round_function(uint32_t half, uint32_t key, uint32_t bits)
{
    uint32_t x = half ^ key;
    x = (x ^ x >> LX__FEISTEL_SHIFT_1) * LX__FEISTEL_FACTOR_1;
    x = (x ^ x >> LX__FEISTEL_SHIFT_2) * LX__FEISTEL_FACTOR_2;
    return x >> (32 - bits);
}

void lx__feistel_pass_scalar(const lx__feistel *feistel, uint64_t *values, size_t count)
{
    const lx__feistel f = *feistel; /* a local copy: stores through values cannot alias it */
    const uint32_t mask = UINT32_MAX >> (32 - f.right);
    for (size_t i = 0; i < count; i++) {
        uint32_t left = (uint32_t)(values[i] >> f.right), right = (uint32_t)values[i] & mask;
        for (int round = 0; round < LX__FEISTEL_ROUNDS; round += 2) {
            left ^= round_function(right, f.key[round], f.left);
            right ^= round_function(left, f.key[round + 1], f.right);
        }
        values[i] = (uint64_t)left << f.right | right;
    }
}

static uint64_t invert_pass(const lx__feistel *f, uint64_t value)
{
    uint32_t left = (uint32_t)(value >> f->right);
    uint32_t right = (uint32_t)value & UINT32_MAX >> (32 - f->right);
    for (int round = LX__FEISTEL_ROUNDS - 2; round >= 0; round -= 2) {
        right ^= round_function(left, f->key[round + 1], f->right);
        left ^= round_function(right, f->key[round], f->left);
    }
    return (uint64_t)left << f->right | right;
}

uint64_t lx__feistel_invert(const lx__feistel *feistel, uint64_t image)
{
    do
        image = invert_pass(feistel, image);
    while (image >= feistel->length);
    return image;
}

/** Cycle walking: passes the values of a batch that are beyond the length until all are within
 * it. */
static void cycle_walk(lx__feistel_kernel *kernel, const lx__feistel *feistel,
                       uint64_t *restrict values, size_t count)
{
    const uint64_t length = feistel->length;
    uint64_t walking[BATCH];
    uint16_t place[BATCH]; /* the place of each in values */
    size_t left = 0;
    /* Always storing, and advancing conditionally, avoids a branch that would be mispredicted half
     * the time. */
    for (size_t i = 0; i < count; i++) {
        walking[left] = values[i];
        place[left] = (uint16_t)i;
        left += values[i] >= length;
    }
    while (left != 0) {
        kernel(feistel, walking, left);
        size_t still = 0;
        for (size_t i = 0; i < left; i++) {
            uint64_t value = walking[i];
            uint16_t where = place[i];
            values[where] = value;
            walking[still] = value;
            place[still] = where;
            still += value >= length;
        }
        left = still;
    }
}

void lx__feistel_map_by(lx__feistel_kernel *kernel, const lx__feistel *feistel, uint64_t *values,
                        size_t count)
{
    while (count != 0) {
        size_t batch = count < BATCH ? count : BATCH;
        kernel(feistel, values, batch);
        cycle_walk(kernel, feistel, values, batch);
        values += batch;
        count -= batch;
    }
}
