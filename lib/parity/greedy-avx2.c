/* SPDX-License-Identifier: MIT */
/* Up to 16 sets, whose state stays in registers. The set with the largest lag is found by comparing
 * all lags with the maximum. The resulting mask increments the count of that set without knowing
 * its number, so no position has to wait for the search at the previous position. If several lags
 * are equal, which the masks show, the first set gets the position. */
#include "parity/greedy-lanes.h"
#include "parity/greedy-many-avx2.h"

/** Returns the mask of one of four sets. */
static inline __m256d mask_of(size_t set)
{
    static const int64_t masks[8] = {0, 0, 0, -1, 0, 0, 0, 0};
    return _mm256_castsi256_pd(_mm256_loadu_si256((const __m256i *)(masks + 3 - set)));
}

/** Assigns positions to 4 sets per vector. Computes each set's next lag for both outcomes before it
 * is known which set gets the position. */
static inline __attribute__((always_inline)) void give_few(lx__greedy *greedy, uint16_t *sets,
                                                           size_t length, const size_t vectors)
{
    const __m256d one = _mm256_set1_pd(1);
    __m256d weights[4], given[4], lags[4];
    double start = greedy->position != 0 ? (double)greedy->position : 1;
    __m256d position = _mm256_set1_pd(start);
#pragma GCC unroll 4
    for (size_t i = 0; i < vectors; i++) {
        weights[i] = _mm256_loadu_pd(greedy->weights + 4 * i);
        given[i] = _mm256_loadu_pd(greedy->given + 4 * i);
        lags[i] = lx__lag_of(weights[i], position, given[i]);
    }
    if (greedy->position == 0)
        position = _mm256_setzero_pd();
    for (size_t k = 0; k < length; k++) {
        __m256d most = lags[0], masks[4];
        unsigned found = 0;
#pragma GCC unroll 4
        for (size_t i = 1; i < vectors; i++)
            most = _mm256_max_pd(most, lags[i]);
        most = lx__broadcast_max(most);
#pragma GCC unroll 4
        for (size_t i = 0; i < vectors; i++) {
            masks[i] = _mm256_cmp_pd(lags[i], most, _CMP_EQ_OQ);
            found |= (unsigned)_mm256_movemask_pd(masks[i]) << 4 * i;
        }
        size_t set = (size_t)__builtin_ctz(found);
        if (__builtin_expect((found & (found - 1)) != 0, 0)) {
#pragma GCC unroll 4
            for (size_t i = 0; i < vectors; i++)
                masks[i] = set / 4 == i ? mask_of(set % 4) : _mm256_setzero_pd();
        }
        sets[k] = (uint16_t)set;
        position = _mm256_add_pd(position, one);
#pragma GCC unroll 4
        for (size_t i = 0; i < vectors; i++) {
            __m256d without = lx__lag_of(weights[i], position, given[i]);
            __m256d with = lx__lag_of(weights[i], position, _mm256_add_pd(given[i], one));
            lags[i] = _mm256_blendv_pd(without, with, masks[i]);
            given[i] = lx__add_masked(given[i], masks[i]);
        }
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < vectors; i++)
        _mm256_storeu_pd(greedy->given + 4 * i, given[i]);
    greedy->position += length;
}

void lx__greedy_assign_avx2(lx__greedy *greedy, uint16_t *sets, size_t length)
{
    if (greedy->used <= 4)
        give_few(greedy, sets, length, 1);
    else if (greedy->used <= 8)
        give_few(greedy, sets, length, 2);
    else if (greedy->used <= 16)
        give_few(greedy, sets, length, 4);
    else
        lx__greedy_assign_many_avx2(greedy, sets, length);
}
