/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief An order of every kind that can store its table in a file.
 */
#ifndef LX_TESTS_TABLED_H
#define LX_TESTS_TABLED_H

#include <loaderx/mixture.h>
#include <loaderx/parity.h>
#include <loaderx/weighted.h>

#include "orders.h"
#include "../../new-orders.h"

/** Number of indices of most orders. */
#define TABLED_COUNT 5000

static uint64_t tabled_numbers[TABLED_COUNT];
static double tabled_weights[TABLED_COUNT];

static inline void tabled_begin(void)
{
    for (uint64_t i = 0; i < TABLED_COUNT; i++) {
        tabled_numbers[i] = i * 7919 % 23 * 1000;
        tabled_weights[i] = (double)(i * 31 % 17);
    }
}

static inline lx_status tabled_greedy(lx_exhausted_policy exhausted, const char *tables,
                                      lx_order **order, lx_error *error)
{
    lx_order *part = make_order("sequential", 7000, 0, 0);
    lx_mixture *mixture = lx_mixture_new();
    ck_assert_int_eq(lx_mixture_add_part(mixture, part, 0, .25, error), LX_OK);
    ck_assert_int_eq(lx_mixture_add_part(mixture, part, 7000, .5, error), LX_OK);
    ck_assert_int_eq(lx_mixture_add_part(mixture, part, 14000, .25, error), LX_OK);
    ck_assert_int_eq(lx_mixture_set_exhausted_policy(mixture, exhausted, error), LX_OK);
    lx_status status = new_greedy(mixture, tables, order, error);
    lx_mixture_free(mixture);
    lx_order_unref(part);
    return status;
}

static inline lx_status tabled_greedy_repeat(const char *tables, lx_order **order, lx_error *error)
{
    return tabled_greedy(LX_EXHAUSTED_REPEAT, tables, order, error);
}

static inline lx_status tabled_greedy_stop(const char *tables, lx_order **order, lx_error *error)
{
    return tabled_greedy(LX_EXHAUSTED_STOP, tables, order, error);
}

static inline lx_status tabled_greedy_redistribute(const char *tables, lx_order **order,
                                                   lx_error *error)
{
    return tabled_greedy(LX_EXHAUSTED_REDISTRIBUTE, tables, order, error);
}

static inline lx_status tabled_nanoset(const char *tables, lx_order **order, lx_error *error)
{
    return new_nanoset((uint64_t[]){3000, 2000, 4500}, NULL, 3, true, 5, tables, order, error);
}

static inline lx_status tabled_weighted(const char *tables, lx_order **order, lx_error *error)
{
    return new_weighted(tabled_weights, TABLED_COUNT, 8000, 5, tables, order, error);
}

static inline lx_status tabled_weighted_shuffle(const char *tables, lx_order **order,
                                                lx_error *error)
{
    return new_weighted_shuffle(tabled_weights, TABLED_COUNT, 4500, 5, tables, order, error);
}

static inline lx_status tabled_balanced(const char *tables, lx_order **order, lx_error *error)
{
    return new_balanced(tabled_numbers, TABLED_COUNT, 6000, 5, tables, order, error);
}

static inline lx_status tabled_bucketed(const char *tables, lx_order **order, lx_error *error)
{
    return new_bucketed(tabled_numbers, TABLED_COUNT, 8, 64, 5, tables, order, error);
}

static inline lx_status tabled_torch_random(const char *tables, lx_order **order, lx_error *error)
{
    return new_torch_random(TABLED_COUNT, 7000, false, 5, tables, order, error);
}

static inline lx_status tabled_torch_distributed(const char *tables, lx_order **order,
                                                 lx_error *error)
{
    return new_torch_distributed(TABLED_COUNT, 3, true, false, 5, tables, order, error);
}

static inline lx_status tabled_torch_subset(const char *tables, lx_order **order, lx_error *error)
{
    return new_torch_subset(tabled_numbers, TABLED_COUNT, 5, tables, order, error);
}

static inline lx_status tabled_subset(const char *tables, lx_order **order, lx_error *error)
{
    static uint64_t wide[TABLED_COUNT];
    lx_order *part = make_order("shuffle", TABLED_COUNT, 3, 0);
    for (uint64_t i = 0; i < TABLED_COUNT; i++)
        wide[i] = i << 33;
    lx_status status = new_subset(part, wide, TABLED_COUNT, tables, order, error);
    lx_order_unref(part);
    return status;
}

static const struct tabled {
    const char *name;
    lx_status (*make)(const char *tables, lx_order **order, lx_error *error);
    int files; /* of an epoch */
} tabled[] = {{"greedy, repeat", tabled_greedy_repeat, 1},
              {"greedy, stop", tabled_greedy_stop, 1},
              {"greedy, redistribute", tabled_greedy_redistribute, 1},
              {"nanoset", tabled_nanoset, 1},
              {"weighted", tabled_weighted, 1},
              {"weighted shuffle", tabled_weighted_shuffle, 1},
              {"balanced", tabled_balanced, 1},
              {"bucketed", tabled_bucketed, 1},
              {"torch's random", tabled_torch_random, 1},
              {"torch's distributed", tabled_torch_distributed, 1},
              {"torch's subset", tabled_torch_subset, 2},
              {"subset", tabled_subset, 1}};
#define TABLED (sizeof tabled / sizeof *tabled)

#endif
