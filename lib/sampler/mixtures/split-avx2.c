/* SPDX-License-Identifier: MIT */
/* Compiled with AVX2: nothing here runs before split.c has asked for it. Sixteen positions go down
 * the tree side by side, as each level waits for the one above. */
#include <immintrin.h>

#include "sampler/mixtures/split.h"

#define LANES 4
#define SIDE_BY_SIDE 4

/** Takes positions, and the numbers of the nodes that they are in, one level down. */
static inline void descend(__m256i *place, __m256i *node, __m256i ratio)
{
    const __m256i low_half = _mm256_set1_epi64x(UINT32_MAX);
    const __m256i all_but_sign = _mm256_set1_epi64x(INT64_MAX);
    __m256i place_high = _mm256_srli_epi64(*place, 32), ratio_high = _mm256_srli_epi64(ratio, 32);
    /* The product of 128 bits, by halves, as one would on paper. */
    __m256i product = _mm256_mul_epu32(*place, ratio);
    __m256i middle = _mm256_add_epi64(_mm256_mul_epu32(*place, ratio_high),
                                      _mm256_srli_epi64(product, 32));
    __m256i other = _mm256_add_epi64(_mm256_mul_epu32(place_high, ratio),
                                     _mm256_and_si256(middle, low_half));
    __m256i high = _mm256_add_epi64(_mm256_mul_epu32(place_high, ratio_high),
                                    _mm256_add_epi64(_mm256_srli_epi64(middle, 32),
                                                     _mm256_srli_epi64(other, 32)));
    __m256i low = _mm256_or_si256(_mm256_slli_epi64(other, 32),
                                  _mm256_and_si256(product, low_half));
    /* Half is added, which rounds. With it in low, low + ratio overflows where the left side has the
     * next position, too: that is where low is above the complement of ratio. Half is the sign bit,
     * by which a comparison of numbers without a sign differs from one of those with it. */
    __m256i left = _mm256_add_epi64(high, _mm256_srli_epi64(low, 63));
    __m256i is_left = _mm256_cmpgt_epi64(low, _mm256_xor_si256(ratio, all_but_sign));
    *place = _mm256_blendv_epi8(_mm256_sub_epi64(*place, left), left, is_left);
    *node = _mm256_add_epi64(_mm256_add_epi64(*node, *node),
                             _mm256_add_epi64(is_left, _mm256_set1_epi64x(1)));
}

static inline void find_block(const lx__split *split, uint64_t *places, uint16_t *sets)
{
    __m256i place[SIDE_BY_SIDE], node[SIDE_BY_SIDE];
    uint64_t leaves[LANES * SIDE_BY_SIDE];
    const uint64_t *ratios = split->ratios;
#pragma GCC unroll 4
    for (size_t i = 0; i < SIDE_BY_SIDE; i++) {
        place[i] = _mm256_loadu_si256((const __m256i *)(places + LANES * i));
        node[i] = _mm256_setzero_si256();
        if (split->depth != 0)
            descend(&place[i], &node[i], _mm256_set1_epi64x((long long)ratios[0]));
    }
    for (unsigned level = 1; level < split->depth; level++) {
        const long long *below = (const long long *)ratios + ((size_t)1 << level) - 1;
#pragma GCC unroll 4
        for (size_t i = 0; i < SIDE_BY_SIDE; i++)
            descend(&place[i], &node[i], _mm256_i64gather_epi64(below, node[i], 8));
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < SIDE_BY_SIDE; i++) {
        _mm256_storeu_si256((__m256i *)(places + LANES * i), place[i]);
        _mm256_storeu_si256((__m256i *)(leaves + LANES * i), node[i]);
    }
    for (size_t i = 0; i < LANES * SIDE_BY_SIDE; i++)
        sets[i] = split->sets[leaves[i]];
}

void lx__split_find_avx2(const lx__split *split, uint64_t *places, size_t count, uint16_t *sets)
{
    size_t done = 0;
    for (; count - done >= LANES * SIDE_BY_SIDE; done += LANES * SIDE_BY_SIDE)
        find_block(split, places + done, sets + done);
    lx__split_find_scalar(split, places + done, count - done, sets + done);
}
