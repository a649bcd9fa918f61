/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Operations on four sets of a greedy mixture, for sources compiled for AVX2.
 */
#ifndef LX_PARITY_GREEDY_LANES_H
#define LX_PARITY_GREEDY_LANES_H

#include <immintrin.h>

#include "parity/greedy.h"

/** Returns the lags of four sets at a position. The product and the difference are rounded
 * separately. */
static inline __m256d lx__lag_of(__m256d weight, __m256d position, __m256d given)
{
    return _mm256_sub_pd(_mm256_mul_pd(weight, position), given);
}

/** Returns the maximum of the lanes in every lane. */
static inline __m256d lx__broadcast_max(__m256d lanes)
{
    __m256d near = _mm256_max_pd(lanes, _mm256_permute_pd(lanes, 5));
    __m256d far = _mm256_max_pd(_mm256_permute4x64_pd(lanes, 0x4E),
                                _mm256_permute4x64_pd(lanes, 0x1B));
    return _mm256_max_pd(near, far);
}

/** Counts one more position for each set in @p mask. */
static inline __m256d lx__add_masked(__m256d given, __m256d mask)
{
    return _mm256_add_pd(given, _mm256_and_pd(mask, _mm256_set1_pd(1)));
}

#endif
