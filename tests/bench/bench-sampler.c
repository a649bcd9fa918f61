/* SPDX-License-Identifier: MIT */
/* Orders of three lengths compared with a plain loop that stores numbers; seeks; epochs of short
 * orders compared with a plain shuffle; mixtures compared with one shuffle. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

#include <loaderx/mixture.h>
#include <loaderx/sampler.h>

#include "base/cpu.h"
#include "sampler/random/feistel.h"

#define BATCHES 64 /* taken by a run */
#define LONGEST_BATCH 4096

static uint64_t indices[LONGEST_BATCH];

/* The next number of the plain loop: not a constant, so that the compiler cannot replace the loop
 * by a copy. */
static volatile uint64_t filled;

struct walk {
    lx_sampler *sampler;
    uint64_t batch;
};

static void take_batches(void *context)
{
    const struct walk *walk = context;
    uint64_t taken;
    for (int i = 0; i < BATCHES; i++)
        if (lx_sampler_take(walk->sampler, walk->batch, indices, &taken, NULL) != LX_OK)
            abort();
}

static void fill_batches(void *context)
{
    const struct walk *walk = context;
    for (int i = 0; i < BATCHES; i++) {
        uint64_t first = filled;
        for (uint64_t k = 0; k < walk->batch; k++)
            indices[k] = first + k;
        filled = first + walk->batch;
    }
}

/** Makes a sampler over an order, from the middle of the first epoch, and drops the caller's
 * reference to it. */
static lx_sampler *begin(lx_order *order, uint64_t rank, uint64_t world)
{
    lx_sampler *sampler = NULL;
    if (order == NULL || lx_sampler_new(order, rank, world, &sampler, NULL) != LX_OK)
        abort();
    lx_sampler_seek(sampler, lx_order_get_length(order) / 2, NULL);
    lx_order_unref(order);
    return sampler;
}

static lx_order *sequential(uint64_t length, uint64_t window, uint64_t stride)
{
    lx_order *order = NULL;
    lx_order_new_sequential(length, window, stride, &order, NULL);
    return order;
}

static lx_order *draws(uint64_t length)
{
    lx_order *order = NULL;
    lx_order_new_random(length, 42, &order, NULL);
    return order;
}

static lx_order *shuffled(uint64_t length)
{
    lx_order *order = NULL;
    lx_order_new_shuffle(length, 42, &order, NULL);
    return order;
}

static lx_order *blocks(uint64_t length, uint64_t block)
{
    lx_order *order = NULL;
    lx_order_new_blocks(length, block, 42, &order, NULL);
    return order;
}

static lx_order *laned(uint64_t length, uint64_t lanes, uint64_t block)
{
    lx_order *order = NULL;
    lx_order_new_lanes(length, lanes, block, 42, &order, NULL);
    return order;
}

/** The second half of an order; drops the caller's reference. */
static lx_order *half(lx_order *part)
{
    lx_order *order = NULL;
    uint64_t length = lx_order_get_length(part);
    lx_order_new_slice(part, length / 2, length / 2, &order, NULL);
    lx_order_unref(part);
    return order;
}

/** Three passes over an order, made by repeat and concat; drops the caller's reference. */
static lx_order *thrice(lx_order *part)
{
    lx_order *const parts[] = {part, part, part};
    lx_order *order = NULL;
    lx_order_new_concat(parts, NULL, 3, &order, NULL);
    lx_order_unref(part);
    return order;
}

static void bench_length(bench_run *bench, uint64_t length, uint64_t batch)
{
    struct walk walks[] = {{NULL, batch},
                           {begin(sequential(length, 0, 0), 0, 1), batch},
                           {begin(sequential(length, 256, 64), 0, 1), batch},
                           {begin(sequential(length, 256, 64), 3, 8), batch},
                           {begin(draws(length), 0, 1), batch},
                           {begin(draws(length), 3, 8), batch},
                           {begin(shuffled(length), 0, 1), batch},
                           {begin(shuffled(length), 3, 8), batch},
                           {begin(blocks(length, 1024), 0, 1), batch},
                           {begin(blocks(length, 1024), 3, 8), batch},
                           {begin(blocks(length, 64), 0, 1), batch},
                           {begin(laned(length, 7680, 9), 0, 1), batch},
                           {begin(laned(length, 7680, 9), 3, 8), batch},
                           {begin(laned(length, 1024, 256), 0, 1), batch},
                           {begin(laned(length, 512, 1024), 3, 8), batch},
                           {begin(half(shuffled(length)), 3, 8), batch},
                           {begin(thrice(shuffled(length)), 3, 8), batch}};
    static const char *const names[] = {"plain loop",
                                        "sequential",
                                        "sequential, windows",
                                        "sequential, windows, rank 3 of 8",
                                        "random",
                                        "random, rank 3 of 8",
                                        "shuffle",
                                        "shuffle, rank 3 of 8",
                                        "blocks of 1024",
                                        "blocks of 1024, rank 3 of 8",
                                        "blocks of 64",
                                        "7680 lanes, blocks of 9",
                                        "7680 lanes, blocks of 9, rank 3 of 8",
                                        "1024 lanes, blocks of 256",
                                        "512 lanes, blocks of 1024, rank 3 of 8",
                                        "half of a shuffle, rank 3 of 8",
                                        "three shuffles, rank 3 of 8"};
    enum { CASES = sizeof walks / sizeof *walks };
    bench_case cases[CASES];
    for (int i = 0; i < CASES; i++)
        cases[i] = (bench_case){names[i], i == 0 ? fill_batches : take_batches, &walks[i],
                                (double)(BATCHES * batch)};
    char title[100];
    snprintf(title, sizeof title, "orders of %.0e, batches of %d", (double)length, (int)batch);
    bench_compare(bench, title, "index", cases, CASES);
    for (int i = 1; i < CASES; i++)
        lx_sampler_free(walks[i].sampler);
}

/** A mixture of shuffles with that length in total; the i-th has weight 1 + i % 10. */
static lx_mixture *mixed(uint64_t length, size_t sets)
{
    lx_mixture *mixture = lx_mixture_new();
    for (size_t i = 0; i < sets; i++) {
        lx_order *part = NULL;
        lx_order_new_shuffle(length / sets, i, &part, NULL);
        if (lx_mixture_add_part(mixture, part, i * (length / sets), (double)(1 + i % 10), NULL) !=
            LX_OK)
            abort();
        lx_order_unref(part);
    }
    return mixture;
}

/** The order of a mixture; drops the caller's reference. */
static lx_order *blended(lx_mixture *mixture)
{
    lx_order *order = NULL;
    lx_order_new_blend(mixture, &order, NULL);
    lx_mixture_free(mixture);
    return order;
}

static void make_blend(void *context)
{
    lx_order *order = NULL;
    lx_order_new_blend(context, &order, NULL);
    lx_order_unref(order);
}

static const size_t set_counts[] = {2, 8, 64, 1000};
static const char *const set_names[] = {"2 sets", "8 sets", "64 sets", "1000 sets"};

/** Mixtures of few and of many sets compared with one shuffle. */
static void bench_blends(bench_run *bench, uint64_t length, uint64_t batch)
{
    const double work = (double)(BATCHES * batch);
    struct walk walks[6] = {{begin(shuffled(length), 0, 1), batch},
                            {begin(blended(mixed(length, 8)), 3, 8), batch}};
    bench_case cases[6] = {{"shuffle", take_batches, &walks[0], work},
                           {"8 sets, rank 3 of 8", take_batches, &walks[1], work}};
    char title[100];
    for (int i = 0; i < 4; i++) {
        walks[i + 2] = (struct walk){begin(blended(mixed(length, set_counts[i])), 0, 1), batch};
        cases[i + 2] = (bench_case){set_names[i], take_batches, &walks[i + 2], work};
    }
    snprintf(title, sizeof title, "mixtures of %.0e, batches of %d", (double)length, (int)batch);
    bench_compare(bench, title, "index", cases, 6);
    for (int i = 0; i < 6; i++)
        lx_sampler_free(walks[i].sampler);
}

/** The time to make them. */
static void bench_making_blends(bench_run *bench, uint64_t length)
{
    lx_mixture *mixtures[5];
    bench_case makes[5];
    char title[100];
    for (int i = 0; i < 4; i++) {
        mixtures[i] = mixed(length, set_counts[i]);
        makes[i] = (bench_case){set_names[i], make_blend, mixtures[i], 1};
    }
    mixtures[4] = mixed(length, 1000);
    lx_mixture_set_exhausted_policy(mixtures[4], LX_EXHAUSTED_REDISTRIBUTE, NULL);
    makes[4] = (bench_case){"1000 sets, redistributed", make_blend, mixtures[4], 1};
    snprintf(title, sizeof title, "making mixtures of %.0e", (double)length);
    bench_compare(bench, title, "order", makes, 5);
    for (int i = 0; i < 5; i++)
        lx_mixture_free(mixtures[i]);
}

struct jump {
    lx_sampler *sampler;
    uint64_t position, by; /* a distance that visits all of the order */
};

static void seek_and_take_one(void *context)
{
    struct jump *jump = context;
    uint64_t taken;
    jump->position += jump->by;
    lx_sampler_seek(jump->sampler, jump->position, NULL);
    lx_sampler_take(jump->sampler, 1, indices, &taken, NULL);
}

static void bench_seeks(bench_run *bench)
{
    static const uint64_t lengths[] = {1000000, 100000000, 1000000000000};
    static const char *const names[] = {"10^6", "10^8", "10^12"};
    struct jump jumps[3];
    bench_case cases[3];
    for (int i = 0; i < 3; i++) {
        /* More than an epoch, so that every seek needs other keys. */
        jumps[i] = (struct jump){begin(shuffled(lengths[i]), 0, 1), 0, lengths[i] + 12345};
        cases[i] = (bench_case){names[i], seek_and_take_one, &jumps[i], 1};
    }
    bench_compare(bench, "shuffle: to another epoch for its first index", "seek", cases, 3);
    for (int i = 0; i < 3; i++)
        lx_sampler_free(jumps[i].sampler);
}

struct plain {
    uint32_t *table;
    uint32_t length;
    uint64_t state;
};

/** A plain Fisher-Yates shuffle with a fast generator. */
static void shuffle_plainly(void *context)
{
    struct plain *plain = context;
    uint64_t state = plain->state;
    for (uint32_t i = 0; i < plain->length; i++)
        plain->table[i] = i;
    for (uint32_t i = plain->length - 1; i > 0; i--) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        uint32_t j = (uint32_t)((state >> 32) * (i + 1) >> 32), number = plain->table[i];
        plain->table[i] = plain->table[j];
        plain->table[j] = number;
    }
    plain->state = state;
}

static void take_an_epoch(void *context)
{
    struct jump *jump = context;
    uint64_t taken;
    for (uint64_t left = jump->by; left != 0; left -= taken)
        lx_sampler_take(jump->sampler, left < 256 ? left : 256, indices, &taken, NULL);
}

/** An epoch of the library, and one of the plain loop. */
static void bench_epoch(bench_run *bench, uint32_t length)
{
    struct plain plain = {malloc(length * sizeof *plain.table), length, 42};
    struct jump whole = {begin(shuffled(length), 0, 1), 0, length};
    bench_case cases[] = {{"plain shuffle of a table", shuffle_plainly, &plain, length},
                          {"the epoch in batches of 256", take_an_epoch, &whole, length}};
    char title[100];
    snprintf(title, sizeof title, "shuffle of %u", length);
    bench_compare(bench, title, "index", cases, 2);
    lx_sampler_free(whole.sampler);
    free(plain.table);
}

void bench_epochs(bench_run *bench)
{
    static const uint32_t lengths[] = {65536, 1000000, 100000000};
    for (int i = 0; i < 3; i++)
        bench_epoch(bench, lengths[i]);
}

struct pass {
    lx__feistel feistel;
    lx__feistel_kernel *kernel;
};

static void pass_batch(void *context)
{
    const struct pass *pass = context;
    pass->kernel(&pass->feistel, indices, LONGEST_BATCH);
}

/** The kernels alone, on the widest network: every value stays within it. */
static void bench_kernels(bench_run *bench)
{
    struct pass passes[2] = {{.kernel = lx__feistel_pass_scalar}};
    bench_case cases[2] = {{"scalar", pass_batch, &passes[0], LONGEST_BATCH}};
    size_t count = 1;
#if defined(__x86_64__)
    passes[1].kernel = lx__feistel_pass_avx2;
    if (lx__cpu_has(LX__CPU_AVX2))
        cases[count++] = (bench_case){"AVX2", pass_batch, &passes[1], LONGEST_BATCH};
#elif defined(__aarch64__)
    passes[1].kernel = lx__feistel_pass_neon;
    cases[count++] = (bench_case){"NEON", pass_batch, &passes[1], LONGEST_BATCH};
#endif
    for (size_t i = 0; i < count; i++)
        lx__feistel_init(&passes[i].feistel, UINT64_MAX, 42, 0);
    bench_compare(bench, "one pass through the Feistel network", "value", cases, count);
}

void bench_sampler(bench_run *bench)
{
    static const uint64_t lengths[] = {1000000, 100000000, 1000000000000};
    for (int i = 0; i < 3; i++)
        bench_length(bench, lengths[i], 256);
    for (int i = 0; i < 3; i++)
        bench_length(bench, lengths[i], LONGEST_BATCH);
    for (int i = 0; i < 3; i++) {
        bench_blends(bench, lengths[i], 256);
        bench_blends(bench, lengths[i], LONGEST_BATCH);
        bench_making_blends(bench, lengths[i]);
    }
    bench_seeks(bench);
    bench_kernels(bench);
}
