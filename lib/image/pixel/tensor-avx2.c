/* SPDX-License-Identifier: MIT */
/* Compiled for AVX2 and F16C: tensor-rows.c selects it only on processors with both. */
#include "image/pixel/tensor-avx2.h"

#include <immintrin.h>
#include <string.h>

#include "image/pixel/tensor-plain.h"

/** What a block needs: the parts of a kind that are the same for each block. */
struct block {
    __m128i begin[3], end[3]; /* shuffles of the bytes 0 to 15, and of the bytes 16 to 23 */
    __m256 high, low, means[3], scales[3], offsets[3];
};

static struct block make_block(const lx__tensor_kind *kind, bool mirror)
{
    struct block block = {.high = _mm256_set1_ps(kind->high), .low = _mm256_set1_ps(kind->low)};
    for (size_t i = 0; i < 3; i++) {
        __m128i bytes = _mm_loadl_epi64((const __m128i *)(kind->sources[mirror] + LX__LANES * i));
        /* A shuffle gives 0 where the highest bit is set. */
        block.begin[i] = _mm_or_si128(bytes, _mm_cmpgt_epi8(bytes, _mm_set1_epi8(15)));
        block.end[i] = _mm_sub_epi8(bytes, _mm_set1_epi8(16));
        block.means[i] = _mm256_loadu_ps(kind->means + LX__LANES * i);
        block.scales[i] = _mm256_loadu_ps(kind->scales + LX__LANES * i);
        block.offsets[i] = _mm256_loadu_ps(kind->offsets + LX__LANES * i);
    }
    return block;
}

/** Returns the bytes of eight elements. */
static inline __m128i pick(const struct block *block, size_t i, const uint8_t *bytes)
{
    __m128i begin = _mm_loadu_si128((const __m128i *)bytes);
    __m128i end = _mm_loadl_epi64((const __m128i *)(bytes + 16));
    return _mm_or_si128(_mm_shuffle_epi8(begin, block->begin[i]),
                        _mm_shuffle_epi8(end, block->end[i]));
}

/** What is done to the bytes; of the last two, the means are those of the kind or of a row. */
enum action { COPY, DIVIDE, MULTIPLY, SUBTRACT_ROW };

static inline __m256 apply(const struct block *block, enum action action, size_t i, __m128i bytes,
                           const float *means)
{
    __m256 x = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
    if (action == DIVIDE) {
        x = _mm256_add_ps(_mm256_mul_ps(x, block->high), _mm256_mul_ps(x, block->low));
        return _mm256_div_ps(_mm256_sub_ps(x, block->means[i]), block->scales[i]);
    }
    x = _mm256_sub_ps(x, action == SUBTRACT_ROW ? _mm256_loadu_ps(means) : block->means[i]);
    return _mm256_add_ps(_mm256_mul_ps(x, block->scales[i]), block->offsets[i]);
}

/** Packs the words of 32 bits, each of which fits in 16 bits. */
static inline __m128i pack_words(__m256i words)
{
    return _mm_packus_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
}

static inline __m128i to_bfloat16(__m256 x)
{
    __m256i bits = _mm256_castps_si256(x);
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    bits = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    return pack_words(_mm256_srli_epi32(bits, 16));
}

/** Converts to integers within the range; bytes that represent them. */
static inline __m128i to_bytes(__m256 x, float least, float most)
{
    x = _mm256_min_ps(_mm256_max_ps(x, _mm256_set1_ps(least)), _mm256_set1_ps(most));
    __m256i words = _mm256_and_si256(_mm256_cvtps_epi32(x), _mm256_set1_epi32(255));
    return _mm_packus_epi16(pack_words(words), _mm_setzero_si128());
}

/** A constant where the dtype is one. */
static inline size_t element_size(lx_dtype dtype)
{
    return dtype == LX_FLOAT32 ? 4 : dtype == LX_FLOAT16 || dtype == LX_BFLOAT16 ? 2 : 1;
}

static inline void store(lx_dtype dtype, __m256 x, uint8_t *to)
{
    if (dtype == LX_FLOAT32)
        _mm256_storeu_ps((float *)to, x);
    else if (dtype == LX_FLOAT16)
        _mm_storeu_si128((__m128i *)to, _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
    else if (dtype == LX_BFLOAT16)
        _mm_storeu_si128((__m128i *)to, to_bfloat16(x));
    else if (dtype == LX_INT8)
        _mm_storel_epi64((__m128i *)to, to_bytes(x, -128, 127));
    else
        _mm_storel_epi64((__m128i *)to, to_bytes(x, 0, 255));
}

/** Converts the eight elements @p i of a block to the elements of a row from @p at on. */
static inline void convert(const struct block *block, lx_dtype dtype, enum action action, size_t i,
                           const uint8_t *bytes, const float *means, uint8_t *out, size_t at)
{
    __m128i picked = pick(block, i, bytes);
    uint8_t *to = out + at * element_size(dtype);
    if (action == COPY)
        _mm_storel_epi64((__m128i *)to, picked);
    else
        store(dtype, apply(block, action, i, picked, action == SUBTRACT_ROW ? means + at : NULL),
              to);
}

/** Converts a row of at least one block; the dtype and the action are constants. */
static inline void convert_row(const lx__tensor_kind *kind, lx_dtype dtype, enum action action,
                               const uint8_t *row, size_t width, bool mirror, const float *means,
                               uint8_t *out, size_t plane)
{
    const struct block block = make_block(kind, mirror);
    const size_t channels = kind->channels, pixels = LX__BLOCK / channels;
    const size_t step = kind->planar ? plane : LX__LANES, pixel = kind->planar ? 1 : channels;
    for (size_t x = 0; x < width; x += pixels) {
        if (x > width - pixels)
            x = width - pixels; /* converts some pixels again */
        const uint8_t *bytes = row + (mirror ? width - pixels - x : x) * channels;
        const size_t at = x * pixel;
        convert(&block, dtype, action, 0, bytes, means, out, at);
        convert(&block, dtype, action, 1, bytes, means, out, at + step);
        convert(&block, dtype, action, 2, bytes, means, out, at + 2 * step);
    }
}

/** Does the same with the action as a constant. */
static inline void convert_to(const lx__tensor_kind *kind, lx_dtype dtype, const uint8_t *row,
                              size_t width, bool mirror, const float *means, uint8_t *out,
                              size_t plane)
{
    if (means != NULL)
        convert_row(kind, dtype, SUBTRACT_ROW, row, width, mirror, means, out, plane);
    else if (kind->multiplies)
        convert_row(kind, dtype, MULTIPLY, row, width, mirror, NULL, out, plane);
    else
        convert_row(kind, dtype, DIVIDE, row, width, mirror, NULL, out, plane);
}

void lx__tensor_row_avx2(const lx__tensor_kind *kind, const uint8_t *row, size_t width, bool mirror,
                         const float *means, uint8_t *out, size_t plane)
{
    if (width * kind->channels < LX__BLOCK)
        lx__tensor_row_plain(kind, row, width, mirror, means, out, plane);
    else if (kind->is_copy)
        convert_row(kind, LX_UINT8, COPY, row, width, mirror, NULL, out, plane);
    else if (kind->dtype == LX_FLOAT32)
        convert_to(kind, LX_FLOAT32, row, width, mirror, means, out, plane);
    else if (kind->dtype == LX_FLOAT16)
        convert_to(kind, LX_FLOAT16, row, width, mirror, means, out, plane);
    else if (kind->dtype == LX_BFLOAT16)
        convert_to(kind, LX_BFLOAT16, row, width, mirror, means, out, plane);
    else if (kind->dtype == LX_INT8)
        convert_to(kind, LX_INT8, row, width, mirror, means, out, plane);
    else
        convert_to(kind, LX_UINT8, row, width, mirror, means, out, plane);
}
