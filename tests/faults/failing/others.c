/* SPDX-License-Identifier: MIT */
/* Scenarios of orders, samplers and executors. */
#include "scenario.h"

#include <stdatomic.h>

#include <loaderx/executor.h>
#include <loaderx/mixture.h>
#include <loaderx/sampler.h>

#define LENGTH 1000

static void walk(struct run *run, lx_order *order)
{
    uint64_t indices[64], again[64], taken = 0;
    char text[LX_SAMPLER_STATE_SIZE];
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
        run_fail(run, "a sampler stands elsewhere");
    lx_sampler_free(sampler);
}

static void blend(struct run *run, const lx_mixture *mixture)
{
    lx_order *order;
    uint64_t counts[2];
    if (!TRY(run, lx_order_new_blend(mixture, &order, &run->error)))
        return;
    if (TRY(run, lx_order_count_sets(order, 0, 100, counts, &run->error)) &&
        (counts[0] != 10 + 30 || counts[1] != 60))
        run_fail(run, "a mixture has other shares");
    walk(run, order);
    lx_order_unref(order);
}

/** Mixtures of two sets with weights that change, of each kind. */
static void mix(struct run *run, lx_order *part)
{
    static const double later[] = {1, 2};
    static const lx_exhausted kinds[] = {LX_EXHAUSTED_REPEAT, LX_EXHAUSTED_STOP,
                                         LX_EXHAUSTED_REDISTRIBUTE};
    lx_mixture *mixture;
    if (!TRY_NEW(run, mixture, lx_mixture_new()))
        return;
    if (TRY(run, lx_mixture_add(mixture, part, 0, 1, &run->error)) &&
        TRY(run, lx_mixture_add(mixture, part, LENGTH, 0, &run->error)) &&
        TRY(run, lx_mixture_set_weights(mixture, 10, later, 2, &run->error)) &&
        TRY(run, lx_mixture_set_length(mixture, 2 * LENGTH, &run->error)))
        for (int i = 0; i < 3; i++)
            if (TRY(run, lx_mixture_set_exhausted(mixture, kinds[i], &run->error)))
                blend(run, mixture);
    lx_mixture_free(mixture);
}

/** Orders that are made of one, which is given up. */
static void compose(struct run *run, lx_order *part)
{
    static const uint64_t indices[LENGTH];
    lx_order *order, *const parts[] = {part, part};
    if (TRY(run, lx_order_new_slice(part, 10, LENGTH - 10, &order, &run->error))) {
        walk(run, order);
        lx_order_unref(order);
    }
    if (TRY(run, lx_order_new_repeat(part, 3, &order, &run->error))) {
        walk(run, order);
        lx_order_unref(order);
    }
    if (TRY(run, lx_order_new_concat(parts, NULL, 2, &order, &run->error))) {
        walk(run, order);
        lx_order_unref(order);
    }
    if (TRY(run, lx_order_new_subset(part, indices, LENGTH, &order, &run->error))) {
        walk(run, order);
        lx_order_unref(order);
    }
    lx_order_unref(part);
}

static void sample(struct run *run)
{
    lx_order *order;
    if (TRY(run, lx_order_new_sequential(LENGTH, 4, 2, &order, &run->error))) {
        walk(run, order);
        lx_order_unref(order);
    }
    if (TRY(run, lx_order_new_blocks(LENGTH, 30, 5, &order, &run->error))) {
        mix(run, order);
        compose(run, order);
    }
    if (TRY(run, lx_order_new_random(LENGTH, 5, &order, &run->error))) {
        walk(run, order);
        lx_order_unref(order);
    }
    if (TRY(run, lx_order_new_shuffle(LENGTH, 5, &order, &run->error))) {
        walk(run, order);
        lx_order_unref(order);
    }
    if (TRY(run, lx_order_new_shuffle(LENGTH * LENGTH, 5, &order, &run->error))) {
        walk(run, order);
        lx_order_unref(order);
    }
}

static lx_status count_part(void *user, size_t part, lx_error *error)
{
    (void)part, (void)error;
    atomic_fetch_add((atomic_uint *)user, 1);
    return LX_OK;
}

static void work(struct run *run, lx_executor *executor, lx_queue queue)
{
    atomic_uint count = 0;
    lx_ticket *ticket;
    lx_queue_stats stats;
    if (TRY(run, lx_executor_submit(executor, queue, count_part, &count, 20, &ticket,
                                    &run->error))) {
        lx_status status = lx_ticket_wait_timed(ticket, 1, &run->error);
        if (status == LX_ERR_TIMEOUT)
            status = lx_ticket_wait(ticket, &run->error);
        if (run_took(run, "lx_ticket_wait(&error)", status) && count != 20)
            run_fail(run, "%u parts of 20 ran", count);
        lx_ticket_unref(ticket);
    }
    TRY(run, lx_executor_read_stats(executor, queue, &stats, &run->error));
}

static void execute(struct run *run)
{
    lx_executor *executor;
    lx_executor_options *options;
    if (!TRY_NEW(run, options, lx_executor_options_new()))
        return;
    if (TRY(run, lx_executor_options_set_readers(options, 3, &run->error)) &&
        TRY(run, lx_executor_options_set_writers(options, 2, &run->error)) &&
        TRY(run, lx_executor_options_set_cleaners(options, 2, &run->error)) &&
        TRY(run, lx_executor_open(options, &executor, &run->error))) {
        work(run, executor, LX_QUEUE_READ);
        work(run, executor, LX_QUEUE_WRITE);
        work(run, executor, LX_QUEUE_GC);
        lx_executor_close(executor);
    }
    lx_executor_options_free(options);
}

const struct scenario other_scenarios[] = {
    {"sample", NULL, false, sample},
    {"execute", NULL, false, execute},
    {NULL, NULL, false, NULL},
};
