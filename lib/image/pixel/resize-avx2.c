/* SPDX-License-Identifier: MIT */
/* Compiled for AVX2: resize-passes.c selects it only on processors with AVX2. */
#include "image/pixel/resize-avx2.h"

#include <immintrin.h>
#include <string.h>

#include "image/pixel/resize-plain.h"

/* The sums of the high and of the low numbers of the weights are kept apart until the end. Each
 * multiplication adds the products of two pixels. */
struct sums {
    __m256i high, low;
};

static inline void add(struct sums *sums, __m256i pixels, __m256i high, __m256i low)
{
    sums->high = _mm256_add_epi32(sums->high, _mm256_madd_epi16(pixels, high));
    sums->low = _mm256_add_epi32(sums->low, _mm256_madd_epi16(pixels, low));
}

static inline __m256i join(const struct sums *sums)
{
    return _mm256_add_epi32(_mm256_slli_epi32(sums->high, LX__WEIGHT_LOW_BITS), sums->low);
}

/** Rounds sums; what is beyond a byte is limited when the sums are packed. */
static inline __m256i round_sums(__m256i sums)
{
    const __m256i half = _mm256_set1_epi32(1 << (LX__WEIGHT_BITS - 1));
    return _mm256_srai_epi32(_mm256_add_epi32(sums, half), LX__WEIGHT_BITS);
}

static inline __m256i zero(void)
{
    return _mm256_setzero_si256();
}

static inline __m256i load_twice(const void *from)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(from));
}

static inline __m256i shuffle_of(__m128i low, __m128i high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

/* ---- three channels: the lower half of a vector has the pixels 0 and 1 of a group, the upper half
 * the pixels 2 and 3: pairs of reds, of greens, of blues, and of zeros */

#define NO (-1)

static inline __m256i pixel_pairs(void)
{
    return _mm256_setr_epi8(0, NO, 3, NO, 1, NO, 4, NO, 2, NO, 5, NO, NO, NO, NO, NO, /* 0, 1 */
                            6, NO, 9, NO, 7, NO, 10, NO, 8, NO, 11, NO, NO, NO, NO, NO);
}

/** Repeats the pairs of weights that begin at the bytes @p first and @p second. */
static inline __m256i weight_pairs(int first, int second)
{
    const __m128i bytes = _mm_set1_epi32(0x03020100);
    return shuffle_of(_mm_add_epi8(bytes, _mm_set1_epi8((char)first)),
                      _mm_add_epi8(bytes, _mm_set1_epi8((char)second)));
}

static inline void store_4(uint8_t *to, int value)
{
    memcpy(to, &value, sizeof value);
}

/** Adds the halves of the sums of two rows: the lower half of the result is the first row. */
static inline __m256i add_halves(const struct sums *first, const struct sums *second)
{
    __m256i a = join(first), b = join(second);
    return _mm256_add_epi32(_mm256_permute2x128_si256(a, b, 0x20),
                            _mm256_permute2x128_si256(a, b, 0x31));
}

/** The pass for a number of groups, which is a constant in the frequent cases. */
static inline void pass_3(const lx__axis *axis, size_t groups, const uint8_t *const *in,
                          uint8_t *const *out)
{
    const __m256i pairs = pixel_pairs();
    const __m256i high_pairs = weight_pairs(0, 4), low_pairs = weight_pairs(8, 12);
    const uint8_t *in0 = in[0], *in1 = in[1], *in2 = in[2], *in3 = in[3];
    const int16_t *weights = axis->weights;
    size_t size = axis->key.out_size;
    const uint32_t *starts = axis->starts;
    uint8_t *out0 = out[0], *out1 = out[1], *out2 = out[2], *out3 = out[3];
    for (size_t x = 0; x < size; x++) {
        size_t at = 3 * (size_t)starts[x];
        struct sums s0 = {zero(), zero()}, s1 = s0, s2 = s0, s3 = s0;
        for (size_t group = 0; group < groups; group++, at += 3 * LX__WEIGHT_GROUP) {
            __m256i both = load_twice(weights);
            __m256i high = _mm256_shuffle_epi8(both, high_pairs);
            __m256i low = _mm256_shuffle_epi8(both, low_pairs);
            weights += 2 * LX__WEIGHT_GROUP;
            add(&s0, _mm256_shuffle_epi8(load_twice(in0 + at), pairs), high, low);
            add(&s1, _mm256_shuffle_epi8(load_twice(in1 + at), pairs), high, low);
            add(&s2, _mm256_shuffle_epi8(load_twice(in2 + at), pairs), high, low);
            add(&s3, _mm256_shuffle_epi8(load_twice(in3 + at), pairs), high, low);
        }
        __m256i words = _mm256_packs_epi32(round_sums(add_halves(&s0, &s1)),
                                           round_sums(add_halves(&s2, &s3)));
        __m256i bytes = _mm256_packus_epi16(words, words);
        __m128i even = _mm256_castsi256_si128(bytes), odd = _mm256_extracti128_si256(bytes, 1);
        store_4(out0 + 3 * x, _mm_cvtsi128_si32(even));
        store_4(out1 + 3 * x, _mm_cvtsi128_si32(odd));
        store_4(out2 + 3 * x, _mm_extract_epi32(even, 1));
        store_4(out3 + 3 * x, _mm_extract_epi32(odd, 1));
    }
}

static void horizontal_3(const lx__axis *axis, const uint8_t *const *in, uint8_t *const *out)
{
    if (axis->groups == 1)
        pass_3(axis, 1, in, out);
    else if (axis->groups == 2)
        pass_3(axis, 2, in, out);
    else
        pass_3(axis, axis->groups, in, out);
}

/* ---- one channel: a vector has the four pixels of a group of each row */

static inline int load_4(const uint8_t *from)
{
    int value;
    memcpy(&value, from, sizeof value);
    return value;
}

static inline __m256i load_rows(const uint8_t *const *in, size_t at)
{
    return _mm256_cvtepu8_epi16(_mm_setr_epi32(load_4(in[0] + at), load_4(in[1] + at),
                                               load_4(in[2] + at), load_4(in[3] + at)));
}

static inline __m256i load_8(const int16_t *from)
{
    long long value;
    memcpy(&value, from, sizeof value);
    return _mm256_set1_epi64x(value);
}

static void horizontal_1(const lx__axis *axis, const uint8_t *const *in, uint8_t *const *out)
{
    const int16_t *weights = axis->weights;
    for (size_t x = 0; x < axis->key.out_size; x++) {
        size_t at = axis->starts[x];
        struct sums sums = {zero(), zero()};
        for (size_t group = 0; group < axis->groups; group++, at += LX__WEIGHT_GROUP) {
            add(&sums, load_rows(in, at), load_8(weights), load_8(weights + LX__WEIGHT_GROUP));
            weights += 2 * LX__WEIGHT_GROUP;
        }
        __m256i rows = join(&sums);
        rows = round_sums(_mm256_hadd_epi32(rows, rows));
        rows = _mm256_packs_epi32(rows, rows);
        rows = _mm256_packus_epi16(rows, rows);
        int first = _mm256_extract_epi32(rows, 0), second = _mm256_extract_epi32(rows, 4);
        out[0][x] = (uint8_t)first;
        out[1][x] = (uint8_t)(first >> 8);
        out[2][x] = (uint8_t)second;
        out[3][x] = (uint8_t)(second >> 8);
    }
}

/* ---- vertical */

static inline __m256i load_pair(const int16_t *from)
{
    return _mm256_set1_epi32(load_4((const uint8_t *)from));
}

/** Computes 32 bytes. Packing restores the order that unpacking changed. */
static inline void block(const int16_t *weights, size_t count, const uint8_t *const *rows,
                         size_t at, uint8_t *out)
{
    struct sums s0 = {zero(), zero()}, s1 = s0, s2 = s0, s3 = s0;
    for (size_t k = 0; k < count; k += 2) {
        const int16_t *pair = weights + k / LX__WEIGHT_GROUP * 2 * LX__WEIGHT_GROUP;
        pair += k % LX__WEIGHT_GROUP;
        __m256i high = load_pair(pair), low = load_pair(pair + LX__WEIGHT_GROUP);
        __m256i a = _mm256_loadu_si256((const __m256i *)(rows[k] + at));
        __m256i b = _mm256_loadu_si256((const __m256i *)(rows[k + 1] + at));
        __m256i begin = _mm256_unpacklo_epi8(a, b), end = _mm256_unpackhi_epi8(a, b);
        add(&s0, _mm256_unpacklo_epi8(begin, zero()), high, low);
        add(&s1, _mm256_unpackhi_epi8(begin, zero()), high, low);
        add(&s2, _mm256_unpacklo_epi8(end, zero()), high, low);
        add(&s3, _mm256_unpackhi_epi8(end, zero()), high, low);
    }
    __m256i begin = _mm256_packs_epi32(round_sums(join(&s0)), round_sums(join(&s1)));
    __m256i end = _mm256_packs_epi32(round_sums(join(&s2)), round_sums(join(&s3)));
    _mm256_storeu_si256((__m256i *)(out + at), _mm256_packus_epi16(begin, end));
}

#define BLOCK ((size_t)32)

static void vertical(const int16_t *weights, size_t count, const uint8_t *const *rows, size_t size,
                     uint8_t *out)
{
    size_t at = 0;
    for (; size - at >= BLOCK; at += BLOCK)
        block(weights, count, rows, at, out);
    if (at == size)
        return;
    if (size >= BLOCK) /* some bytes again */
        block(weights, count, rows, size - BLOCK, out);
    else
        lx__passes_plain.vertical(weights, count, rows, size, out);
}

const lx__passes lx__passes_avx2 = {{horizontal_1, horizontal_3}, vertical};
