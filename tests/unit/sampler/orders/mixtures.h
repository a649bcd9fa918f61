/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Mixtures for the tests: of shuffles, with any weights.
 */
#ifndef LX_TESTS_MIXTURES_H
#define LX_TESTS_MIXTURES_H

#include <loaderx/mixture.h>

#include "../orders.h"
#include "../statistics.h"

#define SETS_MAX 40
#define WEIGHTINGS_MAX 4
/* Set i has indices from i * APART on. */
#define APART 1000000u

/** A mixture, and its arguments. */
struct setup {
    size_t count;
    uint64_t lengths[SETS_MAX];
    lx_order *parts[SETS_MAX];
    size_t weighting_count;
    uint64_t begins[WEIGHTINGS_MAX];
    double weights[WEIGHTINGS_MAX][SETS_MAX];
    lx_mixture *mixture;
};

static inline struct setup make_setup(size_t count, const uint64_t *lengths, const double *weights)
{
    lx_error error = LX_ERROR_INIT;
    struct setup setup = {.count = count, .mixture = lx_mixture_new(), .weighting_count = 1};
    for (size_t i = 0; i < count; i++) {
        setup.lengths[i] = lengths[i];
        setup.weights[0][i] = weights[i];
        setup.parts[i] = make_order("shuffle", lengths[i], 42 + i, 0);
        unit_ok(lx_mixture_add_part(setup.mixture, setup.parts[i], i * APART, weights[i], &error));
    }
    return setup;
}

/** Weights, the first of which is not zero. */
static inline void random_weights(uint64_t *state, double *weights, size_t count)
{
    for (size_t i = 0; i < count; i++)
        weights[i] = i != 0 && next_choice(state) % 7 == 0 ? 0
                                                           : (double)(next_choice(state) % 50 + 1);
}

static inline struct setup random_setup(uint64_t *state, size_t most)
{
    uint64_t lengths[SETS_MAX];
    double weights[SETS_MAX];
    size_t count = next_choice(state) % most + 1;
    for (size_t i = 0; i < count; i++)
        lengths[i] = next_choice(state) % 300 + 1;
    random_weights(state, weights, count);
    return make_setup(count, lengths, weights);
}

/** Other weights from offsets on that are below @p within, which is at least 10. */
static inline void add_curriculum(struct setup *setup, uint64_t *state, uint64_t within)
{
    lx_error error = LX_ERROR_INIT;
    size_t last = 1 + next_choice(state) % WEIGHTINGS_MAX;
    for (size_t i = 1; i < last; i++) {
        uint64_t by = next_choice(state) % (within / WEIGHTINGS_MAX) + 1;
        setup->begins[i] = setup->begins[i - 1] + by;
        random_weights(state, setup->weights[i], setup->count);
        unit_ok(lx_mixture_add_phase(setup->mixture, setup->begins[i], setup->weights[i],
                                     setup->count, &error));
        setup->weighting_count++;
    }
}

static inline void free_setup(struct setup *setup)
{
    lx_mixture_free(setup->mixture);
    for (size_t i = 0; i < setup->count; i++)
        lx_order_unref(setup->parts[i]);
}

static inline uint64_t sum_of_lengths(const struct setup *setup)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < setup->count; i++)
        sum += setup->lengths[i];
    return sum;
}

static inline lx_order *blend(const struct setup *setup, lx_exhausted_policy exhausted,
                              uint64_t length)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    unit_ok(lx_mixture_set_exhausted_policy(setup->mixture, exhausted, &error));
    unit_ok(lx_mixture_set_length(setup->mixture, length, &error));
    unit_ok(lx_order_new_blend(setup->mixture, &order, &error));
    ck_assert_uint_eq(lx_order_get_part_count(order), setup->count);
    return order;
}

#endif
