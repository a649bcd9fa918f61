/* SPDX-License-Identifier: MIT */
/* Scenarios of executors. */
#include "scenario.h"

#include <stdatomic.h>

#include <loaderx/executor.h>
#include <loaderx/prefetch.h>

static lx_status count_part(size_t part, void *user, lx_error *error)
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
    if (TRY(run,
            lx_executor_submit(executor, queue, count_part, &count, 20, &ticket, &run->error))) {
        lx_status status = lx_ticket_wait_timed(ticket, 1, &run->error);
        if (status == LX_ERR_TIMEOUT)
            status = lx_ticket_wait(ticket, &run->error);
        if (run_took(run, "lx_ticket_wait(&error)", status) && count != 20)
            run_fail(run, "%u parts of 20 ran", count);
        lx_ticket_unref(ticket);
    }
    TRY(run, lx_executor_get_stats(executor, queue, &stats, &run->error));
}

static void execute(struct run *run)
{
    lx_executor *executor;
    lx_executor_options *options;
    if (!TRY_NEW(run, options, lx_executor_options_new()))
        return;
    if (TRY(run, lx_executor_options_set_reader_count(options, 3, &run->error)) &&
        TRY(run, lx_executor_options_set_writer_count(options, 2, &run->error)) &&
        TRY(run, lx_executor_open(options, &executor, &run->error))) {
        work(run, executor, LX_QUEUE_READ);
        work(run, executor, LX_QUEUE_WRITE);
        lx_executor_close(executor);
    }
    lx_executor_options_free(options);
}

static lx_status count_to_ten(void **item, void *user, lx_error *error)
{
    unsigned *count = user;
    (void)error;
    if (*count == 10)
        return LX_END;
    *item = user;
    ++*count;
    return LX_OK;
}

static void prefetch(struct run *run)
{
    lx_prefetcher *prefetcher;
    unsigned count = 0, taken = 0;
    void *item;
    lx_status status = LX_OK;
    if (!TRY(run,
             lx_prefetcher_open(NULL, 2, count_to_ten, NULL, &count, &prefetcher, &run->error)))
        return;
    while (status == LX_OK) {
        status = lx_prefetcher_next(prefetcher, &item, &run->error);
        taken += status == LX_OK;
    }
    lx_prefetcher_close(prefetcher);
    if (run_took(run, "lx_prefetcher_next()", status == LX_END ? LX_OK : status) && taken != 10)
        run_fail(run, "%u items of 10 arrived", taken);
}

const struct scenario executor_scenarios[] = {
    {"execute", NULL, false, execute},
    {"prefetch", NULL, false, prefetch},
    {NULL, NULL, false, NULL},
};
