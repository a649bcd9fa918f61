/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The positions and indices that a run over an order must have seen, however often it
 * stopped and with any number of ranks: each position once, with the index of an uninterrupted run.
 */
#ifndef LX_TESTS_ELASTIC_H
#define LX_TESTS_ELASTIC_H

#include "../executor/workload.h"
#include "any-order.h"
#include "orders.h"

/** The parameters that change between runs: the number of ranks, and how they read. */
#define ELASTIC_CHANGES 5

/** A run of some epochs. */
struct elastic {
    uint64_t seed;
    lx_order *order;
    char *text;
    bool once;
    uint64_t length, end; /* positions of an epoch, and of the run */
    uint64_t *whole;      /* the global order */
    uint8_t *seen;        /* for each position, whether it was seen */
};

#define elastic_assert(run, expression)                                                            \
    ck_assert_msg(expression, "%s, with seed %llu, order %s", #expression,                         \
                  (unsigned long long)(run)->seed, (run)->text)

static inline struct elastic elastic_begin(uint64_t seed, uint64_t *state)
{
    lx_error error = LX_ERROR_INIT;
    lx_sampler *sampler;
    uint64_t taken;
    struct any_order any = any_order(state);
    struct elastic run = {.seed = seed, .order = any.order, .once = any.once};
    run.text = any_order_text(any.order);
    run.length = lx_order_get_length(any.order);
    elastic_assert(&run, run.length >= 1 && run.length <= ANY_ORDER_MAX);
    run.end = run.length * (1 + random_next(state) % 3);
    run.whole = calloc(run.end, sizeof *run.whole);
    run.seen = calloc(run.end, 1);
    unit_ok(lx_sampler_new(run.order, 0, 1, &sampler, &error));
    unit_ok(lx_sampler_take(sampler, run.end, run.whole, &taken, &error));
    elastic_assert(&run, taken == run.end);
    lx_sampler_free(sampler);
    return run;
}

/** Records that a rank has read @p index, which must be that of @p position. */
static inline void elastic_see(struct elastic *run, uint64_t position, uint64_t index)
{
    elastic_assert(run, position < run->end && index == run->whole[position]);
    elastic_assert(run, !run->seen[position]);
    run->seen[position] = 1;
}

/** Checks that each index of an epoch was seen once, if the order has each once. */
static inline void elastic_check_epoch(const struct elastic *run, uint64_t start)
{
    uint8_t *came = calloc(ANY_ORDER_MAX, 1);
    for (uint64_t i = 0; i < run->length; i++) {
        uint64_t index = run->whole[start + i];
        elastic_assert(run, index < ANY_ORDER_MAX && !came[index]);
        came[index] = run->seen[start + i];
    }
    free(came);
}

/** Checks that everything was read that was not dropped: @p dropped positions. Frees the run. */
static inline void elastic_end(struct elastic *run, uint64_t dropped)
{
    uint64_t missing = 0;
    for (uint64_t i = 0; i < run->end; i++)
        missing += !run->seen[i];
    elastic_assert(run, missing == dropped);
    for (uint64_t start = 0; run->once && start < run->end; start += run->length)
        elastic_check_epoch(run, start);
    lx_order_unref(run->order);
    free(run->text);
    free(run->whole);
    free(run->seen);
}

#endif
