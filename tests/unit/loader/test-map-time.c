/* SPDX-License-Identifier: MIT */
/* The statistics of a loader tell the time in functions of maps from that of reading. */
#include "loaders.h"

#include "../evict.h"
#include "../scratch.h"
#include "../zrecord/records.h"

#define RECORDS 1000
#define NAP (5 * (uint64_t)MILLISECOND)

static const char *const input[] = {"wave"};
static const lx_column_info output = {.name = "zero", .dtype = LX_UINT64};

static atomic_uint calls;

/** A slow function. */
static lx_status sleep_and_write(const lx_samples *samples, const lx_column *inputs,
                                 const lx_target *outputs, void *worker, void *user,
                                 lx_error *error)
{
    (void)inputs, (void)worker, (void)user, (void)error;
    atomic_fetch_add(&calls, 1);
    nap(NAP);
    for (size_t i = 0; i < samples->count; i++)
        memset((uint8_t *)outputs[0].data + i * outputs[0].stride, 0, 8);
    return LX_OK;
}

/** Reads another map. */
static lx_status fill_from_user(const lx_samples *samples, const lx_column *inputs,
                                const lx_target *outputs, void *worker, void *user, lx_error *error)
{
    lx_target targets[8] = {{NULL, 0}};
    (void)inputs, (void)worker;
    targets[lx_source_get_column_count(user) - 1] = outputs[0];
    return lx_source_fill(user, samples->indices, samples->count, targets, error);
}

/** A map over the column "wave" of "d". */
static lx_source *open_map(lx_map_function function, void *user)
{
    lx_error error = LX_ERROR_INIT;
    lx_source_options *options = lx_source_options_new();
    lx_source *part, *source;
    unit_ok(lx_source_options_set_map(options, function, user, &error));
    unit_ok(lx_source_open("d", NULL, &part, &error));
    unit_ok(lx_source_new_map(part, input, 1, &output, 1, options, &source, &error));
    lx_source_unref(part);
    lx_source_options_free(options);
    return source;
}

static lx_loader_stats read_pass(lx_source *source, const char *column, uint32_t threads)
{
    struct setup setup = {
        .batch_size = 64, .threads = threads, .fields = &column, .field_count = 1};
    lx_loader *loader = open_loader(source, setup);
    lx_loader_stats stats;
    for (lx_batch *batch; (batch = next_batch(loader)) != NULL;)
        lx_batch_unref(batch);
    lx_loader_get_stats(loader, &stats);
    lx_loader_close(loader);
    return stats;
}

static void check_time(const lx_loader_stats *stats)
{
    ck_assert_uint_ge(calls, RECORDS / 64);
    ck_assert_uint_ge(stats->map_ns, calls * NAP);
    ck_assert_uint_le(stats->map_ns, stats->fill_ns);
}

START_TEST(counts_a_function_even_if_values_come_from_the_disk)
{
    char *scratch = scratch_make();
    records_make_sealed("d", RECORDS);
    for (uint32_t threads = 0; threads <= 2; threads += 2) {
        bool absent = evict("d");
        lx_source *source = open_map(sleep_and_write, NULL);
        atomic_store(&calls, 0);
        lx_loader_stats stats = read_pass(source, "zero", threads);
        check_time(&stats);
        if (absent && threads == 0) /* of two threads, one may read before the other requests */
            ck_assert_uint_gt(stats.read_ahead, 0);
        lx_source_unref(source);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(counts_a_map_within_a_function_once)
{
    char *scratch = scratch_make();
    records_make_sealed("d", RECORDS);
    lx_source *inner = open_map(sleep_and_write, NULL), *outer = open_map(fill_from_user, inner);
    lx_loader_stats stats = read_pass(outer, "zero", 2);
    check_time(&stats);
    lx_source_unref(outer);
    lx_source_unref(inner);
    scratch_remove(scratch);
}
END_TEST

START_TEST(counts_nothing_without_a_map)
{
    struct numbers numbers = {.length = RECORDS, .width = 1000};
    lx_source *source = numbers_source(&numbers);
    lx_loader_stats stats = read_pass(source, "image", 2);
    ck_assert_uint_eq(stats.map_ns, 0);
    ck_assert_uint_gt(stats.fill_ns, 0);
    lx_source_unref(source);
}
END_TEST

UNIT_MAIN("loader/map-time", counts_a_function_even_if_values_come_from_the_disk,
          counts_a_map_within_a_function_once, counts_nothing_without_a_map)
