/* SPDX-License-Identifier: MIT */
#include <immintrin.h>

#include "sampler/mixtures/greedy.h"

/** What four sets lag. A product and a difference, each rounded. */
static __m256d lag_of(const lx__greedy *greedy, size_t set, __m256d position)
{
    __m256d wanted = _mm256_mul_pd(_mm256_loadu_pd(greedy->weights + set), position);
    return _mm256_sub_pd(wanted, _mm256_loadu_pd(greedy->given + set));
}

/** The greatest of the lanes, in all of them. */
static __m256d spread_most(__m256d lanes)
{
    lanes = _mm256_max_pd(lanes, _mm256_permute2f128_pd(lanes, lanes, 1));
    return _mm256_max_pd(lanes, _mm256_permute_pd(lanes, 5));
}

/** Which of four sets lag so much, as bits. */
static unsigned find(const double *lags, __m256d most)
{
    return (unsigned)_mm256_movemask_pd(
        _mm256_cmp_pd(_mm256_loadu_pd(lags), most, _CMP_EQ_OQ));
}

/** Notes a position more. Four sets at once, as a load of four waits long for a store of one. */
static void give(lx__greedy *greedy, size_t set)
{
    static const double ones[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    double *four = greedy->given + set / 4 * 4;
    _mm256_storeu_pd(four, _mm256_add_pd(_mm256_loadu_pd(four), _mm256_loadu_pd(ones[set % 4])));
}

void lx__greedy_give_avx2(lx__greedy *greedy, uint16_t *sets, size_t length)
{
    double *lags = greedy->lags;
    for (size_t k = 0; k < length; k++) {
        uint64_t number = greedy->position++;
        __m256d position = _mm256_set1_pd(number != 0 ? (double)number : 1);
        __m256d most[4] = {_mm256_set1_pd(-__builtin_inf()), _mm256_set1_pd(-__builtin_inf()),
                           _mm256_set1_pd(-__builtin_inf()), _mm256_set1_pd(-__builtin_inf())};
        for (size_t i = 0; i < greedy->count; i += LX__GREEDY_LANES)
            for (size_t chain = 0; chain < 4; chain++) {
                __m256d lag = lag_of(greedy, i + 4 * chain, position);
                _mm256_storeu_pd(lags + i + 4 * chain, lag);
                most[chain] = _mm256_max_pd(most[chain], lag);
            }
        most[0] = spread_most(_mm256_max_pd(_mm256_max_pd(most[0], most[1]),
                                            _mm256_max_pd(most[2], most[3])));
        size_t set = 0;
        unsigned found = 0;
        for (; found == 0; set += LX__GREEDY_LANES)
            found = find(lags + set, most[0]) | find(lags + set + 4, most[0]) << 4 |
                    find(lags + set + 8, most[0]) << 8 | find(lags + set + 12, most[0]) << 12;
        set += (size_t)__builtin_ctz(found) - LX__GREEDY_LANES;
        give(greedy, set);
        sets[k] = (uint16_t)set;
    }
}
