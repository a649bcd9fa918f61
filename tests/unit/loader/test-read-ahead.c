/* SPDX-License-Identifier: MIT */
/* A loader over values on disk delivers the same batches as over values in memory, and reads ahead
 * of them only while that is useful. */
#include "read-all.h"

#include "../evict.h"
#include "../zrecord/records.h"

#define RECORDS 3000

static lx_source *open_records(lx_access access)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset_options *options = lx_dataset_options_new();
    lx_source *source;
    lx_dataset *dataset;
    unit_ok(lx_dataset_options_set_access(options, access, &error));
    unit_ok(lx_dataset_open("d", options, &dataset, &error));
    unit_ok(lx_source_new_dataset(dataset, &source, &error));
    lx_dataset_options_free(options);
    lx_dataset_close(dataset);
    return source;
}

static const char *const fields[] = {"wave", "label"};

/** Reads the two fields. */
static uint64_t read_fields(lx_source *source, struct setup setup, uint64_t *digest)
{
    setup.fields = fields;
    setup.field_count = 2;
    return read_all(source, setup, digest);
}

/** Compares a loader over values on disk with one over values in memory; false if the values stay in
 * memory, of which a part may have been evicted. */
static bool compare(struct setup setup, lx_access access)
{
    uint64_t right, got;
    lx_source *source = open_records(LX_ACCESS_MMAP);
    ck_assert_uint_eq(read_fields(source, setup, &right), 0);
    lx_source_unref(source);
    if (!evict("d"))
        return false;
    source = open_records(access);
    uint64_t requested = read_fields(source, setup, &got);
    lx_source_unref(source);
    ck_assert_uint_eq(got, right);
    if (setup.threads < 2) /* of two threads, one may read before the other requests */
        ck_assert_uint_gt(requested, 0);
    return true;
}

START_TEST(delivers_the_same_batches)
{
    char *scratch = scratch_make();
    records_make_sealed("d", RECORDS);
    bool evicted = true;
    for (int kind = 0; kind < 12 && evicted; kind++) {
        lx_order *order = make_order(kind & 1 ? "shuffle" : "sequential", RECORDS, 11, 0);
        struct setup setup = {.batch_size = kind % 3 == 0 ? 7 : 256,
                              .epochs = 2,
                              .threads = kind & 2 ? 2 : 0,
                              .world = kind & 4 ? 3 : 1,
                              .rank = kind & 4 ? 1 : 0,
                              .order = order};
        evicted = compare(setup, kind & 8 ? LX_ACCESS_PREAD : LX_ACCESS_AUTO);
        lx_order_unref(order);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_ahead_from_any_position)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make_sealed("d", RECORDS);
    if (evict("d")) {
        lx_source *source = open_records(LX_ACCESS_AUTO);
        lx_order *order = make_order("shuffle", RECORDS, 3, 0);
        lx_loader_options *options = make_options((struct setup){.batch_size = 16,
                                                                 .endless = true,
                                                                 .order = order,
                                                                 .threads = 1,
                                                                 .fields = fields,
                                                                 .field_count = 2});
        lx_loader *loader;
        lx_batch *batch;
        unit_ok(lx_loader_open(source, options, &loader, &error));
        static const uint64_t places[] = {0, 2900, 16, 50 * RECORDS, 1};
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            unit_ok(lx_loader_seek(loader, places[i], &error));
            for (int k = 0; k < 20; k++) {
                unit_ok(lx_loader_next(loader, &batch, &error));
                lx_batch_unref(batch);
            }
        }
        ck_assert_uint_gt(atomic_load(&loader->read_ahead.requested), 0);
        lx_loader_close(loader);
        lx_loader_options_free(options);
        lx_order_unref(order);
        lx_source_unref(source);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_ahead_of_parts)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint64_t indices[1000], digests[2], requested[2];
    records_make_sealed("d", RECORDS);
    for (size_t i = 0; i < 1000; i++)
        indices[i] = mix(i) % RECORDS;
    for (int cold = 0; cold < 2; cold++) {
        if (cold && !evict("d"))
            break;
        lx_source *whole = open_records(cold ? LX_ACCESS_AUTO : LX_ACCESS_MMAP), *subset, *both;
        unit_ok(lx_source_new_subset(whole, indices, 1000, &subset, &error));
        unit_ok(lx_source_new_concat((lx_source *const[]){subset, whole}, 2, &both, &error));
        lx_order *order = make_order("shuffle", 1000 + RECORDS, 5, 0);
        requested[cold] = read_fields(both, (struct setup){.batch_size = 50, .order = order},
                                      &digests[cold]);
        lx_order_unref(order);
        lx_source_unref(both);
        lx_source_unref(subset);
        lx_source_unref(whole);
        if (cold) {
            ck_assert_uint_eq(digests[0], digests[1]);
            ck_assert_uint_eq(requested[0], 0);
            ck_assert_uint_gt(requested[1], 0);
        }
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(ends_once_values_are_in_memory)
{
    char *scratch = scratch_make();
    uint64_t digest;
    records_make_sealed("d", RECORDS);
    lx_source *source = open_records(LX_ACCESS_AUTO);
    lx_order *order = make_order("shuffle", RECORDS, 3, 0);
    struct setup setup = {.batch_size = 64, .epochs = 3, .order = order};
    ck_assert_uint_lt(read_fields(source, setup, &digest), RECORDS);
    lx_order_unref(order);
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

START_TEST(does_not_count_records_in_memory_after_a_fault_elsewhere)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_loader *loader;
    lx_loader_stats before, after;
    lx_batch *batch;
    records_make_sealed("d", RECORDS);
    lx_source *source = open_records(LX_ACCESS_AUTO);
    lx_loader_options *options = make_options((struct setup){
        .batch_size = 16, .endless = true, .threads = 1, .fields = fields, .field_count = 2});
    unit_ok(lx_loader_open(source, options, &loader, &error));
    for (int i = 0; i < 400; i++) {
        unit_ok(lx_loader_next(loader, &batch, &error));
        lx_batch_unref(batch);
        if (i == 200) {
            lx_loader_get_stats(loader, &before);
            loader->read_ahead.until = UINT64_MAX; /* as after a fault that waited for a disk */
        }
    }
    lx_loader_get_stats(loader, &after);
    ck_assert_uint_eq(after.read_ahead, before.read_ahead);
    lx_loader_close(loader);
    lx_loader_options_free(options);
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_ahead_of_the_next_run_after_the_first)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_loader *loader;
    lx_batch *batch;
    records_make_sealed("d", RECORDS);
    lx_source *source = open_records(LX_ACCESS_AUTO);
    lx_loader_options *options = make_options((struct setup){
        .batch_size = 16, .epochs = 1, .threads = 0, .fields = fields, .field_count = 2});
    unit_ok(lx_loader_open(source, options, &loader, &error));
    loader->read_ahead.until = UINT64_MAX; /* as if values were on disk */
    for (uint64_t run = 1; run <= 3; run++) {
        lx_status status;
        while ((status = lx_loader_next(loader, &batch, &error)) == LX_OK)
            lx_batch_unref(batch);
        ck_assert_int_eq(status, LX_END);
        if (run == 1)
            ck_assert_uint_eq(loader->read_ahead.schedule.position, RECORDS);
        else
            ck_assert_uint_gt(loader->read_ahead.schedule.position, run * RECORDS);
        lx_loader_next_epoch(loader);
    }
    lx_loader_close(loader);
    lx_loader_options_free(options);
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("loader/read-ahead", delivers_the_same_batches, reads_ahead_from_any_position,
          reads_ahead_of_parts, ends_once_values_are_in_memory,
          does_not_count_records_in_memory_after_a_fault_elsewhere,
          reads_ahead_of_the_next_run_after_the_first)
