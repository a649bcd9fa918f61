/* SPDX-License-Identifier: MIT */
/* Batches by a budget: the time to cut an epoch, compared with reading it, and to find a batch. */
#include "bench.h"
#include "../new-orders.h"

#include <stdio.h>
#include <stdlib.h>

#include <loaderx/batching.h>
#include <loaderx/sampler.h>

#define LENGTH 4000000
#define BLOCK 1024
#define FINDS 100000

static uint64_t *make_costs(void)
{
    uint64_t *costs = malloc(LENGTH * sizeof *costs), state = 42;
    for (uint64_t i = 0; i < LENGTH; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        costs[i] = 1 + state % 2000;
    }
    return costs;
}

/** An order over @p part with batches of about 64 samples. */
static lx_order *cut(lx_order *part, const uint64_t *costs, bool padded)
{
    lx_order *order = NULL;
    if (new_budgeted(part, costs, LENGTH, 65536, 0, padded, &order, NULL) != LX_OK)
        abort();
    return order;
}

static lx_sampler *begin(lx_order *order)
{
    lx_sampler *sampler = NULL;
    if (lx_sampler_new(order, 0, 1, &sampler, NULL) != LX_OK)
        abort();
    return sampler;
}

/** Reads the next epoch in the same way as cutting does. */
static void read_epoch(void *context)
{
    static uint64_t indices[BLOCK];
    uint64_t taken;
    for (int i = 0; i < LENGTH / BLOCK; i++)
        if (lx_sampler_take(context, BLOCK, indices, &taken, NULL) != LX_OK)
            abort();
}

/** The order, whose epochs are cut one after another. */
struct cutting {
    lx_order *order;
    uint64_t epoch;
};

static void cut_epoch(void *context)
{
    struct cutting *cutting = context;
    uint64_t count;
    if (lx_order_get_batch_count(cutting->order, cutting->epoch++, &count, NULL) != LX_OK)
        abort();
}

static void find_batches(void *context)
{
    uint64_t number;
    for (uint64_t i = 0; i < FINDS; i++)
        if (lx_order_find_batch(context, i * 7919 * 31 % LENGTH, &number, NULL, NULL, NULL) !=
            LX_OK)
            abort();
}

static void take_batches(void *context)
{
    static uint64_t indices[65536];
    uint64_t taken;
    for (int i = 0; i < 1000; i++)
        if (lx_sampler_take_batch(context, indices, 65536, &taken, NULL) != LX_OK)
            abort();
}

static void bench_part(bench_run *bench, const char *title, lx_order *part, const uint64_t *costs)
{
    lx_order *sums = cut(part, costs, false), *padded = cut(part, costs, true);
    struct cutting cuttings[] = {{sums, 0}, {padded, 0}};
    lx_sampler *reader = begin(part);
    const bench_case cases[] = {{"reading an epoch", read_epoch, reader, LENGTH},
                                {"cutting it, sums", cut_epoch, &cuttings[0], LENGTH},
                                {"cutting it, padded", cut_epoch, &cuttings[1], LENGTH}};
    bench_compare(bench, title, "index", cases, 3);
    lx_sampler_free(reader);
    lx_order_unref(sums);
    lx_order_unref(padded);
}

static void bench_finding(bench_run *bench, lx_order *part, const uint64_t *costs)
{
    lx_order *order = cut(part, costs, false);
    lx_sampler *sampler = begin(order);
    const bench_case cases[] = {{"finding that of a position", find_batches, order, FINDS},
                                {"taking the next one", take_batches, sampler, 1000}};
    bench_compare(bench, "batches by a budget", "batch", cases, 2);
    lx_sampler_free(sampler);
    lx_order_unref(order);
}

void bench_budgeted(bench_run *bench)
{
    uint64_t *costs = make_costs();
    lx_order *plain = NULL, *shuffled = NULL, *bucketed = NULL;
    lx_order_new_sequential(LENGTH, 0, 0, &plain, NULL);
    lx_order_new_shuffle(LENGTH, 42, &shuffled, NULL);
    new_bucketed(costs, LENGTH, 32, 3200, 42, NULL, &bucketed, NULL);
    bench_part(bench, "batches by a budget, of a sequence of 4 million", plain, costs);
    bench_part(bench, "batches by a budget, of a shuffle of 4 million", shuffled, costs);
    bench_part(bench, "batches by a budget, of buckets of 4 million", bucketed, costs);
    bench_finding(bench, shuffled, costs);
    lx_order_unref(plain);
    lx_order_unref(shuffled);
    lx_order_unref(bucketed);
    free(costs);
}
