/* SPDX-License-Identifier: MIT */
#include "zrecord/write/writer.h"

#include <pthread.h>
#include <sys/mount.h>
#include <sched.h>

#include "../records.h"

START_TEST(rejects_invalid_options)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = lx_writer_options_new();
    unit_ok(lx_writer_options_set_durability(options, LX_DURABILITY_NONE, &error));
    unit_fails(lx_writer_options_set_durability(options, (lx_durability)3, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_writer_options_set_durability(options, (lx_durability)-1, &error),
               LX_ERR_ARGUMENT);
    unit_ok(lx_writer_options_set_compression_level(options, 1, &error));
    unit_ok(lx_writer_options_set_compression_level(options, 9, &error));
    unit_fails(lx_writer_options_set_compression_level(options, 0, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_writer_options_set_compression_level(options, 10, &error), LX_ERR_ARGUMENT);
    unit_ok(lx_writer_options_set_chunk_limits(options, 1, 4096, &error));
    unit_ok(lx_writer_options_set_chunk_limits(options, UINT32_MAX, 1ull << 40, &error));
    unit_fails(lx_writer_options_set_chunk_limits(options, 0, 4096, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_writer_options_set_chunk_limits(options, 1ull << 32, 4096, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_writer_options_set_chunk_limits(options, 1, 4095, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_writer_options_set_chunk_limits(options, 1, (1ull << 40) + 1, &error),
               LX_ERR_ARGUMENT);
    unit_ok(lx_writer_options_set_executor(options, NULL, &error));
    lx_writer_options_free(options);
    lx_writer_options_free(NULL);
}
END_TEST

START_TEST(keeps_the_options_of_the_creation)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_options_set_chunk_limits(options, 7, 5000, &error));
    close_writer(records_create("d", options));
    options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_options_set_chunk_limits(options, 70, 50000, &error));
    lx_writer *writer = records_reopen("d", options);
    records_append(writer, 30);
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    lx_storage_stats totals;
    unit_ok(lx_dataset_stat(dataset, &totals, NULL, &error));
    ck_assert_uint_eq(totals.chunk_records, 7);
    ck_assert_uint_eq(totals.chunk_limit, 5000);
    ck_assert_uint_gt(totals.chunks, 5);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(durability_is_periodic_by_default)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    close_writer(records_create("d", writer_options(LX_DURABILITY_FULL)));
    unit_ok(lx_writer_open("d", NULL, &writer, &error));
    ck_assert_int_eq(writer->durability, LX_DURABILITY_PERIODIC);
    close_writer(writer);
    writer = records_reopen("d", lx_writer_options_new());
    ck_assert_int_eq(writer->durability, LX_DURABILITY_PERIODIC);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(applies_the_compression_level)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint64_t sizes[2];
    for (int i = 0; i < 2; i++) {
        const char *path = i == 0 ? "fast" : "small";
        lx_schema *schema = lx_schema_new();
        lx_writer *writer;
        lx_writer_options *options = writer_options(LX_DURABILITY_NONE);
        static uint8_t text[200000];
        for (size_t k = 0; k < sizeof text; k++)
            text[k] = (uint8_t)("etaoin shrdlu"[mix(k / 3) % 13] + (mix(k) % 9 == 0));
        unit_ok(
            lx_schema_add_field(schema, "text", LX_BYTES, NULL, 0, LX_COMPRESSION_FLATE, &error));
        unit_ok(lx_writer_options_set_compression_level(options, i == 0 ? 1 : 9, &error));
        unit_ok(lx_writer_create(path, schema, options, &writer, &error));
        lx_value value = {text, sizeof text};
        unit_ok(lx_writer_append(writer, &value, 1, NULL, &error));
        close_writer(writer);
        lx_writer_options_free(options);
        lx_schema_free(schema);
        sizes[i] = file_size(in(path, "chunk/0.zr"));
    }
    ck_assert_uint_lt(sizes[1], sizes[0]);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/writer-options", rejects_invalid_options, durability_is_periodic_by_default,
          keeps_the_options_of_the_creation, applies_the_compression_level)
