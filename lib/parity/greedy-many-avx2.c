/* SPDX-License-Identifier: MIT */
/* More than 16 sets, in one pass per position. With masks, one pass assigns the position and
 * computes the lags at the next one, but a tie must be undone for all sets except the first. If
 * ties are frequent, a search finds the first set before it is assigned. */
#include "parity/greedy-many-avx2.h"

#include "parity/greedy-lanes.h"

/* Sets per word of mask bits, which are tested together to avoid a branch that depends on the
 * set. */
#define TOGETHER 64
/* Positions per attempt with masks, and the number of ties tolerated among them; after more ties,
 * THEN_SEARCHED positions are searched before the next attempt. */
#define TRIED 256
#define ALIKE 100
#define THEN_SEARCHED 4096

typedef uint64_t bits;

/* ---- with masks */

/** Computes the lags of all sets at the first position; returns their maximum. */
static __m256d find_lags(lx__greedy *greedy)
{
    __m256d most = _mm256_set1_pd(-__builtin_inf());
    __m256d position = _mm256_set1_pd(greedy->position != 0 ? (double)greedy->position : 1);
    for (size_t i = 0; i < greedy->count; i += 4) {
        __m256d lag = lx__lag_of(_mm256_loadu_pd(greedy->weights + i), position,
                                 _mm256_loadu_pd(greedy->given + i));
        _mm256_storeu_pd(greedy->lags + i, lag);
        most = _mm256_max_pd(most, lag);
    }
    return lx__broadcast_max(most);
}

/** Assigns a position to those of 16 sets whose lag is @p most, and computes the lags at the next
 * position. */
static inline __attribute__((always_inline)) bits
give_16(lx__greedy *greedy, size_t at, __m256d most, __m256d next, __m256d greatest[4])
{
    bits found = 0;
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
        size_t set = at + 4 * i;
        __m256d mask = _mm256_cmp_pd(_mm256_loadu_pd(greedy->lags + set), most, _CMP_EQ_OQ);
        __m256d given = lx__add_masked(_mm256_loadu_pd(greedy->given + set), mask);
        __m256d lag = lx__lag_of(_mm256_loadu_pd(greedy->weights + set), next, given);
        _mm256_storeu_pd(greedy->given + set, given);
        _mm256_storeu_pd(greedy->lags + set, lag);
        greatest[i] = _mm256_max_pd(greatest[i], lag);
        found |= (bits)(unsigned)_mm256_movemask_pd(mask) << 4 * i;
    }
    return found;
}

/** Undoes the assignment for the sets in @p found, which tie with an earlier set; updates the
 * maximum of the lags. */
static __m256d undo(lx__greedy *greedy, size_t at, bits found, __m256d next, __m256d greatest)
{
    const __m256i places = _mm256_set_epi64x(8, 4, 2, 1);
    while (found != 0) {
        unsigned shift = (unsigned)__builtin_ctzll(found) & ~3u;
        size_t four = at + shift;
        __m256i some = _mm256_and_si256(_mm256_set1_epi64x((long long)(found >> shift)), places);
        __m256d mask = _mm256_castsi256_pd(_mm256_cmpeq_epi64(some, places));
        __m256d given = _mm256_sub_pd(_mm256_loadu_pd(greedy->given + four),
                                      _mm256_and_pd(mask, _mm256_set1_pd(1)));
        __m256d lag = lx__lag_of(_mm256_loadu_pd(greedy->weights + four), next, given);
        _mm256_storeu_pd(greedy->given + four, given);
        _mm256_storeu_pd(greedy->lags + four, lag);
        greatest = _mm256_max_pd(greatest, lag);
        found &= ~((bits)15 << shift);
    }
    return greatest;
}

/** Assigns positions; returns how many had a tie. */
static size_t assign_by_masks(lx__greedy *greedy, uint16_t *sets, size_t length)
{
    size_t ties = 0;
    __m256d most = find_lags(greedy);
    for (size_t k = 0; k < length; k++) {
        __m256d next = _mm256_set1_pd((double)++greedy->position);
        __m256d lowest = _mm256_set1_pd(-__builtin_inf());
        __m256d greatest[4] = {lowest, lowest, lowest, lowest};
        size_t first = SIZE_MAX;
        for (size_t at = 0; at < greedy->count; at += TOGETHER) {
            bits found = 0;
            size_t end = greedy->count - at < TOGETHER ? greedy->count : at + TOGETHER;
            for (size_t i = at; i < end; i += LX__GREEDY_LANES)
                found |= give_16(greedy, i, most, next, greatest) << (i - at);
            if (first == SIZE_MAX && found != 0) {
                first = at + (size_t)__builtin_ctzll(found);
                found &= found - 1;
            }
            if (__builtin_expect(found != 0, 0)) {
                greatest[0] = undo(greedy, at, found, next, greatest[0]);
                ties++;
            }
        }
        most = lx__broadcast_max(_mm256_max_pd(_mm256_max_pd(greatest[0], greatest[1]),
                                               _mm256_max_pd(greatest[2], greatest[3])));
        sets[k] = (uint16_t)first;
    }
    return ties;
}

/* ---- with a search */

/** Returns which of four sets have the lag @p most, as bits. */
static unsigned search(const double *lags, __m256d most)
{
    return (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(_mm256_loadu_pd(lags), most, _CMP_EQ_OQ));
}

/** Adds a position to a set. Stores four sets at once, because a vector load stalls after a scalar
 * store. */
static void assign(lx__greedy *greedy, size_t set)
{
    static const double ones[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    double *four = greedy->given + set / 4 * 4;
    _mm256_storeu_pd(four, _mm256_add_pd(_mm256_loadu_pd(four), _mm256_loadu_pd(ones[set % 4])));
}

static void assign_by_search(lx__greedy *greedy, uint16_t *sets, size_t length)
{
    for (size_t k = 0; k < length; k++) {
        uint64_t number = greedy->position++;
        __m256d position = _mm256_set1_pd(number != 0 ? (double)number : 1);
        __m256d lowest = _mm256_set1_pd(-__builtin_inf());
        __m256d most[4] = {lowest, lowest, lowest, lowest};
        for (size_t i = 0; i < greedy->count; i += LX__GREEDY_LANES)
#pragma GCC unroll 4
            for (size_t chain = 0; chain < 4; chain++) {
                size_t at = i + 4 * chain;
                __m256d lag = lx__lag_of(_mm256_loadu_pd(greedy->weights + at), position,
                                         _mm256_loadu_pd(greedy->given + at));
                _mm256_storeu_pd(greedy->lags + at, lag);
                most[chain] = _mm256_max_pd(most[chain], lag);
            }
        most[0] = lx__broadcast_max(
            _mm256_max_pd(_mm256_max_pd(most[0], most[1]), _mm256_max_pd(most[2], most[3])));
        const double *lags = greedy->lags;
        unsigned found = 0;
        for (; found == 0; lags += LX__GREEDY_LANES)
            found = search(lags, most[0]) | search(lags + 4, most[0]) << 4 |
                    search(lags + 8, most[0]) << 8 | search(lags + 12, most[0]) << 12;
        size_t set = (size_t)(lags - greedy->lags) - LX__GREEDY_LANES;
        set += (size_t)__builtin_ctz(found);
        assign(greedy, set);
        sets[k] = (uint16_t)set;
    }
}

void lx__greedy_assign_many_avx2(lx__greedy *greedy, uint16_t *sets, size_t length)
{
    while (length != 0) {
        size_t tried = length < TRIED ? length : TRIED;
        bool often = assign_by_masks(greedy, sets, tried) > ALIKE;
        sets += tried;
        length -= tried;
        tried = !often ? 0 : length < THEN_SEARCHED ? length : THEN_SEARCHED;
        assign_by_search(greedy, sets, tried);
        sets += tried;
        length -= tried;
    }
}
