/* SPDX-License-Identifier: MIT */
/* The mappings of a dataset's files. */
#include "../frames.h"
#include "../records.h"
#include "zrecord/snapshot/store-map.h"
#include "zrecord/snapshot/store.h"

static lx__store *open_store(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx__store *store;
    unit_ok(lx__store_open(path, LX_VERIFY_FIRST, LX_ACCESS_AUTO, &store, &error));
    return store;
}

START_TEST(growth_moves_no_address)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    const uint8_t *data, *again;
    static uint8_t bytes[100000];
    records_make("d", 3, 0);
    lx__store *store = open_store("d");
    uint64_t size = file_size("d/chunk/0.zr");
    unit_ok(lx__store_map_chunk(store, 0, size, &data, &error));
    memset(bytes, 0x5a, sizeof bytes);
    file_patch("d/chunk/0.zr", size, bytes, sizeof bytes);
    unit_ok(lx__store_map_chunk(store, 0, size + sizeof bytes, &again, &error));
    ck_assert_ptr_eq(again, data);
    ck_assert_uint_eq(data[size + 99999], 0x5a);
    unit_ok(lx__store_map_chunk(store, 0, size, &again, &error)); /* by an older snapshot */
    ck_assert_ptr_eq(again, data);
    lx__store_unref(store);
    scratch_remove(scratch);
}
END_TEST

START_TEST(remaps_a_chunk_beyond_its_limit_and_keeps_the_old_mapping)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    const uint8_t *data, *larger;
    lx_writer_options *options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_options_set_chunk_limits(options, 1000, 4096, &error));
    lx_writer *writer = records_create("d", options);
    records_append(writer, 3);
    close_writer(writer);
    lx__store *store = open_store("d");
    unit_ok(lx__store_map_chunk(store, 0, 100, &data, &error));
    uint8_t first = data[0];
    static uint8_t bytes[50000];
    file_patch("d/chunk/0.zr", file_size("d/chunk/0.zr"), bytes, sizeof bytes);
    unit_ok(lx__store_map_chunk(store, 0, 50000, &larger, &error));
    ck_assert_uint_eq(larger[0], first);
    ck_assert_uint_eq(larger[49999], 0);
    ck_assert_uint_eq(data[0], first);
    lx__store_unref(store);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_truncated_and_absent_chunks_as_damage)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 20, 2);
    uint64_t size = file_size("d/chunk/0.zr");
    for (int step = 0; step < 2 + DISGUISES; step++) {
        if (step == 0)
            file_cut("d/chunk/0.zr", size - 1);
        else if (step == 1)
            ck_assert_int_eq(rename("d/chunk/0.zr", "d/chunk/0.zr.real"), 0);
        else
            file_disguise("d/chunk/0.zr", (enum disguise)(step - 2));
        lx_dataset *dataset = open_dataset("d"); /* a chunk is opened when it is touched */
        uint64_t index = 0;
        uint8_t image[12], label[8];
        ck_assert_int_eq(lx_dataset_gather(dataset, IMAGE, &index, 1, image, 12, &error),
                         LX_ERR_CORRUPT);
        ck_assert_str_eq(error.field, "image");
        ck_assert_uint_eq(error.record, 0);
        ck_assert_ptr_nonnull(strstr(error.path, "d/chunk/0.zr"));
        lx_error_clear(&error);
        unit_ok(lx_dataset_gather(dataset, LABEL, &index, 1, label, 8, &error));
        lx_dataset_close(dataset);
        if (step == 0)
            file_cut("d/chunk/0.zr", size);
        else if (step == 1)
            ck_assert_int_eq(rename("d/chunk/0.zr.real", "d/chunk/0.zr"), 0);
        else
            file_restore("d/chunk/0.zr");
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_a_restored_chunk)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 20, 2);
    lx_dataset *dataset = open_dataset("d");
    ck_assert_int_eq(rename("d/chunk/0.zr", "away"), 0);
    uint64_t index = 0;
    uint8_t image[12];
    unit_fails(lx_dataset_gather(dataset, IMAGE, &index, 1, image, 12, &error), LX_ERR_CORRUPT);
    ck_assert_int_eq(rename("away", "d/chunk/0.zr"), 0);
    expect_records(dataset, 22);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

/** A dataset of one field of bytes, which hold their own index. */
static lx_writer *numbers(uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "n", LX_UINT32, NULL, 0, LX_COMPRESSION_RAW, &error));
    lx_writer_options *options = writer_options(LX_DURABILITY_NONE);
    unit_ok(lx_writer_create("d", schema, options, &writer, &error));
    lx_writer_options_free(options);
    lx_schema_free(schema);
    uint32_t *values = malloc(count * sizeof *values);
    for (uint32_t i = 0; i < count; i++)
        values[i] = i;
    lx_values column = {values, NULL, NULL};
    unit_ok(lx_writer_extend(writer, count, &column, 1, NULL, &error));
    commit(writer);
    free(values);
    return writer;
}

static void append_numbers(lx_writer *writer, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t first = lx_writer_get_length(writer);
    uint32_t *values = malloc(count * sizeof *values);
    for (uint64_t i = 0; i < count; i++)
        values[i] = (uint32_t)(first + i);
    lx_values column = {values, NULL, NULL};
    unit_ok(lx_writer_extend(writer, count, &column, 1, NULL, &error));
    commit(writer);
    free(values);
}

START_TEST(growing_tables_keep_their_verified_rows)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_slice slices[3];
    lx_view *view;
    lx_writer *writer = numbers(40000);
    unit_ok(lx_dataset_open("d", NULL, &dataset, &error));
    uint64_t few[] = {0, 17, 39999};
    uint32_t got;
    unit_ok(lx_dataset_view(dataset, 0, few, 3, slices, &view, &error));
    for (int step = 0; step < 3; step++) {
        append_numbers(writer, 100000);
        unit_ok(lx_dataset_refresh(dataset, NULL, &error));
        uint64_t length = lx_dataset_get_length(dataset);
        ck_assert_uint_eq(length, 40000 + 100000 * ((uint64_t)step + 1));
        for (uint64_t i = 0; i < length; i += 999) {
            unit_ok(lx_dataset_gather(dataset, 0, &i, 1, &got, 4, &error));
            ck_assert_uint_eq(got, i);
        }
    }
    for (int i = 0; i < 3; i++)
        ck_assert_mem_eq(slices[i].data, &(uint32_t){(uint32_t)few[i]}, 4);
    lx_view_free(view);
    /* Row 17 was verified through the first mapping: it is not verified again. */
    file_flip("d/n.check", (17 * 8 + 4) * 8);
    unit_ok(lx_dataset_gather(dataset, 0, &few[1], 1, &got, 4, &error));
    file_flip("d/n.check", (18 * 8 + 4) * 8);
    uint64_t other = 18;
    unit_fails(lx_dataset_gather(dataset, 0, &other, 1, &got, 4, &error), LX_ERR_CORRUPT);
    lx_dataset_close(dataset);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_impossible_numbers_of_rows)
{
    static const uint64_t rows[] = {(1ull << 59) - 1, 1ull << 58, 1ull << 52, 1ull << 48};
    static const lx_verify_policy verify[] = {LX_VERIFY_FIRST, LX_VERIFY_ALWAYS, LX_VERIFY_NEVER};
    setenv("TMPDIR", "/dev/shm", 1); /* if a file may be that long, with holes */
    char *scratch = scratch_make();
    close_writer(numbers(1));
    lx_dataset_identity identity;
    lx_dataset *dataset = open_dataset("d");
    lx_dataset_get_identity(dataset, &identity);
    lx_dataset_close(dataset);
    for (size_t i = 0; i < 4; i++) {
        struct log log = log_new(&(lx__wal_identity){{0}, 0});
        log.size = 0;
        log.sequence = 0;
        log.crc = 0;
        log.identity = identity_of(identity.uuid);
        log_add(&log,
                &(struct frame){.flags = SNAPSHOT | SYNCED, .length = rows[i], .rows = rows[i]});
        file_put("d/LOG", log.bytes, log.size);
        log_free(&log);
        for (int sparse = 0; sparse < 2; sparse++) {
            if (sparse && (truncate("d/n.offset", (off_t)(rows[i] * 16)) != 0 ||
                           truncate("d/n.check", (off_t)(rows[i] * 8)) != 0)) {
                fprintf(stderr, "impossible_numbers_of_rows: no file can be that long here\n");
                continue;
            }
            for (size_t v = 0; v < 3; v++) {
                lx_error error = LX_ERROR_INIT;
                lx_status status = open_as("d", verify[v], false, &dataset, &error);
                ck_assert_int_eq(error.status, status);
                if (!sparse)
                    ck_assert_int_eq(status, LX_ERR_CORRUPT);
                else
                    ck_assert_msg(status == LX_ERR_LIMIT || status == LX_ERR_NOMEM ||
                                      status == LX_OK,
                                  "%s", lx_status_get_name(status));
                if (status != LX_OK)
                    continue;
                uint64_t index = rows[i] - 1;
                uint32_t got = 1;
                unit_ok(lx_dataset_gather(dataset, 0, &index, 1, &got, 4, &error));
                ck_assert_uint_eq(got, 0); /* a hole: missing */
                lx_dataset_close(dataset);
            }
        }
        file_cut("d/n.offset", 16);
        file_cut("d/n.check", 8);
    }
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/store-map", growth_moves_no_address,
          remaps_a_chunk_beyond_its_limit_and_keeps_the_old_mapping,
          reports_truncated_and_absent_chunks_as_damage, reads_a_restored_chunk,
          growing_tables_keep_their_verified_rows, rejects_impossible_numbers_of_rows)
