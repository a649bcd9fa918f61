/* SPDX-License-Identifier: MIT */
/* The results depend on rounding each operation as written: configure disables the contraction of a
 * product and a sum into one fused operation, which rounds only once. */
#include "parity/greedy.h"

#include <math.h>

#include "base/alloc.h"
#include "base/cpu.h"
#include "base/error.h"

lx_status lx__greedy_new(const double *weights, size_t count, lx__greedy *greedy, lx_error *error)
{
    size_t room = (count + LX__GREEDY_LANES - 1) / LX__GREEDY_LANES * LX__GREEDY_LANES;
    *greedy = (lx__greedy){.used = count, .count = room};
    greedy->weights = lx__alloc_array(room, sizeof *greedy->weights);
    greedy->given = lx__alloc_array(room, sizeof *greedy->given);
    greedy->lags = lx__alloc_array(room, sizeof *greedy->lags);
    if (greedy->weights == NULL || greedy->given == NULL || greedy->lags == NULL) {
        lx__greedy_free(greedy);
        return lx__fail_memory(error, "a mixture");
    }
    for (size_t i = 0; i < room; i++)
        greedy->weights[i] = i < count ? weights[i] : 0;
    greedy->left = room;
    for (size_t i = count; i < room; i++)
        lx__greedy_remove(greedy, i);
    return LX_OK;
}

void lx__greedy_free(lx__greedy *greedy)
{
    lx__free(greedy->weights);
    lx__free(greedy->given);
    lx__free(greedy->lags);
    *greedy = (lx__greedy){0};
}

void lx__greedy_remove(lx__greedy *greedy, size_t set)
{
    greedy->given[set] = INFINITY;
    greedy->weights[set] = 0; /* with a different weight, the lag could be inf - inf, which is
                                 NaN */
    greedy->left--;
}

bool lx__greedy_has_any(const lx__greedy *greedy)
{
    return greedy->left != 0;
}

void lx__greedy_get_counts(const lx__greedy *greedy, uint64_t *given, size_t count)
{
    for (size_t i = 0; i < count; i++)
        given[i] = isinf(greedy->given[i]) ? LX__GREEDY_REMOVED : (uint64_t)greedy->given[i];
}

void lx__greedy_restore(lx__greedy *greedy, uint64_t position, const double *weights,
                        const uint64_t *given, size_t count)
{
    greedy->position = position;
    greedy->left = count;
    for (size_t i = 0; i < count; i++) {
        greedy->weights[i] = weights[i];
        greedy->given[i] = (double)given[i];
        if (given[i] == LX__GREEDY_REMOVED)
            lx__greedy_remove(greedy, i);
    }
}

/** Returns the set with the largest lag, or the first one if several have it. */
static size_t find_most_lagging(const double *restrict weights, const double *restrict given,
                                double *restrict lags, size_t count, double position)
{
    double most[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    for (size_t i = 0; i < count; i++)
        lags[i] = weights[i] * position - given[i];
    /* Four independent chains hide the latency of the comparisons. */
    for (size_t i = 0; i < count; i += 4)
        for (size_t chain = 0; chain < 4; chain++)
            most[chain] = lags[i + chain] > most[chain] ? lags[i + chain] : most[chain];
    for (size_t chain = 1; chain < 4; chain++)
        most[0] = most[chain] > most[0] ? most[chain] : most[0];
    size_t set = 0;
    while (lags[set] != most[0])
        set++;
    return set;
}

void lx__greedy_assign_scalar(lx__greedy *greedy, uint16_t *sets, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        uint64_t position = greedy->position++;
        size_t set = find_most_lagging(greedy->weights, greedy->given, greedy->lags, greedy->count,
                                       position != 0 ? (double)position : 1);
        greedy->given[set]++;
        sets[i] = (uint16_t)set;
    }
}

static lx__greedy_kernel *best(void)
{
#if defined(__x86_64__)
    if (lx__cpu_has(LX__CPU_AVX2))
        return lx__greedy_assign_avx2;
#endif
    return lx__greedy_assign_scalar;
}

void lx__greedy_assign(lx__greedy *greedy, uint16_t *sets, size_t length)
{
    (*best())(greedy, sets, length);
}
