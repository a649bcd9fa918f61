/* SPDX-License-Identifier: MIT */
/* Scenarios of orders and samplers. */
#include "scenario.h"

#include <unistd.h>

#include <loaderx/batching.h>
#include <loaderx/mixture.h>
#include <loaderx/parity.h>
#include <loaderx/random.h>
#include <loaderx/sampler.h>
#include <loaderx/split.h>
#include <loaderx/weighted.h>

#include "../tree.h"
#include "../../new-orders.h"

#define LENGTH 1000

static void walk(struct run *run, lx_order *order)
{
    uint64_t indices[64], again[64], taken = 0;
    char text[LX_MAX_SAMPLER_STATE];
    lx_sampler *sampler;
    if (!TRY(run, lx_sampler_new(order, 1, 3, &sampler, &run->error)))
        return;
    bool saved = TRY(run, lx_sampler_save(sampler, text, sizeof text, NULL, &run->error));
    bool walked = TRY(run, lx_sampler_take(sampler, 64, indices, &taken, &run->error));
    if (saved && walked && TRY(run, lx_sampler_restore(sampler, text, &run->error)) &&
        TRY(run, lx_sampler_take(sampler, 64, again, &taken, &run->error)) &&
        memcmp(indices, again, sizeof indices) != 0)
        run_fail(run, "a sampler gives other indices after it was restored");
    TRY(run, lx_sampler_seek(sampler, 2 * LENGTH, &run->error));
    if (lx_sampler_tell(sampler) != 2 * LENGTH)
        run_fail(run, "a sampler has the wrong position");
    lx_sampler_free(sampler);
}

/** Reads an order to its end. */
static void walk_and_unref(struct run *run, lx_order *order)
{
    walk(run, order);
    lx_order_unref(order);
}

static void blend(struct run *run, const lx_mixture *mixture)
{
    lx_order *order;
    uint64_t counts[2];
    if (!TRY(run, lx_order_new_blend(mixture, &order, &run->error)))
        return;
    if (TRY(run, lx_order_get_part_lengths(order, 0, 100, counts, &run->error)) &&
        (counts[0] != 10 + 30 || counts[1] != 60))
        run_fail(run, "a mixture has other shares");
    walk_and_unref(run, order);
}

/** A mixture of the same set twice. */
static void mix_greedily(struct run *run, lx_order *part, lx_exhausted_policy exhausted)
{
    lx_order *order;
    lx_mixture *mixture;
    uint64_t counts[2];
    if (!TRY_NEW(run, mixture, lx_mixture_new()))
        return;
    if (TRY(run, lx_mixture_add_part(mixture, part, 0, .25, &run->error)) &&
        TRY(run, lx_mixture_add_part(mixture, part, LENGTH, .75, &run->error)) &&
        TRY(run, lx_mixture_set_exhausted_policy(mixture, exhausted, &run->error)) &&
        TRY(run, lx_order_new_greedy(mixture, NULL, &order, &run->error))) {
        if (TRY(run, lx_order_get_part_lengths(order, 0, 100, counts, &run->error)) &&
            (counts[0] != 25 || counts[1] != 75))
            run_fail(run, "a greedy mixture has other shares");
        walk_and_unref(run, order);
    }
    lx_mixture_free(mixture);
}

/** Mixtures of two sets, with weights that change, with each method. */
static void mix(struct run *run, lx_order *part)
{
    static const double later[] = {1, 2};
    static const lx_exhausted_policy kinds[] = {LX_EXHAUSTED_REPEAT, LX_EXHAUSTED_STOP,
                                                LX_EXHAUSTED_REDISTRIBUTE};
    lx_mixture *mixture;
    for (int i = 0; i < 3; i++)
        mix_greedily(run, part, kinds[i]);
    if (!TRY_NEW(run, mixture, lx_mixture_new()))
        return;
    if (TRY(run, lx_mixture_add_part(mixture, part, 0, 1, &run->error)) &&
        TRY(run, lx_mixture_add_part(mixture, part, LENGTH, 0, &run->error)) &&
        TRY(run, lx_mixture_add_phase(mixture, 10, later, 2, &run->error)) &&
        TRY(run, lx_mixture_set_length(mixture, 2 * LENGTH, &run->error)))
        for (int i = 0; i < 3; i++)
            if (TRY(run, lx_mixture_set_exhausted_policy(mixture, kinds[i], &run->error)))
                blend(run, mixture);
    lx_mixture_free(mixture);
}

/** Orders made from another one, whose reference is dropped. */
static void compose(struct run *run, lx_order *part)
{
    static const uint64_t indices[LENGTH];
    lx_order *order, *const parts[] = {part, part};
    if (TRY(run, lx_order_new_slice(part, 10, LENGTH - 10, &order, &run->error)))
        walk_and_unref(run, order);
    if (TRY(run, lx_order_new_repeat(part, 3, &order, &run->error)))
        walk_and_unref(run, order);
    if (TRY(run, lx_order_new_padded(part, 7, &order, &run->error)))
        walk_and_unref(run, order);
    if (TRY(run, lx_order_new_concat(parts, NULL, 2, &order, &run->error)))
        walk_and_unref(run, order);
    if (TRY(run, lx_order_new_subset(part, indices, LENGTH, NULL, &order, &run->error)))
        walk_and_unref(run, order);
    lx_order_unref(part);
}

static void sample(struct run *run)
{
    lx_order *order;
    if (TRY(run, lx_order_new_sequential(LENGTH, 4, 2, &order, &run->error)))
        walk_and_unref(run, order);
    if (TRY(run, lx_order_new_blocks(LENGTH, 30, 5, &order, &run->error))) {
        mix(run, order);
        compose(run, order);
    }
    if (TRY(run, lx_order_new_lanes(LENGTH, 8, 30, 5, &order, &run->error)))
        walk_and_unref(run, order);
    if (TRY(run, lx_order_new_random(LENGTH, 5, &order, &run->error)))
        walk_and_unref(run, order);
    if (TRY(run, lx_order_new_shuffle(LENGTH, 5, &order, &run->error)))
        walk_and_unref(run, order);
    if (TRY(run, lx_order_new_shuffle(LENGTH * LENGTH, 5, &order, &run->error)))
        walk_and_unref(run, order);
}

static void weigh(struct run *run)
{
    double weights[LENGTH];
    lx_order *order;
    for (int i = 0; i < LENGTH; i++)
        weights[i] = i % 7 + 1;
    if (TRY(run, new_weighted(weights, LENGTH, LENGTH, 5, NULL, &order, &run->error)))
        walk_and_unref(run, order);
    if (TRY(run, new_weighted_shuffle(weights, LENGTH, LENGTH, 5, NULL, &order, &run->error)))
        walk_and_unref(run, order);
}

static bool split_range(struct run *run, const uint64_t *keys, lx_split_options *options,
                        double from, double until, uint64_t *found)
{
    static uint64_t indices[LENGTH];
    return TRY(run, lx_split_options_set_range(options, from, until, &run->error)) &&
           TRY(run, lx_split_indices(keys, LENGTH, options, indices, found, &run->error));
}

static void split(struct run *run, const uint64_t *keys)
{
    uint64_t found, others;
    lx_split_options *options = NULL;
    if (TRY_NEW(run, options, lx_split_options_new()) &&
        TRY(run, lx_split_options_set_seed(options, 5, &run->error)) &&
        split_range(run, keys, options, 0, .25, &found) &&
        split_range(run, keys, options, .25, 1, &others) && found + others != LENGTH)
        run_fail(run, "a split loses indices");
    lx_split_options_free(options);
}

/** Functions that need neither memory nor system calls. */
static void draw(struct run *run)
{
    uint64_t key[2], one[2], both[2];
    lx_random_get_key(5, 6, 7, key);
    lx_random_get_draws(key, 3, 2, both);
    lx_random_get_draws(key, 4, 1, one);
    if (one[0] != both[1])
        run_fail(run, "a draw is another one from elsewhere");
}

/** Reads an order that is cut into batches, also by batches. */
static void walk_batches(struct run *run, lx_order *order)
{
    uint64_t indices[LENGTH], taken, count, begin, end;
    lx_sampler *sampler;
    if (TRY(run, lx_order_get_batch_count(order, 3, &count, &run->error)) && count != 100)
        run_fail(run, "an epoch has other batches");
    if (TRY(run, lx_order_find_batch(order, 25, NULL, &begin, &end, &run->error)) &&
        (begin != 20 || end != 30))
        run_fail(run, "a batch is elsewhere");
    if (TRY(run, lx_sampler_new(order, 1, 3, &sampler, &run->error))) {
        if (TRY(run, lx_sampler_take_batch(sampler, indices, LENGTH, &taken, &run->error)) &&
            (taken != 10 || lx_sampler_tell(sampler) != 30))
            run_fail(run, "a batch has other samples");
        lx_sampler_free(sampler);
    }
    walk_and_unref(run, order);
}

/** Batches of ten, with both ways to count costs. */
static void cut(struct run *run, lx_order *part)
{
    uint64_t costs[LENGTH];
    lx_order *order;
    for (int i = 0; i < LENGTH; i++)
        costs[i] = 7;
    for (int padded = 0; padded < 2; padded++)
        if (TRY(run, new_budgeted(part, costs, LENGTH, 76, 0, padded == 1, &order, &run->error)))
            walk_batches(run, order);
}

static void group(struct run *run)
{
    uint64_t classes[LENGTH];
    lx_order *order;
    for (int i = 0; i < LENGTH; i++)
        classes[i] = (uint64_t)(i * i) % 11;
    if (TRY(run, new_balanced(classes, LENGTH, LENGTH, 5, NULL, &order, &run->error)))
        walk_and_unref(run, order);
    if (TRY(run, new_bucketed(classes, LENGTH, 8, 64, 5, NULL, &order, &run->error))) {
        cut(run, order);
        walk_and_unref(run, order);
    }
    split(run, NULL);
    split(run, classes);
    draw(run);
}

/** Orders of other libraries. */
static void follow(struct run *run)
{
    static const uint64_t lengths[] = {LENGTH, LENGTH / 2};
    static const uint64_t indices[LENGTH];
    static const double weights[] = {1, 3};
    lx_order *order;
    for (int i = 0; i < 2; i++)
        if (TRY(run,
                new_torch_random(LENGTH, 2 * LENGTH + 9, i == 1, 5, NULL, &order, &run->error)))
            walk_and_unref(run, order);
    if (TRY(run, new_torch_subset(indices, LENGTH, 5, NULL, &order, &run->error)))
        walk_and_unref(run, order);
    for (int i = 0; i < 4; i++)
        if (TRY(run, new_torch_distributed(LENGTH, 7, i % 2 == 1, i / 2 == 1, 5, NULL, &order,
                                           &run->error)))
            walk_and_unref(run, order);
    if (TRY(run, new_nanoset(lengths, NULL, 2, false, 5, NULL, &order, &run->error)))
        walk_and_unref(run, order);
    if (TRY(run, new_nanoset(lengths, weights, 2, true, 5, NULL, &order, &run->error)))
        walk_and_unref(run, order);
}

/** Orders whose tables are created, and then found, in a folder. */
static void keep_in(struct run *run, const char *folder)
{
    double weights[LENGTH];
    lx_order *order, *part;
    lx_mixture *mixture;
    lx_order_options *options;
    for (int i = 0; i < LENGTH; i++)
        weights[i] = i % 7 + 1;
    if (TRY(run, new_torch_random(LENGTH, LENGTH, false, 5, folder, &order, &run->error)))
        walk_and_unref(run, order);
    if (TRY_NEW(run, options, lx_order_options_new()) &&
        TRY(run, lx_order_options_set_seed(options, 5, &run->error)) &&
        TRY(run, lx_order_options_set_tables(options, folder, &run->error)) &&
        TRY(run, lx_order_new_weighted(weights, LENGTH, options, &order, &run->error)))
        walk_and_unref(run, order);
    lx_order_options_free(options);
    if (!TRY(run, lx_order_new_sequential(LENGTH, 0, 0, &part, &run->error)))
        return;
    if (TRY_NEW(run, mixture, lx_mixture_new()) &&
        TRY(run, lx_mixture_add_part(mixture, part, 0, 1, &run->error)) &&
        TRY(run, new_greedy(mixture, folder, &order, &run->error)))
        walk_and_unref(run, order);
    lx_mixture_free(mixture);
    lx_order_unref(part);
}

static void keep(struct run *run)
{
    char folder[400];
    snprintf(folder, sizeof folder, "%s.tables", run->path);
    for (int i = 0; i < 2; i++)
        keep_in(run, folder);
    if (access(folder, F_OK) == 0)
        tree_remove(folder);
}

const struct scenario order_scenarios[] = {
    {"sample", NULL, false, sample}, {"weigh", NULL, false, weigh}, {"group", NULL, false, group},
    {"follow", NULL, false, follow}, {"keep", NULL, false, keep},   {NULL, NULL, false, NULL},
};
