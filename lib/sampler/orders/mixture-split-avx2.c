/* SPDX-License-Identifier: MIT */
/* Compiled for AVX2: mixture-split-find.c calls it only on processors with AVX2. Sixteen positions
 * descend the tree in parallel, because each level depends on the one above. */
#include <immintrin.h>
#include <stdbool.h>

#include "sampler/orders/mixture-split.h"

#define LANES 4
#define SIDE_BY_SIDE 4

/** Moves positions and their node numbers down one level. With @p small, positions are below 2^32,
 * and remain so. */
static inline __attribute__((always_inline)) void descend(__m256i *place, __m256i *node,
                                                          __m256i ratio, bool small)
{
    const __m256i low_half = _mm256_set1_epi64x(UINT32_MAX);
    const __m256i all_but_sign = _mm256_set1_epi64x(INT64_MAX);
    __m256i ratio_high = _mm256_srli_epi64(ratio, 32);
    /* The 128-bit product by long multiplication of halves. */
    __m256i product = _mm256_mul_epu32(*place, ratio);
    __m256i other = _mm256_add_epi64(_mm256_mul_epu32(*place, ratio_high),
                                     _mm256_srli_epi64(product, 32));
    __m256i high = _mm256_srli_epi64(other, 32);
    if (!small) {
        __m256i place_high = _mm256_srli_epi64(*place, 32);
        other = _mm256_add_epi64(_mm256_mul_epu32(place_high, ratio),
                                 _mm256_and_si256(other, low_half));
        high = _mm256_add_epi64(_mm256_mul_epu32(place_high, ratio_high),
                                _mm256_add_epi64(high, _mm256_srli_epi64(other, 32)));
    }
    __m256i low = _mm256_or_si256(_mm256_slli_epi64(other, 32),
                                  _mm256_and_si256(product, low_half));
    /* Adding half rounds. With half added, low + ratio overflows if the left side also has the next
     * position, that is, if low exceeds the complement of ratio. Half is the sign bit, so a signed
     * comparison replaces an unsigned one. */
    __m256i left = _mm256_add_epi64(high, _mm256_srli_epi64(low, 63));
    __m256i is_left = _mm256_cmpgt_epi64(low, _mm256_xor_si256(ratio, all_but_sign));
    *place = _mm256_blendv_epi8(_mm256_sub_epi64(*place, left), left, is_left);
    *node = _mm256_add_epi64(_mm256_add_epi64(*node, *node),
                             _mm256_add_epi64(is_left, _mm256_set1_epi64x(1)));
}

/** Selects one of two numbers per lane, by @p node, which is 0 or 1. */
static inline __m256i choose_of_two(const uint64_t *two, __m256i node)
{
    const __m256i first = _mm256_set1_epi64x((long long)two[0]);
    const __m256i second = _mm256_set1_epi64x((long long)two[1]);
    return _mm256_blendv_epi8(first, second, _mm256_sub_epi64(_mm256_setzero_si256(), node));
}

/** Selects one of four numbers per lane, by @p node. */
static inline __m256i choose_of_four(const uint64_t *four, __m256i node)
{
    /* AVX2 permutes 32-bit halves: those at twice the node number and the next one. */
    __m256i low = _mm256_add_epi64(node, node);
    __m256i high = _mm256_slli_epi64(_mm256_add_epi64(low, _mm256_set1_epi64x(1)), 32);
    return _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *)four),
                                       _mm256_or_si256(low, high));
}

/** Returns the ratios of nodes of a level; only the lower levels access memory by node. */
static inline __m256i ratios_of(const lx__mixture_split *split, unsigned level, __m256i node)
{
    const uint64_t *ratios = split->ratios + ((size_t)1 << level) - 1;
    if (level == 1)
        return choose_of_two(ratios, node);
    if (level == 2)
        return choose_of_four(ratios, node);
    return _mm256_i64gather_epi64((const long long *)ratios, node, 8);
}

static inline __attribute__((always_inline)) void
descend_all(const lx__mixture_split *split, __m256i *place, __m256i *node, bool small)
{
    for (unsigned level = 0; level < split->depth; level++) {
#pragma GCC unroll 4
        for (size_t i = 0; i < SIDE_BY_SIDE; i++)
            descend(&place[i], &node[i],
                    level == 0 ? _mm256_set1_epi64x((long long)split->ratios[0])
                               : ratios_of(split, level, node[i]),
                    small);
    }
}

static inline void find_block(const lx__mixture_split *split, uint64_t *places, uint16_t *sets)
{
    __m256i place[SIDE_BY_SIDE], node[SIDE_BY_SIDE], any = _mm256_setzero_si256();
    uint64_t leaves[LANES * SIDE_BY_SIDE];
#pragma GCC unroll 4
    for (size_t i = 0; i < SIDE_BY_SIDE; i++) {
        place[i] = _mm256_loadu_si256((const __m256i *)(places + LANES * i));
        node[i] = _mm256_setzero_si256();
        any = _mm256_or_si256(any, place[i]);
    }
    any = _mm256_srli_epi64(any, 32);
    if (_mm256_testz_si256(any, any))
        descend_all(split, place, node, true);
    else
        descend_all(split, place, node, false);
#pragma GCC unroll 4
    for (size_t i = 0; i < SIDE_BY_SIDE; i++) {
        _mm256_storeu_si256((__m256i *)(places + LANES * i), place[i]);
        _mm256_storeu_si256((__m256i *)(leaves + LANES * i), node[i]);
    }
    for (size_t i = 0; i < LANES * SIDE_BY_SIDE; i++)
        sets[i] = split->sets[leaves[i]];
}

void lx__mixture_split_find_avx2(const lx__mixture_split *split, uint64_t *places, size_t count,
                                 uint16_t *sets)
{
    size_t done = 0;
    for (; count - done >= LANES * SIDE_BY_SIDE; done += LANES * SIDE_BY_SIDE)
        find_block(split, places + done, sets + done);
    lx__mixture_split_find_scalar(split, places + done, count - done, sets + done);
}
