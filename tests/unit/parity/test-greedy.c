/* SPDX-License-Identifier: MIT */
#include "parity/greedy.h"

#include <math.h>
#include <stdlib.h>

#include "base/cpu.h"

#include "../scarce.h"
#include "../unit.h"
#include "../sampler/statistics.h"

START_TEST(matches_megatron)
{
    static const uint16_t right[] = {0, 1, 2, 0, 1, 0, 2, 0, 1, 0, 0, 1};
    lx_error error = LX_ERROR_INIT;
    lx__greedy greedy;
    uint16_t sets[12];
    unit_ok(lx__greedy_new((double[]){.5, .3, .2}, 3, &greedy, &error));
    lx__greedy_assign(&greedy, sets, 12);
    ck_assert_mem_eq(sets, right, sizeof right);
    ck_assert_uint_eq(greedy.position, 12);
    lx__greedy_free(&greedy);
}
END_TEST

/* The exhaustive form: an exhausted set is excluded, and the weights stay the same. */
START_TEST(a_removed_set_gets_no_more_samples)
{
    static const uint64_t sizes[] = {3, 2, 1};
    static const uint16_t right[] = {0, 1, 2, 0, 1, 0};
    uint64_t left[] = {3, 2, 1};
    double weights[3];
    lx_error error = LX_ERROR_INIT;
    lx__greedy greedy;
    for (int i = 0; i < 3; i++)
        weights[i] = (double)sizes[i] / 6;
    unit_ok(lx__greedy_new(weights, 3, &greedy, &error));
    for (int i = 0; i < 6; i++) {
        uint16_t set;
        lx__greedy_assign(&greedy, &set, 1);
        ck_assert_uint_eq(set, right[i]);
        if (--left[set] == 0)
            lx__greedy_remove(&greedy, set);
    }
    lx__greedy_free(&greedy);
}
END_TEST

/** The definition, one set after the other. */
static size_t next_of(const double *weights, uint64_t *given, size_t count, uint64_t position)
{
    double most = -INFINITY;
    size_t set = 0;
    for (size_t i = 0; i < count; i++) {
        volatile double wanted = weights[i] * (position != 0 ? (double)position : 1.0);
        double lag = wanted - (double)given[i];
        if (lag > most) {
            most = lag;
            set = i;
        }
    }
    given[set]++;
    return set;
}

static void expect_kernel(lx__greedy_kernel *kernel)
{
    enum { POSITIONS = 1000, SETS = 140 };
    static uint16_t sets[POSITIONS];
    uint64_t state = 31;
    for (size_t round = 2; round <= 2 * SETS; round += round < 140 ? 1 : 35) {
        size_t count = round / 2;
        double weights[SETS], sum = 0;
        uint64_t given[SETS] = {0};
        lx_error error = LX_ERROR_INIT;
        lx__greedy greedy;
        for (size_t i = 0; i < count; i++) /* few different values, with ties; or hardly any ties */
            sum += weights[i] = (double)(next_choice(&state) % (round % 2 == 0 ? 4 : 99991) + 1);
        for (size_t i = 0; i < count; i++)
            weights[i] /= sum;
        unit_ok(lx__greedy_new(weights, count, &greedy, &error));
        kernel(&greedy, sets, 1);
        kernel(&greedy, sets + 1, 7);
        kernel(&greedy, sets + 8, POSITIONS - 8);
        for (uint64_t k = 0; k < POSITIONS; k++)
            ck_assert_uint_eq(sets[k], next_of(weights, given, count, k));
        lx__greedy_free(&greedy);
    }
}

START_TEST(kernels_match_the_loop)
{
    expect_kernel(lx__greedy_assign_scalar);
    expect_kernel(lx__greedy_assign);
#if defined(__x86_64__)
    if (lx__cpu_has(LX__CPU_AVX2))
        expect_kernel(lx__greedy_assign_avx2);
#endif
}
END_TEST

/* The products of these with a position are infinite; subtracting the infinite count of an excluded
 * set would give NaN. */
static void expect_drops(lx__greedy_kernel *kernel)
{
    enum { SETS = 37 };
    for (uint16_t count = 1; count <= SETS; count++) {
        double weights[SETS];
        uint64_t given[SETS];
        lx_error error = LX_ERROR_INIT;
        lx__greedy greedy;
        for (int i = 0; i < count; i++)
            weights[i] = 1.7e308;
        unit_ok(lx__greedy_new(weights, count, &greedy, &error));
        greedy.position = 1000;
        for (uint16_t i = 0, set; i < count; i++) {
            ck_assert(lx__greedy_has_any(&greedy));
            kernel(&greedy, &set, 1);
            ck_assert_uint_eq(set, i); /* all are infinite: the first remaining set */
            lx__greedy_remove(&greedy, set);
            lx__greedy_get_counts(&greedy, given, count);
            lx__greedy_restore(&greedy, 1001 + i, weights, given, count);
        }
        ck_assert(!lx__greedy_has_any(&greedy));
        lx__greedy_free(&greedy);
    }
}

START_TEST(accepts_huge_weights)
{
    expect_drops(lx__greedy_assign_scalar);
    expect_drops(lx__greedy_assign);
#if defined(__x86_64__)
    if (lx__cpu_has(LX__CPU_AVX2))
        expect_drops(lx__greedy_assign_avx2);
#endif
}
END_TEST

START_TEST(reports_failed_allocations)
{
    lx_error error = LX_ERROR_INIT;
    lx__greedy greedy;
    for (int left = 0; left < 3; left++) {
        scarce_begin(left);
        unit_fails(lx__greedy_new((double[]){1}, 1, &greedy, &error), LX_ERR_NOMEM);
        ck_assert_ptr_null(greedy.given);
    }
}
END_TEST

UNIT_MAIN("parity/greedy", matches_megatron, a_removed_set_gets_no_more_samples,
          kernels_match_the_loop, accepts_huge_weights, reports_failed_allocations)
