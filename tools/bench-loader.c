/* SPDX-License-Identifier: MIT */
/* What a loader reaches. */
#include <stdlib.h>

#include <loaderx/loader.h>

#include "bench.h"
#include "failure.h"

typedef struct loading {
    bench *b;
    const bench_measure *measure;
    lx_loader *loader; /* while the dataset is in memory, for all turns */
} loading;

static lx_status set_options(const loading *l, lx_loader_options *options, lx_error *error)
{
    const bench *b = l->b;
    lx_order *order = NULL;
    lx_status status = bench_make_order(b, b->length, &order, error);
    if (status == LX_OK)
        status = lx_loader_options_set_order(options, order, error);
    lx_order_unref(order);
    if (status == LX_OK)
        status = lx_loader_options_set_batch_size(options, l->measure->batch_size, error);
    if (status == LX_OK) /* an epoch from the disk brings all values into memory */
        status = lx_loader_options_set_epoch_count(options, b->cold ? 1 : 0, error);
    if (status == LX_OK)
        status = lx_loader_options_set_columns(options, b->names, b->name_count, error);
    if (status == LX_OK)
        status = lx_loader_options_set_missing(options, NULL, LX_MISSING_ZEROS, error);
    if (status == LX_OK)
        status = lx_loader_options_set_reader_count(options, (uint32_t)l->measure->threads, error);
    return status;
}

static lx_status open_loader(loading *l, lx_dataset *dataset, lx_error *error)
{
    lx_source *source = NULL;
    lx_loader_options *options = lx_loader_options_new();
    lx_status status = options != NULL ? LX_OK : fail_memory(error, "options");
    if (status == LX_OK)
        status = set_options(l, options, error);
    if (status == LX_OK)
        status = lx_source_new_dataset(dataset, &source, error);
    if (status == LX_OK)
        status = lx_loader_open(source, options, &l->loader, error);
    lx_source_unref(source);
    lx_loader_options_free(options);
    return status;
}

/** Takes the batches that were prepared between the turns. */
static lx_status skip_prepared(const loading *l, lx_error *error)
{
    lx_loader_stats stats;
    lx_batch *batch;
    lx_status status = LX_OK;
    lx_loader_get_stats(l->loader, &stats);
    for (uint64_t i = 0; status == LX_OK && i < stats.prefetched; i++) {
        status = lx_loader_next(l->loader, &batch, error);
        lx_batch_unref(batch);
    }
    return status;
}

/** Takes batches until the time is up or the epoch ends. */
static lx_status take(loading *l, double seconds, bench_turn *turn, lx_error *error)
{
    lx_loader_stats before, after;
    lx_batch *batch;
    lx_status status;
    lx_loader_get_stats(l->loader, &before);
    double begun = bench_now();
    do {
        status = lx_loader_next(l->loader, &batch, error);
        lx_batch_unref(batch);
        turn->seconds = bench_now() - begun;
    } while (status == LX_OK && turn->seconds < seconds);
    lx_loader_get_stats(l->loader, &after);
    turn->records = after.records - before.records;
    turn->batches = after.batches - before.batches;
    turn->bytes = after.bytes - before.bytes;
    turn->from_disk = (double)(after.read_ahead - before.read_ahead);
    return status == LX_END ? LX_OK : status;
}

static lx_status run_warm(void *state, double seconds, bench_turn *turn, lx_error *error)
{
    lx_status status = skip_prepared(state, error);
    return status == LX_OK ? take(state, seconds, turn, error) : status;
}

static lx_status run_cold(void *state, double seconds, bench_turn *turn, lx_error *error)
{
    loading *l = state;
    lx_dataset *dataset = NULL;
    lx_status status = bench_evict(l->b->path, error);
    if (status == LX_OK)
        status = bench_open(l->b, LX_ACCESS_AUTO, false, &dataset, error);
    if (status == LX_OK)
        status = open_loader(l, dataset, error);
    if (status == LX_OK)
        status = take(l, seconds, turn, error);
    lx_loader_close(l->loader);
    l->loader = NULL;
    lx_dataset_close(dataset);
    return status;
}

static void end(void *state)
{
    loading *l = state;
    lx_loader_close(l->loader);
    free(l);
}

lx_status bench_loader_begin(bench *b, bench_measure *measure, lx_error *error)
{
    loading *l = calloc(1, sizeof *l);
    if (l == NULL)
        return fail_memory(error, "a loader");
    *l = (loading){.b = b, .measure = measure};
    measure->state = l;
    measure->end = end;
    measure->run = b->cold ? run_cold : run_warm;
    return b->cold ? LX_OK : open_loader(l, b->dataset, error);
}
