/* SPDX-License-Identifier: MIT */
/* Conversion of a field to another type: lib/zrecord/maintenance/convert.c. */
#include "../change.h"

#define COUNT 9000 /* several blocks */

/** What the function below does. */
struct work {
    uint64_t next;  /* the record with which the next call must begin */
    uint64_t fails; /* the record at which it fails */
    lx_status status;
    bool invalid; /* it returns a value that is not UTF-8 */
    char text[4096][32];
    char joined[4096 * 32];
    uint64_t offsets[4097];
    uint8_t present[4096];
};

/** Converts labels to texts. Record 5 gets no value. */
static lx_status to_text(const lx_values *values, uint64_t count, lx_values *converted, void *user,
                         lx_error *error)
{
    struct work *work = user;
    work->offsets[0] = 0;
    ck_assert_uint_le(count, 4096);
    for (uint64_t i = 0; i < count; i++, work->next++) {
        int64_t label;
        ck_assert_uint_eq(values->offsets[i + 1] - values->offsets[i], 8);
        memcpy(&label, (const uint8_t *)values->data + values->offsets[i], 8);
        ck_assert_int_eq(label, (int64_t)mix(work->next));
        if (work->next == work->fails)
            return work->invalid ? LX_OK : lx_fail(error, work->status, "no");
        work->present[i] = work->next != 5;
        int size = snprintf(work->joined + work->offsets[i], 32, "label %lld%s", (long long)label,
                            work->invalid && work->next == 4500 ? "\xff" : "");
        work->offsets[i + 1] = work->offsets[i] + (work->present[i] ? (uint64_t)size : 0);
    }
    *converted = (lx_values){work->joined, work->offsets, work->present};
    return LX_OK;
}

static void make(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "before", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_schema_add_field(schema, "label", LX_INT64, NULL, 0, LX_COMPRESSION_FLATE, &error));
    unit_ok(lx_schema_add_field(schema, "after", LX_BYTES, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create(path, schema, NULL, &writer, &error));
    lx_schema_free(schema);
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t label = i % 7 == 0 ? 0 : mix(i);
        const lx_value values[] = {{&i, 8}, {&label, 8}, {"0123456789", 1 + i % 10}};
        unit_ok(lx_writer_append(writer, values, 3, NULL, &error));
    }
    commit(writer);
    for (uint64_t i = 0; i < COUNT; i += 7) { /* updates in the log */
        uint64_t label = mix(i);
        size_t field = 1;
        unit_ok(lx_writer_modify(writer, i, &field, &(lx_value){&label, 8}, 1, &error));
    }
    close_writer(writer);
}

/** Checks the other fields, and the labels as texts or as numbers. */
static void expect(const char *path, bool texts)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = open_dataset(path);
    ck_assert_uint_eq(lx_dataset_get_length(dataset), COUNT);
    ck_assert_int_eq(lx_schema_get_field(lx_dataset_get_schema(dataset), 1)->dtype,
                     texts ? LX_STR : LX_INT64);
    for (uint64_t i = 0; i < COUNT; i++) {
        uint8_t value[VALUE_MAX], wanted[VALUE_MAX];
        uint64_t size, label = mix(i);
        bool there;
        unit_ok(read_value(dataset, 0, i, value, &size, &there, &error));
        ck_assert(size == 8 && memcmp(value, &i, 8) == 0);
        unit_ok(read_value(dataset, 2, i, value, &size, &there, &error));
        ck_assert(size == 1 + i % 10 && memcmp(value, "0123456789", size) == 0);
        unit_ok(read_value(dataset, 1, i, value, &size, &there, &error));
        memcpy(wanted, &label, 8);
        int length = texts ? sprintf((char *)wanted, "label %lld", (long long)label) : 8;
        ck_assert(there == (!texts || i != 5));
        ck_assert(!there || (size == (uint64_t)length && memcmp(value, wanted, size) == 0));
    }
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
}

static lx_status convert(lx_writer *writer, struct work *work, lx_error *error)
{
    work->next = 0;
    return lx_writer_convert_field(writer, "label", LX_STR, NULL, 0, to_text, work, error);
}

START_TEST(converts_values_and_nothing_else)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct work *work = calloc(1, sizeof *work);
    work->fails = LX_NONE;
    make("d");
    lx_dataset *reader = open_dataset("d");
    lx_writer *writer = records_reopen("d", NULL);
    uint64_t tables = file_size("d/before.offset");
    unit_ok(convert(writer, work, &error));
    ck_assert_uint_eq(work->next, COUNT);
    expect("d", true);
    ck_assert_uint_eq(file_size("d/before.offset"), tables); /* not of a new table generation */
    const lx_field *field = lx_schema_get_field(lx_writer_get_schema(writer), 1);
    ck_assert_str_eq(field->name, "label");
    ck_assert_uint_eq(field->id, 3);
    ck_assert_int_eq(field->compression, LX_COMPRESSION_FLATE);
    /* A reader that has the old field keeps its snapshot, and cannot refresh. */
    uint64_t index = 17, label;
    unit_ok(lx_dataset_gather(reader, 1, &index, 1, &label, 8, &error));
    ck_assert_uint_eq(label, mix(17));
    unit_fails(lx_dataset_refresh(reader, NULL, &error), LX_ERR_STATE);
    lx_dataset_close(reader);
    /* The writer goes on, as does the next one. */
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
    close_writer(writer);
    expect("d", true);
    ck_assert(!file_exists("d/label.offset"));
    writer = records_reopen("d", NULL);
    unit_ok(lx_writer_checkpoint(writer, &error));
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    expect("d", true);
    free(work);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_failure_changes_nothing)
{
    char *scratch = scratch_make();
    struct work *work = calloc(1, sizeof *work);
    static const struct {
        lx_status status, result;
    } cases[] = {{LX_ERR_TIMEOUT, LX_ERR_TIMEOUT},
                 {LX_ERR_POISONED, LX_ERR_POISONED},
                 {LX_END, LX_ERR_CALLBACK}};
    make("d");
    lx_writer *writer = records_reopen("d", NULL);
    for (size_t i = 0; i < 3; i++) {
        lx_error error = LX_ERROR_INIT;
        work->fails = i == 0 ? 0 : 5000; /* after a block was stored */
        work->status = cases[i].status;
        ck_assert_int_eq(convert(writer, work, &error), cases[i].result);
        expect("d", false);
    }
    lx_error error = LX_ERROR_INIT;
    work->fails = LX_NONE;
    work->invalid = true;
    lx_status status = convert(writer, work, &error);
    ck_assert_str_eq(error.field, "label");
    ck_assert_uint_eq(error.record, 4500);
    expect_error(status, LX_ERR_ARGUMENT, "UTF-8", "");
    expect("d", false);
    work->invalid = false;
    lx_error_clear(&error);
    unit_ok(convert(writer, work, &error)); /* the writer is still usable */
    close_writer(writer);
    expect("d", true);
    free(work);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const uint64_t shape[] = {1};
    struct work *work = calloc(1, sizeof *work);
    records_make("d", 5, 0);
    lx_writer *writer = records_reopen("d", NULL);
    unit_refuses_null(
        lx_writer_convert_field(NULL, "label", LX_STR, NULL, 0, to_text, work, &error), "writer");
    unit_refuses_null(lx_writer_convert_field(writer, NULL, LX_STR, NULL, 0, to_text, work, &error),
                      "name");
    unit_refuses_null(lx_writer_convert_field(writer, "label", LX_STR, NULL, 0, NULL, work, &error),
                      "function");
    unit_refuses_null(
        lx_writer_convert_field(writer, "label", LX_INT8, NULL, 1, to_text, work, &error), "shape");
    unit_fails(lx_writer_convert_field(writer, "none", LX_STR, NULL, 0, to_text, work, &error),
               LX_ERR_NOT_FOUND);
    unit_fails(lx_writer_convert_field(writer, "label", LX_STR, shape, 1, to_text, work, &error),
               LX_ERR_ARGUMENT);
    unit_fails(
        lx_writer_convert_field(writer, "label", (lx_dtype)99, NULL, 0, to_text, work, &error),
        LX_ERR_ARGUMENT);
    unit_ok(lx_writer_begin_transaction(writer, &error));
    unit_fails(lx_writer_convert_field(writer, "label", LX_STR, NULL, 0, to_text, work, &error),
               LX_ERR_STATE);
    unit_ok(lx_writer_end_transaction(writer, &error));
    close_writer(writer);
    expect_dataset("d", 5);
    free(work);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/convert", converts_values_and_nothing_else, a_failure_changes_nothing,
          rejects_invalid_arguments)
