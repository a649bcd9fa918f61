/* SPDX-License-Identifier: MIT */
/* Compiled for AVX2: feistel-map.c calls it only on processors with AVX2. */
#include "sampler/random/feistel.h"

#include <immintrin.h>

#define LANES 8

struct network {
    const lx__feistel *feistel;
    __m256i factor_1, factor_2, mask;
    __m128i right;                 /* bits of the right half */
    __m128i from_left, from_right; /* 32 minus the bits of each half */
};

struct halves {
    __m256i left, right;
};

static inline struct network load_network(const lx__feistel *feistel)
{
    return (struct network){.feistel = feistel,
                            .factor_1 = _mm256_set1_epi32((int)LX__FEISTEL_FACTOR_1),
                            .factor_2 = _mm256_set1_epi32((int)LX__FEISTEL_FACTOR_2),
                            .mask = _mm256_set1_epi32((int)(UINT32_MAX >> (32 - feistel->right))),
                            .right = _mm_cvtsi32_si128((int)feistel->right),
                            .from_left = _mm_cvtsi32_si128((int)(32 - feistel->left)),
                            .from_right = _mm_cvtsi32_si128((int)(32 - feistel->right))};
}

/** Packs the low halves of eight 64-bit numbers; pairs from @p a and from @p b alternate. */
static inline __m256i low_halves(__m256i a, __m256i b)
{
    return _mm256_castps_si256(
        _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88));
}

static inline struct halves load(const struct network *network, const uint64_t *values)
{
    __m256i a = _mm256_loadu_si256((const __m256i *)values);
    __m256i b = _mm256_loadu_si256((const __m256i *)(values + 4));
    __m256i right = _mm256_and_si256(low_halves(a, b), network->mask);
    a = _mm256_srl_epi64(a, network->right);
    b = _mm256_srl_epi64(b, network->right);
    return (struct halves){low_halves(a, b), right};
}

/** Unpacking reverses the permutation of low_halves(). */
static inline void store(const struct network *network, uint64_t *values, struct halves from)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i a = _mm256_sll_epi64(_mm256_unpacklo_epi32(from.left, zero), network->right);
    __m256i b = _mm256_sll_epi64(_mm256_unpackhi_epi32(from.left, zero), network->right);
    a = _mm256_or_si256(a, _mm256_unpacklo_epi32(from.right, zero));
    b = _mm256_or_si256(b, _mm256_unpackhi_epi32(from.right, zero));
    _mm256_storeu_si256((__m256i *)values, a);
    _mm256_storeu_si256((__m256i *)(values + 4), b);
}

static inline __m256i round_function(const struct network *network, int round, __m256i half,
                                     __m128i shift)
{
    __m256i x = _mm256_xor_si256(half, _mm256_set1_epi32((int)network->feistel->key[round]));
    x = _mm256_xor_si256(x, _mm256_srli_epi32(x, LX__FEISTEL_SHIFT_1));
    x = _mm256_mullo_epi32(x, network->factor_1);
    x = _mm256_xor_si256(x, _mm256_srli_epi32(x, LX__FEISTEL_SHIFT_2));
    x = _mm256_mullo_epi32(x, network->factor_2);
    return _mm256_srl_epi32(x, shift);
}

static inline struct halves two_rounds(const struct network *network, int round, struct halves at)
{
    __m256i f = round_function(network, round, at.right, network->from_left);
    at.left = _mm256_xor_si256(at.left, f);
    f = round_function(network, round + 1, at.left, network->from_right);
    at.right = _mm256_xor_si256(at.right, f);
    return at;
}

#include "sampler/random/feistel-lanes.h"

void lx__feistel_pass_avx2(const lx__feistel *feistel, uint64_t *values, size_t count)
{
    pass_lanes(feistel, values, count);
}
