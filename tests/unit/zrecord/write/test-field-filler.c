/* SPDX-License-Identifier: MIT */
/* Fields that are added with a default: doc/zrecord-format.md, 7.1, 11.4 and 11.5. */
#include "../change.h"
#include "zrecord/write/install.h"

static const char text[] = "a default that is too long for an entry";

static void add(lx_writer *writer, const char *name, lx_dtype dtype, const void *data,
                uint64_t size)
{
    lx_error error = LX_ERROR_INIT;
    const lx_value value = {data, size};
    unit_ok(lx_writer_add_field_default(writer, name, dtype, NULL, 0, LX_COMPRESSION_RAW, &value,
                                        &error));
}

/** Checks that records [0, @p length) of a field have this value. */
static void expect_default(const char *path, const char *field, const void *data, uint64_t size,
                           uint64_t length)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = open_dataset(path);
    size_t position;
    unit_ok(lx_schema_find_field(lx_dataset_get_schema(dataset), field, &position, &error));
    for (uint64_t i = 0; i < length; i++) {
        uint8_t value[VALUE_MAX];
        uint64_t got;
        bool there;
        unit_ok(read_value(dataset, position, i, value, &got, &there, &error));
        ck_assert(there);
        ck_assert_uint_eq(got, size);
        ck_assert_mem_eq(value, data, size);
    }
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
}

START_TEST(existing_records_read_as_the_default)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const int64_t number = -7;
    records_make("d", 100, 20);
    uint64_t generation = generation_of("d");
    lx_writer *writer = records_reopen("d", NULL);
    add(writer, "number", LX_INT64, &number, 8);
    ck_assert_uint_eq(generation_of("d"), generation); /* a short value needs no chunk */
    add(writer, "text", LX_STR, text, strlen(text));
    ck_assert_uint_eq(generation_of("d"), generation + 1);
    add(writer, "empty", LX_BYTES, NULL, 0);
    add(writer, "absent", LX_BYTES, NULL, LX_NONE);
    for (size_t i = FIELDS; i < FIELDS + 4; i++)
        ck_assert_int_eq(writer->meta.schema->fields[i]->complete, i != FIELDS + 3);
    close_writer(writer);
    expect_default("d", "number", &number, 8, 120);
    expect_default("d", "text", text, strlen(text), 120);
    expect_default("d", "empty", "", 0, 120);
    lx_dataset *dataset = open_dataset("d");
    for (uint64_t i = 0; i < 120; i++)
        for (int field = 0; field < FIELDS; field++)
            expect_value(dataset, field, i);
    lx_storage_stats totals;
    lx_field_stats fields[FIELDS + 4];
    unit_ok(lx_dataset_stat(dataset, &totals, fields, &error));
    ck_assert_uint_eq(fields[FIELDS + 1].present, 120);
    ck_assert_uint_eq(fields[FIELDS + 1].stored_bytes, strlen(text)); /* once */
    ck_assert_uint_eq(fields[FIELDS + 3].missing, 120);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(later_changes_and_appends_have_values_of_their_own)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 50, 5);
    lx_writer *writer = records_reopen("d", NULL);
    add(writer, "text", LX_STR, text, strlen(text));
    uint8_t memory[FIELDS][VALUE_MAX];
    lx_value values[FIELDS + 1], other = {"another text, which is as long as that", 38};
    size_t field = FIELDS;
    record_values(55, memory, values);
    values[FIELDS] = other;
    unit_ok(lx_writer_append(writer, values, FIELDS + 1, NULL, &error));
    unit_ok(lx_writer_modify(writer, 54, &field, &other, 1, &error));
    close_writer(writer);
    expect_default("d", "text", text, strlen(text), 54);
    lx_dataset *dataset = open_dataset("d");
    for (uint64_t i = 54; i < 56; i++) {
        uint8_t value[VALUE_MAX];
        uint64_t size;
        bool there;
        unit_ok(read_value(dataset, FIELDS, i, value, &size, &there, &error));
        ck_assert_uint_eq(size, 38);
        ck_assert_mem_eq(value, other.data, 38);
    }
    lx_dataset_close(dataset);
    /* And the writer, with its unfinished chunk, after it was reopened. */
    writer = records_reopen("d", NULL);
    unit_ok(lx_writer_append(writer, values, FIELDS + 1, NULL, &error));
    close_writer(writer);
    expect_default("d", "text", text, strlen(text), 54);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_rebalance_keeps_one_payload)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_rebalance_result result;
    records_make("d", 300, 30);
    lx_writer *writer = records_reopen("d", NULL);
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, &result, &error));
    uint64_t before = result.payloads, bytes = result.bytes;
    add(writer, "text", LX_STR, text, strlen(text));
    add(writer, "blob2", LX_BYTES, text, 20);
    uint64_t moved;
    unit_ok(lx_writer_delete(writer, 3, &moved, &error)); /* the last record takes its place */
    unit_ok(lx_writer_truncate(writer, 329, &error));
    for (int round = 0; round < 2; round++) { /* in the second, from their new place */
        unit_ok(lx_writer_rebalance(writer, NULL, NULL, &result, &error));
        ck_assert_uint_le(result.payloads, before + 2);
        ck_assert_uint_le(result.bytes, bytes + strlen(text) + 20);
        expect_default("d", "text", text, strlen(text), 329);
        expect_default("d", "blob2", text, 20, 329);
    }
    close_writer(writer);
    writer = records_reopen("d", NULL); /* which reads the place from meta.json */
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, &result, &error));
    ck_assert_uint_le(result.payloads, before + 2);
    expect_default("d", "text", text, strlen(text), 329);
    /* Once no record has the default, it is gone. */
    size_t field = FIELDS;
    for (uint64_t i = 0; i < 329; i++)
        unit_ok(lx_writer_modify(writer, i, &field, &(lx_value){"x", 1}, 1, &error));
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, &result, &error));
    ck_assert_uint_eq(writer->meta.schema->fields[FIELDS]->shared.bytes, 0);
    ck_assert_uint_ne(writer->meta.schema->fields[FIELDS + 1]->shared.bytes, 0);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_rebalance_detects_a_wrong_row_of_a_shared_payload)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 50, 0);
    lx_writer *writer = records_reopen("d", NULL);
    add(writer, "text", LX_STR, text, strlen(text));
    close_writer(writer);
    file_flip("d/text.check", (40 * 8 + 5) * 8); /* the CRC of record 40 */
    writer = records_reopen("d", NULL);
    lx_status status = lx_writer_rebalance(writer, NULL, NULL, NULL, &error);
    ck_assert_str_eq(error.field, "text");
    ck_assert_uint_eq(error.record, 40);
    expect_error(status, LX_ERR_CORRUPT, "checksum", "d");
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_an_invalid_default_and_changes_nothing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const uint64_t boxes[] = {LX_NONE, 4};
    records_make("d", 20, 5);
    lx_writer *writer = records_reopen("d", NULL);
    const lx_value bad = {"\xff", 1}, short_one = {text, 4};
    unit_fails(lx_writer_add_field_default(writer, "text", LX_STR, NULL, 0, LX_COMPRESSION_RAW,
                                           &bad, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_writer_add_field_default(writer, "number", LX_INT64, NULL, 0, LX_COMPRESSION_RAW,
                                           &short_one, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_writer_add_field_default(writer, "boxes", LX_FLOAT32, boxes, 2,
                                           LX_COMPRESSION_RAW, &short_one, &error),
               LX_ERR_ARGUMENT);
    ck_assert(!file_exists("d/text.offset") && !file_exists("d/number.offset"));
    ck_assert_uint_eq(lx_schema_get_field_count(lx_writer_get_schema(writer)), FIELDS);
    add(writer, "text", LX_STR, text, strlen(text)); /* a later attempt */
    close_writer(writer);
    expect_default("d", "text", text, strlen(text), 25);
    scratch_remove(scratch);
}
END_TEST

/** What an interrupted addition leaves behind: tables with values, and a chunk. */
START_TEST(ignores_files_of_an_interrupted_addition)
{
    char *scratch = scratch_make();
    static const uint8_t rows[25 * 16] = {1, 2, 3};
    records_make("d", 20, 5);
    lx_writer *writer = records_reopen("d", NULL);
    add(writer, "first", LX_STR, text, strlen(text));
    close_writer(writer);
    file_put("d/text~6.offset", rows, sizeof rows);
    file_put("d/text~6.check", rows, 25 * 8);
    file_put("d/chunk/2.zr", text, sizeof text);
    file_edit("d/meta.json", "\"next_field\": 6", "\"next_field\": 7"); /* the reserved id */
    writer = records_reopen("d", NULL);
    add(writer, "text", LX_STR, text, strlen(text));
    close_writer(writer);
    expect_default("d", "text", text, strlen(text), 25);
    ck_assert(file_exists("d/text~7.offset"));
    ck_assert(!file_exists("d/text~6.offset"));
    scratch_remove(scratch);
}
END_TEST

START_TEST(an_empty_dataset_needs_no_values)
{
    char *scratch = scratch_make();
    close_writer(records_create("d", NULL));
    lx_writer *writer = records_reopen("d", NULL);
    add(writer, "text", LX_STR, text, strlen(text));
    ck_assert(writer->meta.schema->fields[FIELDS]->complete);
    ck_assert_uint_eq(directory_count("d/chunk"), 0);
    close_writer(writer);
    expect_default("d", "text", text, strlen(text), 0);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/field-filler", existing_records_read_as_the_default,
          later_changes_and_appends_have_values_of_their_own, a_rebalance_keeps_one_payload,
          a_rebalance_detects_a_wrong_row_of_a_shared_payload,
          rejects_an_invalid_default_and_changes_nothing, ignores_files_of_an_interrupted_addition,
          an_empty_dataset_needs_no_values)
