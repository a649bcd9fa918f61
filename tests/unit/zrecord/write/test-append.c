/* SPDX-License-Identifier: MIT */
#include <pthread.h>

#include "../records.h"
#include "zrecord/write/writer.h"

/** A dataset of one field. */
static lx_writer *one_field(const char *path, lx_dtype dtype, lx_writer_options *options)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "f", dtype, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create(path, schema, options, &writer, &error));
    lx_writer_options_free(options);
    lx_schema_free(schema);
    return writer;
}

static lx_writer_options *chunks_of(uint64_t records, uint64_t bytes)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = writer_options(LX_DURABILITY_NONE);
    unit_ok(lx_writer_options_set_chunk_limits(options, records, bytes, &error));
    return options;
}

START_TEST(reads_back_appended_records)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    for (uint64_t i = 0; i < 300; i++) {
        uint8_t memory[FIELDS][VALUE_MAX];
        lx_value values[FIELDS];
        uint64_t index = LX_NONE;
        record_values(i, memory, values);
        unit_ok(lx_writer_append(writer, values, FIELDS, &index, &error));
        memset(memory, 0xee, sizeof memory); /* no reference to them is kept */
        ck_assert_uint_eq(index, i);
        ck_assert_uint_eq(lx_writer_get_length(writer), i + 1);
    }
    expect_dataset("d", 0);
    commit(writer);
    expect_dataset("d", 300);
    close_writer(writer);
    expect_dataset("d", 300);
    scratch_remove(scratch);
}
END_TEST

/** Columns of records [first, first + count), in memory that is freed with columns_free(). */
static void columns_make(uint64_t first, uint64_t count, lx_values columns[FIELDS])
{
    for (int field = 0; field < FIELDS; field++) {
        bool bytes = field == CAPTION || field == BLOB;
        uint8_t *data = malloc(count * VALUE_MAX + 1), *present = malloc(count + 1);
        uint64_t *offsets = malloc((count + 1) * sizeof *offsets), at = 7; /* need not begin at 0 */
        for (uint64_t i = 0; i < count; i++) {
            uint64_t dense = field == IMAGE ? 12 : field == LABEL ? 8 : 64;
            uint8_t *to = data + (bytes ? at : i * dense);
            uint64_t size = record_value(field, first + i, to);
            present[i] = size != LX_NONE;
            offsets[i] = at;
            at += present[i] ? size : 0;
        }
        offsets[count] = at;
        columns[field] = (lx_values){data, bytes ? offsets : NULL, present};
        if (!bytes)
            free(offsets);
    }
}

static void columns_free(lx_values columns[FIELDS])
{
    for (int field = 0; field < FIELDS; field++) {
        free((void *)columns[field].data);
        free((void *)columns[field].offsets);
        free((void *)columns[field].present);
    }
}

START_TEST(appends_many_as_one_by_one)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    uint64_t length = 0;
    for (uint64_t count = 0; length < 500; count = count * 2 + 1) {
        lx_values columns[FIELDS];
        uint64_t first = LX_NONE;
        columns_make(length, count, columns);
        unit_ok(lx_writer_extend(writer, count, columns, FIELDS, &first, &error));
        columns_free(columns);
        ck_assert_uint_eq(first, length);
        length += count;
        records_append(writer, 3);
        length += 3;
    }
    commit(writer);
    expect_dataset("d", length);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_column_without_data_is_missing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    lx_values columns[FIELDS] = {{0}};
    static const uint64_t empty[4] = {0};
    columns[BLOB].offsets = empty; /* of bytes: without data, and yet not missing */
    unit_ok(lx_writer_extend(writer, 3, columns, FIELDS, NULL, &error));
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    for (uint64_t i = 0; i < 3; i++) {
        for (size_t field = 0; field < FIELDS; field++) {
            uint8_t value[VALUE_MAX];
            uint64_t size;
            bool there;
            unit_ok(read_value(dataset, field, i, value, &size, &there, &error));
            ck_assert(there == (field == BLOB));
            for (uint64_t at = 0; at < size; at++)
                ck_assert_uint_eq(value[at], 0);
        }
    }
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(stores_inline_values_of_each_length)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = one_field("d", LX_BYTES, NULL);
    for (uint64_t size = 0; size < 20; size++) {
        lx_value value = {"abcdefghijklmnopqrst", size};
        unit_ok(lx_writer_append(writer, &value, 1, NULL, &error));
    }
    lx_value missing = {NULL, LX_NONE};
    unit_ok(lx_writer_append(writer, &missing, 1, NULL, &error));
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    for (uint64_t i = 0; i <= 20; i++) {
        uint8_t value[VALUE_MAX];
        uint64_t size;
        bool there;
        unit_ok(read_value(dataset, 0, i, value, &size, &there, &error));
        ck_assert_uint_eq(size, i < 20 ? i : 0);
        ck_assert(there == (i < 20)); /* empty is there, missing is not */
        ck_assert_mem_eq(value, "abcdefghijklmnopqrst", size);
    }
    lx_storage_stats totals;
    unit_ok(lx_dataset_stat(dataset, &totals, NULL, &error));
    ck_assert_uint_eq(totals.payloads, 11); /* of 9 to 19 bytes */
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_a_value_of_the_wrong_size)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    uint8_t memory[FIELDS][VALUE_MAX];
    static const uint64_t wrong[] = {0, 11, 13, 1ull << 32, LX_NONE - 1};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lx_value values[FIELDS];
        record_values(0, memory, values);
        values[IMAGE].size = wrong[i];
        ck_assert_int_eq(lx_writer_append(writer, values, FIELDS, NULL, &error), LX_ERR_ARGUMENT);
        ck_assert_str_eq(error.field, "image");
        lx_error_clear(&error);
    }
    lx_value values[FIELDS];
    record_values(0, memory, values);
    values[CAPTION].size = (uint64_t)LX_MAX_VALUE + 1;
    ck_assert_int_eq(lx_writer_append(writer, values, FIELDS, NULL, &error), LX_ERR_LIMIT);
    ck_assert_str_eq(error.field, "caption");
    lx_error_clear(&error);
    record_values(0, memory, values);
    values[CAPTION] = (lx_value){NULL, 5};
    ck_assert_int_eq(lx_writer_append(writer, values, FIELDS, NULL, &error), LX_ERR_ARGUMENT);
    ck_assert_str_eq(error.field, "caption");
    lx_error_clear(&error);
    ck_assert_uint_eq(lx_writer_get_length(writer), 0); /* nothing was appended, */
    records_append(writer, 5);                          /* and nothing must be rolled back */
    close_writer(writer);
    expect_dataset("d", 5);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_values_for_the_fields_of_an_older_schema)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    uint8_t memory[FIELDS][VALUE_MAX];
    lx_value values[FIELDS];
    const lx_values columns[FIELDS] = {{NULL, NULL, NULL}};
    record_values(0, memory, values);
    unit_fails(lx_writer_append(writer, values, FIELDS - 1, NULL, &error), LX_ERR_ARGUMENT);
    unit_ok(lx_writer_add_field(writer, "more", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_fails(lx_writer_append(writer, values, FIELDS, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_writer_extend(writer, 1, columns, FIELDS, NULL, &error), LX_ERR_ARGUMENT);
    ck_assert_uint_eq(lx_writer_get_length(writer), 0);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(checks_all_arguments_before_appending)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    static const uint64_t descending[] = {0, 2, 1, 3}, far[] = {0, 1, 2, 1ull << 33};
    static const uint64_t some[] = {0, 0, 0, 1};
    lx_values columns[FIELDS];
    for (int wrong = 0; wrong < 4; wrong++) {
        lx_status expected = wrong == 2 ? LX_ERR_LIMIT : LX_ERR_ARGUMENT;
        columns_make(0, 3, columns);
        lx_values whole = columns[CAPTION];
        columns[CAPTION].offsets = wrong == 0   ? NULL
                                   : wrong == 1 ? descending
                                   : wrong == 2 ? far
                                                : some;
        if (wrong == 3)
            columns[CAPTION].data = NULL;
        ck_assert_int_eq(lx_writer_extend(writer, 3, columns, FIELDS, NULL, &error), expected);
        ck_assert_str_eq(error.field, "caption");
        if (wrong == 2)
            ck_assert_uint_eq(error.record, 2);
        lx_error_clear(&error);
        columns[CAPTION] = whole;
        ck_assert_uint_eq(lx_writer_get_length(writer), 0);
        columns_free(columns);
    }
    records_append(writer, 5);
    close_writer(writer);
    expect_dataset("d", 5);
    scratch_remove(scratch);
}
END_TEST

START_TEST(appends_records_larger_than_a_write_buffer)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = one_field("d", LX_BYTES, NULL);
    size_t sizes[] = {LX__WRITE_BUFFER_BYTES - 1,     LX__WRITE_BUFFER_BYTES,
                      LX__WRITE_BUFFER_BYTES + 1,     20,
                      5 * LX__WRITE_BUFFER_BYTES + 3, 9};
    uint8_t *data = malloc(6 * LX__WRITE_BUFFER_BYTES);
    for (size_t i = 0; i < 6 * LX__WRITE_BUFFER_BYTES; i++)
        data[i] = (uint8_t)mix(i);
    for (size_t i = 0; i < 6; i++) {
        lx_value value = {data + i, sizes[i]};
        unit_ok(lx_writer_append(writer, &value, 1, NULL, &error));
    }
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    uint8_t *back = malloc(6 * LX__WRITE_BUFFER_BYTES);
    for (uint64_t i = 0; i < 6; i++) {
        uint64_t offsets[2];
        unit_ok(lx_dataset_get_sizes(dataset, 0, &i, 1, offsets, NULL, &error));
        ck_assert_uint_eq(offsets[1], sizes[i]);
        unit_ok(lx_dataset_gather_bytes(dataset, 0, &i, 1, offsets, back, &error));
        ck_assert_mem_eq(back, data + i, sizes[i]);
    }
    free(data);
    free(back);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

/** The chunks must be these; bytes 0 ends the list. */
static void expect_chunks(const char *path, const lx__chunk_item *expected)
{
    lx_dataset *dataset = open_dataset(path);
    lx_chunk_stats info;
    size_t i;
    for (i = 0; expected[i].bytes != 0; i++) {
        ck_assert(chunk_at(dataset, i, &info));
        ck_assert_uint_eq(info.id, expected[i].id);
        ck_assert_uint_eq(info.payloads, expected[i].records);
        ck_assert_uint_eq(info.bytes, expected[i].bytes);
    }
    ck_assert(!chunk_at(dataset, i, &info));
    lx_dataset_close(dataset);
}

static void append_sizes(lx_writer *writer, const uint64_t *sizes, size_t count)
{
    static const uint8_t zeros[100000];
    for (size_t i = 0; i < count; i++) {
        lx_error error = LX_ERROR_INIT;
        lx_value value = {zeros, sizes[i]};
        unit_ok(lx_writer_append(writer, &value, 1, NULL, &error));
    }
}

START_TEST(chunks_are_full_by_records)
{
    char *scratch = scratch_make();
    static const uint64_t sizes[] = {16, 16, 16, 5, 16, 16, 0, LX_NONE, 16, 16};
    static const lx__chunk_item expected[] = {{0, 3, 48}, {1, 3, 48}, {2, 1, 16}, {0}};
    lx_writer *writer = one_field("d", LX_BYTES, chunks_of(3, 1 << 20));
    append_sizes(writer, sizes, 10);
    close_writer(writer);
    expect_chunks("d", expected);
    scratch_remove(scratch);
}
END_TEST

START_TEST(chunks_are_full_by_bytes)
{
    char *scratch = scratch_make();
    static const uint64_t sizes[] = {4000, 96, 4000, 97, 4096, 9, 4097, 9, 100000, 9, 9};
    static const lx__chunk_item expected[] = {
        {0, 2, 4096}, {1, 1, 4000}, {2, 1, 97},     {3, 1, 4096}, {4, 1, 9},
        {5, 1, 4097}, {6, 1, 9},    {7, 1, 100000}, {8, 2, 25},   {0}};
    lx_writer *writer = one_field("d", LX_BYTES, chunks_of(1000, 4096));
    append_sizes(writer, sizes, sizeof sizes / sizeof *sizes);
    close_writer(writer);
    expect_chunks("d", expected);
    scratch_remove(scratch);
}
END_TEST

START_TEST(many_commits_give_the_same_chunks)
{
    /* What is appended in one commit, and in many, with openings between them. */
    char *scratch = scratch_make();
    lx_writer *one = records_create("one", chunks_of(20, 5000));
    lx_writer *many = records_create("many", chunks_of(20, 5000));
    for (int i = 0; i < 40; i++) {
        records_append(one, 5);
        records_append(many, 5);
        commit(many);
        if (i % 7 == 6) {
            close_writer(many);
            many = records_reopen("many", NULL);
        }
    }
    close_writer(one);
    close_writer(many);
    lx_dataset *dataset = open_dataset("many");
    lx__chunk_item chunks[200] = {{0}};
    lx_chunk_stats info;
    for (size_t i = 0; chunk_at(dataset, i, &info); i++) {
        ck_assert(info.payloads <= 20 && info.bytes <= 5000);
        chunks[i] = (lx__chunk_item){info.id, (uint32_t)info.payloads, info.bytes};
    }
    lx_dataset_close(dataset);
    expect_dataset("one", 200);
    expect_dataset("many", 200);
    expect_chunks("one", chunks);
    scratch_remove(scratch);
}
END_TEST

START_TEST(writes_large_appends_to_the_tables)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint64_t count = 200000;
    uint32_t *numbers = malloc(count * sizeof *numbers);
    for (uint64_t i = 0; i < count; i++)
        numbers[i] = (uint32_t)mix(i);
    lx_writer *writer = one_field("d", LX_UINT32, NULL);
    lx_values column = {numbers, NULL, NULL};
    unit_ok(lx_writer_extend(writer, count, &column, 1, NULL, &error));
    commit(writer);
    lx_dataset *dataset = open_dataset("d");
    lx_storage_stats totals;
    unit_ok(lx_dataset_stat(dataset, &totals, NULL, &error));
    ck_assert_uint_eq(totals.length, count);
    ck_assert_uint_lt(totals.log_entries, 16385); /* the last ones may be few enough for the log */
    ck_assert_uint_eq(totals.table_bytes, (count - totals.log_entries) * 24);
    uint64_t *indices = malloc(count * sizeof *indices);
    uint32_t *back = malloc(count * sizeof *back);
    for (uint64_t i = 0; i < count; i++)
        indices[i] = i;
    unit_ok(lx_dataset_gather(dataset, 0, indices, count, back, 4, &error));
    ck_assert_mem_eq(back, numbers, count * 4);
    lx_dataset_close(dataset);
    close_writer(writer);
    free(indices);
    free(numbers);
    free(back);
    scratch_remove(scratch);
}
END_TEST

/* ---- failures */

START_TEST(undoes_and_reports_a_full_disk)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    records_append(writer, 100);
    commit(writer);
    static uint8_t large[300000];
    lx_value values[FIELDS] = {
        {NULL, LX_NONE}, {NULL, LX_NONE}, {NULL, LX_NONE}, {NULL, LX_NONE}, {large, sizeof large}};
    for (size_t i = 0; i < sizeof large; i++)
        large[i] = (uint8_t)mix(i);
    limit_files(2000000);
    lx_status status = LX_OK;
    for (int i = 0; i < 100 && status == LX_OK; i++)
        status = lx_writer_append(writer, values, FIELDS, NULL, &error);
    ck_assert_int_eq(status, LX_ERR_IO);
    ck_assert_int_eq(error.errnum, EFBIG);
    ck_assert_ptr_nonnull(strstr(error.path, "chunk/0.zr"));
    lx_error_clear(&error);
    /* No call is accepted, and nothing committed, until a rollback. */
    unit_fails(record_append(writer, 0, &error), LX_ERR_IO);
    unit_fails(lx_writer_commit(writer, &error), LX_ERR_IO);
    unit_fails(lx_writer_sync(writer, &error), LX_ERR_IO);
    unit_fails(lx_writer_begin_transaction(writer, &error), LX_ERR_IO);
    unit_fails(lx_writer_seal(writer, &error), LX_ERR_IO);
    expect_dataset("d", 100);
    unit_ok(lx_writer_rollback(writer, &error));
    ck_assert_uint_eq(lx_writer_get_length(writer), 100);
    records_append(writer, 50); /* even without more space */
    commit(writer);
    unlimit_files();
    records_append(writer, 50);
    close_writer(writer);
    expect_dataset("d", 200);
    scratch_remove(scratch);
}
END_TEST

START_TEST(close_loses_only_failed_calls)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    records_append(writer, 100);
    commit(writer);
    uint64_t log = file_size("d/LOG");
    static const uint8_t large[3000000];
    lx_value values[FIELDS] = {
        {NULL, LX_NONE}, {NULL, LX_NONE}, {NULL, LX_NONE}, {NULL, LX_NONE}, {large, sizeof large}};
    limit_files(log + 1000000);
    lx_status status = LX_OK;
    for (int i = 0; i < 20 && status == LX_OK; i++)
        status = lx_writer_append(writer, values, FIELDS, NULL, &error);
    ck_assert_int_eq(status, LX_ERR_IO);
    lx_error_clear(&error);
    unit_fails(lx_writer_close(writer, &error), LX_ERR_IO);
    unlimit_files();
    expect_dataset("d", 100);
    close_writer(records_reopen("d", NULL));
    expect_dataset("d", 100);
    scratch_remove(scratch);
}
END_TEST

/* ---- threads */

struct appender {
    lx_writer *writer;
    uint32_t number;
    pthread_t thread;
    uint64_t indices[2000];
};

static void *append_numbers(void *user)
{
    struct appender *self = user;
    for (uint32_t i = 0; i < 2000; i++) {
        lx_error error = LX_ERROR_INIT;
        uint64_t number = (uint64_t)self->number << 32 | i;
        lx_value value = {&number, 8};
        unit_ok(lx_writer_append(self->writer, &value, 1, &self->indices[i], &error));
        if (i % 100 == 99)
            unit_ok(lx_writer_commit(self->writer, &error));
    }
    return NULL;
}

START_TEST(threads_append_to_one_writer)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static struct appender appenders[2];
    lx_writer *writer = one_field("d", LX_UINT64, writer_options(LX_DURABILITY_PERIODIC));
    for (uint32_t i = 0; i < 2; i++) {
        appenders[i].writer = writer;
        appenders[i].number = i;
        ck_assert_int_eq(pthread_create(&appenders[i].thread, NULL, append_numbers, &appenders[i]),
                         0);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(appenders[i].thread, NULL);
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 4000);
    for (uint32_t t = 0; t < 2; t++) {
        uint64_t back[2000];
        unit_ok(lx_dataset_gather(dataset, 0, appenders[t].indices, 2000, back, 8, &error));
        for (uint32_t i = 0; i < 2000; i++) {
            ck_assert_uint_eq(back[i], (uint64_t)t << 32 | i);
            ck_assert(i == 0 || appenders[t].indices[i] > appenders[t].indices[i - 1]);
        }
    }
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(periodic_commits_by_itself)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    size_t size = 4u << 20;
    uint8_t *data = calloc(size, 1);
    lx_value value = {data, size};
    lx_writer *writer = one_field("d", LX_BYTES, writer_options(LX_DURABILITY_PERIODIC));
    for (int i = 0; i < 63; i++)
        unit_ok(lx_writer_append(writer, &value, 1, NULL, &error));
    expect_dataset("d", 0);
    unit_ok(lx_writer_append(writer, &value, 1, NULL, &error)); /* 256 MiB */
    lx_dataset *dataset = open_dataset("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 64);
    /* But not within a transaction. */
    unit_ok(lx_writer_begin_transaction(writer, &error));
    for (int i = 0; i < 65; i++)
        unit_ok(lx_writer_append(writer, &value, 1, NULL, &error));
    unit_ok(lx_dataset_refresh(dataset, NULL, &error));
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 64);
    unit_ok(lx_writer_rollback(writer, &error));
    lx_dataset_close(dataset);
    close_writer(writer);
    free(data);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_more_records_than_a_dataset_can_have)
{
    static const uint64_t counts[] = {UINT64_MAX, 1ull << 63, 1ull << 59, LX__LENGTH_MAX - 2};
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    const lx_values missing[FIELDS] = {{NULL, NULL, NULL}};
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, 3);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        unit_fails(lx_writer_extend(writer, counts[i], missing, FIELDS, NULL, &error),
                   LX_ERR_LIMIT);
    records_append(writer, 2); /* nothing was appended, and appending continues */
    close_writer(writer);
    expect_dataset("d", 5);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/append", reads_back_appended_records, appends_many_as_one_by_one,
          a_column_without_data_is_missing, stores_inline_values_of_each_length,
          rejects_a_value_of_the_wrong_size, rejects_values_for_the_fields_of_an_older_schema,
          checks_all_arguments_before_appending, appends_records_larger_than_a_write_buffer,
          chunks_are_full_by_records, chunks_are_full_by_bytes, many_commits_give_the_same_chunks,
          writes_large_appends_to_the_tables, undoes_and_reports_a_full_disk,
          close_loses_only_failed_calls, threads_append_to_one_writer, periodic_commits_by_itself,
          rejects_more_records_than_a_dataset_can_have)
