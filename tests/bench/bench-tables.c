/* SPDX-License-Identifier: MIT */
/* Resuming in the middle of 100 million samples: making the order, seeking, and taking the first
 * batch, with the table in a file and without. */
#include "plain.h"

#include <loaderx/mixture.h>
#include <loaderx/parity.h>
#include <loaderx/sampler.h>

#include "base/file.h"
#include "../new-orders.h"

#define LENGTH 100000000
#define SETS 8
#define BATCH 256

static char kept[] = "bench-tables";
static const double weights[SETS] = {.02, .05, .08, .1, .15, .15, .2, .25};

/** Seeks to the middle, takes a batch, and frees the order. */
static void resume(lx_order *order)
{
    lx_error error = LX_ERROR_INIT;
    lx_sampler *sampler;
    uint64_t indices[BATCH], taken;
    must_be_ok(lx_sampler_new(order, 0, 1, &sampler, &error), &error);
    lx_order_unref(order);
    must_be_ok(lx_sampler_seek(sampler, LENGTH / 2, &error), &error);
    must_be_ok(lx_sampler_take(sampler, BATCH, indices, &taken, &error), &error);
    lx_sampler_free(sampler);
}

static void resume_greedy(void *folder)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order, *part;
    lx_mixture *mixture = lx_mixture_new();
    must_be_ok(lx_order_new_shuffle(LENGTH / SETS, 42, &part, &error), &error);
    for (int i = 0; i < SETS; i++)
        must_be_ok(lx_mixture_add_part(mixture, part, 0, weights[i], &error), &error);
    must_be_ok(new_greedy(mixture, folder, &order, &error), &error);
    lx_order_unref(part);
    lx_mixture_free(mixture);
    resume(order);
}

static void resume_nanoset(void *folder)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    uint64_t lengths[SETS];
    for (int i = 0; i < SETS; i++)
        lengths[i] = LENGTH / SETS;
    must_be_ok(new_nanoset(lengths, weights, SETS, true, 42, folder, &order, &error), &error);
    resume(order);
}

static void resume_torch(void *folder)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    must_be_ok(new_torch_random(LENGTH, LENGTH, false, 42, folder, &order, &error), &error);
    resume(order);
}

static lx_status remove_one(void *folder, const char *name, lx_error *error)
{
    return lx__file_remove(folder, name, error);
}

void bench_tables(bench_run *bench)
{
    const bench_case cases[] = {
        {"greedy, 8 sets, from memory", resume_greedy, NULL, 1},
        {"greedy, 8 sets, from a file", resume_greedy, kept, 1},
        {"nanoset, 8 sets, from a file", resume_nanoset, kept, 1},
        {"torch's random, from memory", resume_torch, NULL, 1},
        {"torch's random, from a file", resume_torch, kept, 1},
    };
    lx_error error = LX_ERROR_INIT;
    lx__file folder;
    bench_compare(bench, "resuming at half of 100 million", "resume", cases,
                  sizeof cases / sizeof *cases);
    must_be_ok(lx__directory_open(&folder, LX__CWD, kept, &error), &error);
    must_be_ok(lx__directory_each(&folder, remove_one, &folder, &error), &error);
    lx__file_close(&folder);
    must_be_ok(lx__directory_remove(LX__CWD, kept, &error), &error);
}
