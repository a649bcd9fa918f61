/* SPDX-License-Identifier: MIT */
/* Compiled for AVX2: feistel-map.c calls it only on processors with AVX2. Each lane of a vector has
 * its own network, so a vector maps eight numbers of eight permutations. */
#include "sampler/random/feistel-mixed.h"

#include <immintrin.h>

#define LANES 8

/* The inputs of every round, for each lane. */
struct networks {
    __m256i key[LX__FEISTEL_ROUNDS];
    __m256i right;                 /* bits of the right half */
    __m256i from_left, from_right; /* 32 minus the bits of each half */
};

/* The lane of each value, in the order of unpacking 64-bit numbers. */
static const int lane_of[LANES] = {0, 1, 4, 5, 2, 3, 6, 7};

struct halves {
    __m256i left, right;
};

/** Loads four 32-bit numbers from @p offset bytes of each of eight structs and transposes them:
 * vector i has number i of all structs. */
static inline void transpose(const char *const *from, size_t offset, __m256i to[4])
{
    __m256i row[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        row[i] = _mm256_inserti128_si256(
            _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(from[i] + offset))),
            _mm_loadu_si128((const __m128i *)(from[i + 4] + offset)), 1);
    __m256i a = _mm256_unpacklo_epi32(row[0], row[1]), b = _mm256_unpackhi_epi32(row[0], row[1]);
    __m256i c = _mm256_unpacklo_epi32(row[2], row[3]), d = _mm256_unpackhi_epi32(row[2], row[3]);
    to[0] = _mm256_unpacklo_epi64(a, c);
    to[1] = _mm256_unpackhi_epi64(a, c);
    to[2] = _mm256_unpacklo_epi64(b, d);
    to[3] = _mm256_unpackhi_epi64(b, d);
}

static inline void load_networks(const lx__feistel *const *feistels, const uint16_t *of,
                                 const uint16_t *places, struct networks *networks)
{
    const __m256i word = _mm256_set1_epi32(32);
    const char *from[LANES];
    __m256i about[4];
#pragma GCC unroll 8
    for (int i = 0; i < LANES; i++)
        from[lane_of[i]] = (const char *)feistels[of[places[i]]];
    transpose(from, offsetof(lx__feistel, key), networks->key);
    transpose(from, offsetof(lx__feistel, key) + 4 * sizeof(uint32_t), networks->key + 4);
    transpose(from, 0, about); /* both halves of the length, then the bits of the left and right
                                  half */
    networks->right = about[3];
    networks->from_left = _mm256_sub_epi32(word, about[2]);
    networks->from_right = _mm256_sub_epi32(word, about[3]);
}

/** Packs the low halves of eight 64-bit numbers; pairs of @p a and of @p b alternate. */
static inline __m256i low_halves(__m256i a, __m256i b)
{
    return _mm256_castps_si256(
        _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88));
}

static inline __m256i gather(const uint64_t *values, const uint16_t *places)
{
    return _mm256_set_epi64x((long long)values[places[3]], (long long)values[places[2]],
                             (long long)values[places[1]], (long long)values[places[0]]);
}

static inline void scatter(uint64_t *values, const uint16_t *places, __m256i from)
{
    __m128d low = _mm_castsi128_pd(_mm256_castsi256_si128(from));
    __m128d high = _mm_castsi128_pd(_mm256_extracti128_si256(from, 1));
    _mm_storel_pd((double *)&values[places[0]], low);
    _mm_storeh_pd((double *)&values[places[1]], low);
    _mm_storel_pd((double *)&values[places[2]], high);
    _mm_storeh_pd((double *)&values[places[3]], high);
}

static inline struct halves load(const struct networks *networks, const uint64_t *values,
                                 const uint16_t *places)
{
    const __m256i zero = _mm256_setzero_si256(), ones = _mm256_set1_epi32(-1);
    __m256i a = gather(values, places), b = gather(values, places + 4);
    __m256i mask = _mm256_srlv_epi32(ones, networks->from_right);
    __m256i right = _mm256_and_si256(low_halves(a, b), mask);
    a = _mm256_srlv_epi64(a, _mm256_unpacklo_epi32(networks->right, zero));
    b = _mm256_srlv_epi64(b, _mm256_unpackhi_epi32(networks->right, zero));
    return (struct halves){low_halves(a, b), right};
}

/** Unpacking reverses the permutation of low_halves(). */
static inline void store(const struct networks *networks, uint64_t *values, const uint16_t *places,
                         struct halves from)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i a = _mm256_sllv_epi64(_mm256_unpacklo_epi32(from.left, zero),
                                  _mm256_unpacklo_epi32(networks->right, zero));
    __m256i b = _mm256_sllv_epi64(_mm256_unpackhi_epi32(from.left, zero),
                                  _mm256_unpackhi_epi32(networks->right, zero));
    a = _mm256_or_si256(a, _mm256_unpacklo_epi32(from.right, zero));
    b = _mm256_or_si256(b, _mm256_unpackhi_epi32(from.right, zero));
    scatter(values, places, a);
    scatter(values, places + 4, b);
}

static inline __m256i round_function(__m256i half, __m256i key, __m256i shift)
{
    __m256i x = _mm256_xor_si256(half, key);
    x = _mm256_xor_si256(x, _mm256_srli_epi32(x, LX__FEISTEL_SHIFT_1));
    x = _mm256_mullo_epi32(x, _mm256_set1_epi32((int)LX__FEISTEL_FACTOR_1));
    x = _mm256_xor_si256(x, _mm256_srli_epi32(x, LX__FEISTEL_SHIFT_2));
    x = _mm256_mullo_epi32(x, _mm256_set1_epi32((int)LX__FEISTEL_FACTOR_2));
    return _mm256_srlv_epi32(x, shift);
}

static inline struct halves two_rounds(const struct networks *networks, int round, struct halves at)
{
    __m256i f = round_function(at.right, networks->key[round], networks->from_left);
    at.left = _mm256_xor_si256(at.left, f);
    f = round_function(at.left, networks->key[round + 1], networks->from_right);
    at.right = _mm256_xor_si256(at.right, f);
    return at;
}

/* Independent vectors in flight: they hide the latency of multiplications, which depend on each
 * other within a vector. */
#define MOST 8
#define SOME 4
/* Up to this count the scalar code is faster than a vector. */
#define FEW 2

static inline __attribute__((always_inline)) void pass(const lx__feistel *const *feistels,
                                                       const uint16_t *of, uint64_t *values,
                                                       const uint16_t *places, int vectors)
{
    struct networks networks[MOST];
    struct halves at[MOST];
    for (int i = 0; i < vectors; i++)
        load_networks(feistels, of, places + LANES * i, &networks[i]);
#pragma GCC unroll 8
    for (int i = 0; i < vectors; i++)
        at[i] = load(&networks[i], values, places + LANES * i);
#pragma GCC unroll 1
    for (int round = 0; round < LX__FEISTEL_ROUNDS; round += 2) {
#pragma GCC unroll 8
        for (int i = 0; i < vectors; i++)
            at[i] = two_rounds(&networks[i], round, at[i]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < vectors; i++)
        store(&networks[i], values, places + LANES * i, at[i]);
}

/** Maps a remainder that does not fill the vectors: repeats the last place in the missing lanes,
 * which compute and store the same result. */
static inline __attribute__((always_inline)) void pass_rest(const lx__feistel *const *feistels,
                                                            const uint16_t *of, uint64_t *values,
                                                            const uint16_t *places, size_t count,
                                                            int vectors)
{
    uint16_t filled[LANES * MOST];
    for (int i = 0; i < LANES * vectors; i++)
        filled[i] = places[(size_t)i < count ? (size_t)i : count - 1];
    pass(feistels, of, values, filled, vectors);
}

void lx__feistel_mixed_pass_avx2(const lx__feistel *const *feistels, const uint16_t *of,
                                 uint64_t *values, const uint16_t *places, size_t count)
{
    for (; count >= LANES * MOST; count -= LANES * MOST, places += LANES * MOST)
        pass(feistels, of, values, places, MOST);
    if (count > LANES * SOME)
        pass_rest(feistels, of, values, places, count, MOST);
    else if (count > LANES)
        pass_rest(feistels, of, values, places, count, SOME);
    else if (count > FEW)
        pass_rest(feistels, of, values, places, count, 1);
    else
        lx__feistel_mixed_pass_scalar(feistels, of, values, places, count);
}
