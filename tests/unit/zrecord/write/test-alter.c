/* SPDX-License-Identifier: MIT */
/* Fields that are added, dropped and renamed: doc/zrecord-format.md, 3.3, 4.8 and 11.5. */
#include "../change.h"
#include "zrecord/write/install.h"

static void add(lx_writer *writer, const char *name, lx_dtype dtype)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_add_field(writer, name, dtype, NULL, 0, LX_COMPRESSION_RAW, &error));
}

static size_t position_of(const lx_schema *schema, const char *name)
{
    lx_error error = LX_ERROR_INIT;
    size_t position;
    unit_ok(lx_schema_find_field(schema, name, &position, &error));
    return position;
}

/** The number at @p index of a field; LX_NONE if it is missing. */
static uint64_t number_at(const char *path, const char *field, uint64_t index)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t value[VALUE_MAX] = {0};
    uint64_t size, number;
    bool there;
    lx_dataset *dataset = open_dataset(path);
    size_t position = position_of(lx_dataset_get_schema(dataset), field);
    unit_ok(read_value(dataset, position, index, value, &size, &there, &error));
    lx_dataset_close(dataset);
    memcpy(&number, value, sizeof number);
    return there ? number : LX_NONE;
}

static void set_number(lx_writer *writer, const char *field, uint64_t index, uint64_t number)
{
    lx_error error = LX_ERROR_INIT;
    size_t position = position_of(lx_writer_get_schema(writer), field);
    unit_ok(lx_writer_modify(writer, index, &position, &(lx_value){&number, 8}, 1, &error));
}

/** Appends record @p index of records.h, and a number for each field after it. */
static void append_with(lx_writer *writer, uint64_t index, uint64_t number)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t memory[FIELDS][VALUE_MAX];
    lx_value values[FIELDS + 8];
    record_values(index, memory, values);
    size_t count = lx_schema_get_field_count(lx_writer_get_schema(writer));
    for (size_t i = FIELDS; i < count; i++)
        values[i] = (lx_value){&number, 8};
    unit_ok(lx_writer_append(writer, values, count, NULL, &error));
}

START_TEST(a_new_field_is_missing_until_it_is_written)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 20, 5);
    lx_writer *writer = records_reopen("d", NULL);
    records_append(writer, 5); /* not committed yet */
    const lx_schema *before = lx_writer_get_schema(writer);
    add(writer, "score", LX_UINT64);
    ck_assert_uint_eq(lx_schema_get_field_count(before), FIELDS);
    const lx_schema *after = lx_writer_get_schema(writer);
    ck_assert_uint_eq(lx_schema_get_field_count(after), FIELDS + 1);
    const lx_field *field = lx_schema_get_field(after, FIELDS);
    ck_assert_str_eq(field->name, "score");
    ck_assert_uint_eq(field->id, FIELDS);
    ck_assert_uint_eq(file_size("d/score.offset"), 30 * 16);
    ck_assert_uint_eq(file_size("d/score.check"), 30 * 8);
    for (uint64_t i = 0; i < 30; i++)
        ck_assert_uint_eq(number_at("d", "score", i), LX_NONE);
    append_with(writer, 30, 77);
    set_number(writer, "score", 3, 5);
    commit(writer);
    unit_ok(lx_writer_checkpoint(writer, &error));
    set_number(writer, "score", 4, 6);
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
    close_writer(writer);
    ck_assert_uint_eq(number_at("d", "score", 3), 5);
    ck_assert_uint_eq(number_at("d", "score", 4), 6);
    ck_assert_uint_eq(number_at("d", "score", 5), LX_NONE);
    ck_assert_uint_eq(number_at("d", "score", 30), 77);
    lx_dataset *dataset = open_dataset("d");
    expect_records(dataset, 31);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(adds_fields_of_any_kind)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const uint64_t shape[] = {2, 3};
    records_make("d", 4, 0);
    lx_writer *writer = records_reopen("d", NULL);
    unit_ok(
        lx_writer_add_field(writer, "mask", LX_FLOAT32, shape, 2, LX_COMPRESSION_FLATE, &error));
    unit_ok(lx_writer_add_field(writer, "text", LX_BYTES, NULL, 0, LX_COMPRESSION_RAW, &error));
    const lx_field *mask = lx_schema_get_field(lx_writer_get_schema(writer), FIELDS);
    ck_assert_uint_eq(mask->size, 24);
    ck_assert_uint_eq(mask->ndim, 2);
    unit_fails(lx_writer_add_field(writer, "a b", LX_INT8, NULL, 0, LX_COMPRESSION_RAW, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_writer_add_field(writer, "x", (lx_dtype)99, NULL, 0, LX_COMPRESSION_RAW, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_writer_add_field(writer, "x", LX_INT8, NULL, 0, (lx_compression)9, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_writer_add_field(writer, "x", LX_BYTES, shape, 2, LX_COMPRESSION_RAW, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_writer_add_field(writer, "mask", LX_INT8, NULL, 0, LX_COMPRESSION_RAW, &error),
               LX_ERR_EXISTS);
    unit_refuses_null(
        lx_writer_add_field(writer, NULL, LX_INT8, NULL, 0, LX_COMPRESSION_RAW, &error), "name");
    unit_refuses_null(
        lx_writer_add_field(writer, "x", LX_INT8, NULL, 1, LX_COMPRESSION_RAW, &error), "shape");
    unit_refuses_null(lx_writer_add_field(NULL, "x", LX_INT8, NULL, 0, LX_COMPRESSION_RAW, &error),
                      "writer");
    ck_assert_uint_eq(lx_schema_get_field_count(lx_writer_get_schema(writer)), FIELDS + 2);
    ck_assert_uint_eq(names_with("d", "x."), 0);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    expect_records(dataset, 4);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(drops_a_field)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 20, 0);
    lx_writer *writer = records_reopen("d", NULL);
    add(writer, "score", LX_UINT64);
    set_number(writer, "score", 7, 70); /* a live update, of a field whose position changes */
    set_number(writer, "label", 8, 80); /* and of a dropped one */
    unit_ok(lx_writer_drop_field(writer, "label", &error));
    ck_assert(!file_exists("d/label.offset"));
    ck_assert(!file_exists("d/label.check"));
    const lx_schema *schema = lx_writer_get_schema(writer);
    ck_assert_uint_eq(lx_schema_get_field_count(schema), FIELDS);
    ck_assert_uint_eq(position_of(schema, "score"), FIELDS - 1);
    ck_assert_uint_eq(number_at("d", "score", 7), 70);
    set_number(writer, "score", 8, 81);
    commit(writer);
    ck_assert_uint_eq(number_at("d", "score", 8), 81);
    unit_ok(lx_writer_checkpoint(writer, &error));
    ck_assert_uint_eq(number_at("d", "score", 7), 70);
    ck_assert_uint_eq(number_at("d", "score", 8), 81);
    lx_status status = lx_writer_drop_field(writer, "label", &error);
    expect_error(status, LX_ERR_NOT_FOUND, "image", "");
    unit_refuses_null(lx_writer_drop_field(writer, NULL, &error), "name");
    /* Reopening shows the same, although the log may hold updates of the dropped field. */
    close_writer(writer);
    writer = records_reopen("d", NULL);
    ck_assert_uint_eq(lx_schema_get_field_count(lx_writer_get_schema(writer)), FIELDS);
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    for (uint64_t i = 0; i < 20; i++) {
        expect_value_of(dataset, IMAGE, i, i);
        uint8_t right[VALUE_MAX], got[VALUE_MAX];
        uint64_t size, wanted = record_value(BLOB, i, right);
        bool there;
        unit_ok(read_value(dataset, BLOB - 1, i, got, &size, &there, &error));
        ck_assert(there == (wanted != LX_NONE));
        ck_assert(!there || (size == wanted && memcmp(got, right, size) == 0));
    }
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(keeps_the_last_field)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    static const char *const names[] = {"image", "label", "wave", "caption"};
    for (size_t i = 0; i < 4; i++)
        unit_ok(lx_writer_drop_field(writer, names[i], &error));
    lx_status status = lx_writer_drop_field(writer, "blob", &error);
    expect_error(status, LX_ERR_ARGUMENT, "blob", "");
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    ck_assert_uint_eq(lx_schema_get_field_count(lx_dataset_get_schema(dataset)), 1);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

/** The stem of the last field. */
static const char *last_stem(const lx_writer *writer)
{
    const lx_schema *schema = lx_writer_get_schema(writer);
    return lx__schema_field(schema, schema->count - 1)->stem;
}

START_TEST(never_reuses_stems_and_ids)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 5, 0);
    lx_writer *writer = records_reopen("d", NULL);
    add(writer, "score", LX_UINT64);
    ck_assert_str_eq(last_stem(writer), "score");
    unit_ok(lx_writer_rename_field(writer, "score", "points", &error));
    ck_assert_str_eq(last_stem(writer), "score");
    add(writer, "score", LX_UINT64);
    ck_assert_str_eq(last_stem(writer), "score~6");
    unit_ok(lx_writer_drop_field(writer, "score", &error));
    add(writer, "score", LX_UINT64);
    ck_assert_str_eq(last_stem(writer), "score~7");
    add(writer, "other", LX_UINT64); /* the dropped fields are unknown */
    ck_assert_str_eq(last_stem(writer), "other~8");
    close_writer(writer);
    writer = records_reopen("d", NULL);
    unit_ok(lx_writer_drop_field(writer, "other", &error));
    add(writer, "other", LX_UINT64);
    ck_assert_str_eq(last_stem(writer), "other~9");
    set_number(writer, "other", 1, 11);
    set_number(writer, "points", 1, 12);
    close_writer(writer);
    ck_assert_uint_eq(number_at("d", "other", 1), 11);
    ck_assert_uint_eq(number_at("d", "points", 1), 12);
    ck_assert_uint_eq(number_at("d", "score", 1), LX_NONE);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_renamed_field_keeps_its_values)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 10, 3);
    lx_writer *writer = records_reopen("d", NULL);
    unit_ok(lx_writer_rename_field(writer, "label", "class", &error));
    ck_assert_uint_eq(position_of(lx_writer_get_schema(writer), "class"), LABEL);
    unit_fails(lx_writer_rename_field(writer, "label", "x", &error), LX_ERR_NOT_FOUND);
    lx_status status = lx_writer_rename_field(writer, "class", "image", &error);
    expect_error(status, LX_ERR_EXISTS, "field 'image' already exists", "");
    unit_fails(lx_writer_rename_field(writer, "class", ".x", &error), LX_ERR_ARGUMENT);
    unit_ok(lx_writer_rename_field(writer, "class", "class", &error));
    unit_refuses_null(lx_writer_rename_field(writer, NULL, "x", &error), "name");
    unit_refuses_null(lx_writer_rename_field(writer, "class", NULL, &error), "to");
    records_append(writer, 2);
    close_writer(writer);
    ck_assert_uint_eq(generation_of("d"), 0);
    expect_dataset("d", 15);
    scratch_remove(scratch);
}
END_TEST

START_TEST(readers_continue_with_their_fields)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 20, 3);
    lx_dataset *before = open_dataset("d");
    lx_writer *writer = records_reopen("d", NULL);
    add(writer, "score", LX_UINT64);
    unit_ok(lx_writer_drop_field(writer, "caption", &error));
    unit_ok(lx_writer_rename_field(writer, "blob", "data", &error));
    ck_assert(file_exists("d/caption.offset")); /* a reader uses it */
    expect_records(before, 23);
    close_writer(writer);
    ck_assert(file_exists("d/caption.offset"));
    expect_records(before, 23);
    lx_dataset_close(before);
    close_writer(records_reopen("d", NULL));
    ck_assert(!file_exists("d/caption.offset"));
    ck_assert(!file_exists("d/caption.check"));
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_open_transactions_and_sealed_datasets)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    unit_ok(lx_writer_begin_transaction(writer, &error));
    unit_fails(lx_writer_add_field(writer, "x", LX_INT8, NULL, 0, LX_COMPRESSION_RAW, &error),
               LX_ERR_STATE);
    unit_fails(lx_writer_drop_field(writer, "label", &error), LX_ERR_STATE);
    unit_fails(lx_writer_rename_field(writer, "label", "x", &error), LX_ERR_STATE);
    unit_ok(lx_writer_end_transaction(writer, &error));
    unit_ok(lx_writer_seal(writer, &error));
    unit_fails(lx_writer_add_field(writer, "x", LX_INT8, NULL, 0, LX_COMPRESSION_RAW, &error),
               LX_ERR_STATE);
    unit_fails(lx_writer_drop_field(writer, "label", &error), LX_ERR_STATE);
    unit_fails(lx_writer_rename_field(writer, "label", "x", &error), LX_ERR_STATE);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_more_than_the_limits)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 3, 0);
    file_edit("d/meta.json", "\"next_field\": 5", "\"next_field\": 4294967294");
    lx_writer *writer = records_reopen("d", NULL);
    add(writer, "last", LX_UINT64);
    ck_assert_str_eq(last_stem(writer), "last~4294967294");
    lx_status status = lx_writer_add_field(writer, "more", LX_INT8, NULL, 0, LX_COMPRESSION_RAW,
                                           &error);
    expect_error(status, LX_ERR_LIMIT, "ids", "");
    close_writer(writer);
    expect_dataset("d", 3);
    scratch_remove(scratch);
}
END_TEST

/* ---- failures */

static lx_status change_fields(lx_writer *writer, int what, lx_error *error)
{
    return what == 0
               ? lx_writer_add_field(writer, "score", LX_UINT64, NULL, 0, LX_COMPRESSION_RAW, error)
           : what == 1 ? lx_writer_drop_field(writer, "blob", error)
                       : lx_writer_rename_field(writer, "blob", "data", error);
}

static bool is_changed(const char *path, int what)
{
    size_t position;
    lx_dataset *dataset = open_dataset(path);
    const lx_schema *schema = lx_dataset_get_schema(dataset);
    bool changed = what == 0   ? lx_schema_get_field_count(schema) == FIELDS + 1
                   : what == 1 ? lx_schema_get_field_count(schema) == FIELDS - 1
                               : lx_schema_find_field(schema, "data", &position, NULL) == LX_OK;
    lx_dataset_close(dataset);
    return changed;
}

START_TEST(a_failed_sync_poisons_the_writer_and_leaves_whole_files)
{
    char *scratch = scratch_make();
    records_make("made", 12, 0);
    for (int what = 0; what < 3; what++) {
        for (unsigned n = 1;; n++) {
            lx_error error = LX_ERROR_INIT;
            char path[16];
            snprintf(path, sizeof path, "d%d-%u", what, n);
            directory_copy("made", path);
            lx_writer *writer = records_reopen(path, NULL);
            atomic_store(&sync_fails_at, atomic_load(&syncs) + n);
            lx_status status = change_fields(writer, what, &error);
            atomic_store(&sync_fails_at, 0);
            lx_error_clear(&error);
            if (status == LX_OK) {
                ck_assert(is_changed(path, what));
                ck_assert_uint_eq(n, what == 0 ? 6 : 4);
                close_writer(writer);
                break;
            }
            ck_assert_int_eq(status, LX_ERR_POISONED);
            ck_assert(is_changed(path, what) == (n == (what == 0 ? 5 : 3)));
            size_t tables = what == 0 && is_changed(path, what) ? 2 : 0;
            ck_assert_uint_eq(names_with(path, "score"), tables);
            ck_assert_int_eq(lx_writer_close(writer, NULL), LX_ERR_POISONED);
            writer = records_reopen(path, NULL);
            if (!is_changed(path, what))
                unit_ok(change_fields(writer, what, &error));
            close_writer(writer);
            ck_assert(is_changed(path, what));
            lx_dataset *dataset = open_dataset(path);
            unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
            lx_dataset_close(dataset);
        }
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_failed_change_leaves_fields_unchanged)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 100, 0);
    lx_writer *writer = records_reopen("d", NULL);
    limit_files(1000);
    lx_status status = lx_writer_add_field(writer, "score", LX_UINT64, NULL, 0, LX_COMPRESSION_RAW,
                                           &error);
    unlimit_files();
    expect_error(status, LX_ERR_IO, "", "score.offset");
    ck_assert_uint_eq(names_with("d", "score"), 0);
    limit_files(100);
    unit_fails(lx_writer_drop_field(writer, "blob", &error), LX_ERR_IO);
    unit_fails(lx_writer_rename_field(writer, "blob", "data", &error), LX_ERR_IO);
    unlimit_files();
    limit_descriptors(20);
    unit_fails(lx_writer_add_field(writer, "score", LX_UINT64, NULL, 0, LX_COMPRESSION_RAW, &error),
               LX_ERR_IO);
    limit_descriptors(1024);
    records_append(writer, 3);
    close_writer(writer);
    expect_dataset("d", 103);
    scratch_remove(scratch);
}
END_TEST

START_TEST(ignores_files_of_an_interrupted_addition)
{
    char *scratch = scratch_make();
    static const uint8_t zeros[1000];
    records_make("d", 7, 0);
    lx_writer *writer = records_reopen("d", NULL);
    file_put("d/score.offset", zeros, sizeof zeros);
    file_put("d/score.check.7", "", 0);
    add(writer, "score", LX_UINT64);
    ck_assert_uint_eq(file_size("d/score.offset"), 7 * 16); /* it was not overwritten */
    ck_assert(!file_exists("d/score.check.7"));
    close_writer(writer);
    for (uint64_t i = 0; i < 7; i++)
        ck_assert_uint_eq(number_at("d", "score", i), LX_NONE);
    scratch_remove(scratch);
}
END_TEST

START_TEST(does_not_overwrite_foreign_files)
{
    static const char *const names[] = {"d/score.offset", "d/score.check", "d/score.dict",
                                        "d/score.offset.4", "d/score.check.4294967295"};
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 7, 0);
    lx_writer *writer = records_reopen("d", NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        file_put(names[i], "mine", 4);
        lx_status status = lx_writer_add_field(writer, "score", LX_UINT64, NULL, 0,
                                               LX_COMPRESSION_RAW, &error);
        expect_error(status, LX_ERR_EXISTS, strchr(names[i], '/') + 1, "d");
        ck_assert_uint_eq(file_size(names[i]), 4);
        unlink(names[i]);
        lx_error_clear(&error);
    }
    add(writer, "score", LX_UINT64);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/alter", a_new_field_is_missing_until_it_is_written, adds_fields_of_any_kind,
          drops_a_field, keeps_the_last_field, never_reuses_stems_and_ids,
          a_renamed_field_keeps_its_values, readers_continue_with_their_fields,
          rejects_open_transactions_and_sealed_datasets, rejects_more_than_the_limits,
          a_failed_sync_poisons_the_writer_and_leaves_whole_files,
          a_failed_change_leaves_fields_unchanged, ignores_files_of_an_interrupted_addition,
          does_not_overwrite_foreign_files)
