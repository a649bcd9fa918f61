/* SPDX-License-Identifier: MIT */
/* Orders with tables: by weights, by groups, and of other libraries, compared with a shuffle of the
 * same length; and the time to make them. */
#include "bench.h"
#include "../new-orders.h"

#include <stdio.h>
#include <stdlib.h>

#include <loaderx/mixture.h>
#include <loaderx/parity.h>
#include <loaderx/sampler.h>
#include <loaderx/weighted.h>

#define BATCH 256
#define BATCHES 64 /* taken by a run */
#define MILLION 1000000

static uint64_t indices[BATCH];

static void take_batches(void *context)
{
    uint64_t taken;
    for (int i = 0; i < BATCHES; i++)
        if (lx_sampler_take(context, BATCH, indices, &taken, NULL) != LX_OK)
            abort();
}

/** Makes a sampler over an order, and drops the caller's reference to it. */
static lx_sampler *begin(lx_order *order)
{
    lx_sampler *sampler = NULL;
    if (order == NULL || lx_sampler_new(order, 0, 1, &sampler, NULL) != LX_OK)
        abort();
    lx_order_unref(order);
    return sampler;
}

/** Numbers below @p most, for free(). */
static uint64_t *numbers(uint64_t count, uint64_t most)
{
    uint64_t *values = malloc(count * sizeof *values), state = 42;
    for (uint64_t i = 0; i < count; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        values[i] = state % most;
    }
    return values;
}

/** Weights of at least 1, for free(). */
static double *weights_of(uint64_t count)
{
    double *weights = malloc(count * sizeof *weights);
    uint64_t *values = numbers(count, 1000);
    for (uint64_t i = 0; i < count; i++)
        weights[i] = 1 + (double)values[i];
    free(values);
    return weights;
}

static lx_order *shuffled(uint64_t length)
{
    lx_order *order = NULL;
    lx_order_new_shuffle(length, 42, &order, NULL);
    return order;
}

static lx_order *weighted(uint64_t length)
{
    lx_order *order = NULL;
    double *weights = weights_of(length);
    new_weighted(weights, length, length, 42, NULL, &order, NULL);
    free(weights);
    return order;
}

static lx_order *weighted_shuffle(uint64_t length)
{
    lx_order *order = NULL;
    double *weights = weights_of(length);
    new_weighted_shuffle(weights, length, length, 42, NULL, &order, NULL);
    free(weights);
    return order;
}

static lx_order *balanced(uint64_t length, uint64_t classes)
{
    lx_order *order = NULL;
    uint64_t *values = numbers(length, classes);
    new_balanced(values, length, length, 42, NULL, &order, NULL);
    free(values);
    return order;
}

static lx_order *bucketed(uint64_t length, uint64_t bucket)
{
    lx_order *order = NULL;
    uint64_t *values = numbers(length, 2000);
    new_bucketed(values, length, 32, bucket, 42, NULL, &order, NULL);
    free(values);
    return order;
}

static lx_order *torch_random(uint64_t length, bool replacement)
{
    lx_order *order = NULL;
    new_torch_random(length, length, replacement, 42, NULL, &order, NULL);
    return order;
}

/** A mixture of equal sets; the i-th has weight 1 + i % 10. */
static lx_order *greedy(uint64_t length, size_t sets)
{
    lx_order *order = NULL, *part = NULL;
    lx_mixture *mixture = lx_mixture_new();
    double sum = 0;
    for (size_t i = 0; i < sets; i++)
        sum += (double)(1 + i % 10);
    lx_order_new_shuffle(length / sets, 42, &part, NULL);
    for (size_t i = 0; i < sets; i++)
        if (lx_mixture_add_part(mixture, part, 0, (double)(1 + i % 10) / sum, NULL) != LX_OK)
            abort();
    lx_order_new_greedy(mixture, NULL, &order, NULL);
    lx_order_unref(part);
    lx_mixture_free(mixture);
    return order;
}

static lx_order *nanoset(uint64_t length, size_t sets)
{
    lx_order *order = NULL;
    uint64_t *lengths = malloc(sets * sizeof *lengths);
    double *weights = malloc(sets * sizeof *weights);
    for (size_t i = 0; i < sets; i++) {
        lengths[i] = length / sets;
        weights[i] = (double)(1 + i % 10);
    }
    new_nanoset(lengths, weights, sets, true, 42, NULL, &order, NULL);
    free(lengths);
    free(weights);
    return order;
}

/* ---- reading */

static void bench_reads(bench_run *bench, const char *title, const char *const *names,
                        lx_order *const *orders, size_t count)
{
    lx_sampler *samplers[8];
    bench_case cases[8];
    for (size_t i = 0; i < count; i++) {
        samplers[i] = begin(orders[i]);
        take_batches(samplers[i]); /* makes the table of the first epoch */
        cases[i] = (bench_case){names[i], take_batches, samplers[i], BATCHES * BATCH};
    }
    bench_compare(bench, title, "index", cases, count);
    for (size_t i = 0; i < count; i++)
        lx_sampler_free(samplers[i]);
}

static void bench_weights_and_groups(bench_run *bench)
{
    static const char *const names[] = {"shuffle",
                                        "weighted, 10^6",
                                        "weighted, 10^7",
                                        "balanced, 10 classes",
                                        "balanced, 1000 classes",
                                        "balanced, 100,000 classes",
                                        "bucketed, 320 of a bucket",
                                        "bucketed, 32,000 of a bucket"};
    lx_order *orders[] = {shuffled(MILLION),       weighted(MILLION),
                          weighted(10 * MILLION),  balanced(MILLION, 10),
                          balanced(MILLION, 1000), balanced(MILLION, 100000),
                          bucketed(MILLION, 320),  bucketed(MILLION, 32000)};
    bench_reads(bench, "orders by weights and groups", names, orders, 8);
}

static void bench_peers(bench_run *bench)
{
    static const char *const names[] = {"shuffle",        "weighted shuffle", "torch's random",
                                        "greedy, 2 sets", "greedy, 8 sets",   "greedy, 64 sets",
                                        "nanoset, 8 sets"};
    lx_order *orders[] = {
        shuffled(4 * MILLION),  weighted_shuffle(4 * MILLION), torch_random(4 * MILLION, false),
        greedy(4 * MILLION, 2), greedy(4 * MILLION, 8),        greedy(4 * MILLION, 64),
        nanoset(4 * MILLION, 8)};
    bench_reads(bench, "orders with tables of 4 million", names, orders, 7);
}

/* ---- making */

static void make_weighted(void *context)
{
    lx_order *order = NULL;
    new_weighted(context, MILLION, MILLION, 42, NULL, &order, NULL);
    lx_order_unref(order);
}

static void make_balanced(void *context)
{
    lx_order *order = NULL;
    new_balanced(context, MILLION, MILLION, 42, NULL, &order, NULL);
    lx_order_unref(order);
}

static void make_bucketed(void *context)
{
    lx_order *order = NULL;
    new_bucketed(context, MILLION, 32, 320, 42, NULL, &order, NULL);
    lx_order_unref(order);
}

static void make_greedy(void *context)
{
    lx_order_unref(greedy(MILLION, *(size_t *)context));
}

static void make_nanoset(void *context)
{
    lx_order_unref(nanoset(MILLION, *(size_t *)context));
}

struct entry {
    lx_sampler *sampler;
    uint64_t position;
};

/** Enters the next epoch. */
static void enter(void *context)
{
    struct entry *entry = context;
    uint64_t taken;
    entry->position += MILLION;
    lx_sampler_seek(entry->sampler, entry->position, NULL);
    if (lx_sampler_take(entry->sampler, 1, indices, &taken, NULL) != LX_OK)
        abort();
}

static void bench_making(bench_run *bench)
{
    size_t sets[] = {2, 8, 64};
    double *weights = weights_of(MILLION);
    uint64_t *values = numbers(MILLION, 1000);
    struct entry entries[] = {{begin(weighted_shuffle(MILLION)), 0},
                              {begin(torch_random(MILLION, false)), 0},
                              {begin(torch_random(MILLION, true)), 0}};
    const bench_case cases[] = {
        {"weighted", make_weighted, weights, MILLION},
        {"weighted shuffle, an epoch", enter, &entries[0], MILLION},
        {"balanced, 1000 classes", make_balanced, values, MILLION},
        {"bucketed, 320 of a bucket", make_bucketed, values, MILLION},
        {"torch's random, an epoch", enter, &entries[1], MILLION},
        {"torch's random with replacement, an epoch", enter, &entries[2], MILLION},
        {"greedy, 2 sets", make_greedy, &sets[0], MILLION},
        {"greedy, 8 sets", make_greedy, &sets[1], MILLION},
        {"greedy, 64 sets", make_greedy, &sets[2], MILLION},
        {"nanoset, 8 sets", make_nanoset, &sets[1], MILLION},
    };
    bench_compare(bench, "making orders of 10^6", "index", cases, sizeof cases / sizeof *cases);
    for (int i = 0; i < 3; i++)
        lx_sampler_free(entries[i].sampler);
    free(weights);
    free(values);
}

void bench_orders(bench_run *bench)
{
    bench_weights_and_groups(bench);
    bench_peers(bench);
    bench_making(bench);
}
