/* SPDX-License-Identifier: MIT */
/* The states of datasets: lib/loader/sources/dataset-state.c. */
#include "loader/sources/dataset-state.h"

#include <loaderx/hooks.h>
#include <loaderx/maintenance.h>
#include <loaderx/source.h>

#include "../../scratch.h"
#include "../loaders.h"
#include "sampler/core/saved-state.h"

#define RECORDS 20
#define STATE_MAX 1024

static lx_writer *reopen(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    unit_ok(lx_writer_open("d", NULL, &writer, &error));
    return writer;
}

static void append(lx_writer *writer, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    for (uint64_t i = 0; i < count; i++)
        unit_ok(lx_writer_append(writer, &(lx_value){&i, 8}, 1, NULL, &error));
}

static void change(lx_writer *writer, uint64_t index)
{
    lx_error error = LX_ERROR_INIT;
    const uint64_t value = 5000;
    unit_ok(lx_writer_modify(writer, index, (size_t[]){0}, &(lx_value){&value, 8}, 1, &error));
}

static void close_writer(lx_writer *writer)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_close(writer, &error));
}

/** Makes a dataset with an update in its log, so that a seal writes new tables. */
static void make(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    lx_writer *writer;
    unit_ok(lx_schema_add_field(schema, "label", LX_UINT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
    append(writer, RECORDS);
    unit_ok(lx_writer_checkpoint(writer, &error));
    change(writer, 3);
    close_writer(writer);
    lx_schema_free(schema);
}

static lx_source *open_source(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    lx_dataset_options *options = lx_dataset_options_new();
    unit_ok(lx_dataset_options_set_length(options, RECORDS, &error));
    unit_ok(lx_source_open("d", options, &source, &error));
    lx_dataset_options_free(options);
    return source;
}

static void save(char text[STATE_MAX])
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source = open_source();
    unit_ok(lx_source_save(source, text, STATE_MAX, NULL, &error));
    lx_source_unref(source);
}

static void count_warnings(lx_log_level level, const char *message, void *user)
{
    if (level == LX_LOG_WARNING && strstr(message, "not known whether records changed") != NULL)
        ++*(int *)user;
}

/** Matches the dataset with a state, and counts the warnings. */
static lx_status match(const char *text, bool changed, int *warnings, lx_error *error)
{
    lx_source *source = open_source();
    *warnings = 0;
    lx_set_log_hook(count_warnings, warnings);
    lx_status status = lx_source_match(source, text, changed, error);
    lx_set_log_hook(NULL, NULL);
    lx_source_unref(source);
    return status;
}

static void expect_match(const char *text)
{
    lx_error error = LX_ERROR_INIT;
    int warnings;
    unit_ok(match(text, false, &warnings, &error));
    ck_assert_int_eq(warnings, 0);
}

static void expect_changes(const char *text)
{
    lx_error error = LX_ERROR_INIT;
    int warnings;
    ck_assert_int_eq(match(text, false, &warnings, &error), LX_ERR_MISMATCH);
    ck_assert_ptr_nonnull(strstr(error.message, "records changed after the state was saved"));
    ck_assert_ptr_nonnull(strstr(error.message, "not known which records changed"));
    ck_assert_ptr_nonnull(strstr(error.message, "changed='allow'"));
    ck_assert_str_eq(error.field, "label");
    lx_error_clear(&error);
    unit_ok(match(text, true, &warnings, &error));
    ck_assert_int_eq(warnings, 0);
}

static void do_checkpoint(lx_writer *writer)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_checkpoint(writer, &error));
}

static void do_rebalance(lx_writer *writer)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
}

static void do_seal(lx_writer *writer)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_seal(writer, &error));
}

static void (*const rewrites[])(lx_writer *writer) = {do_checkpoint, do_rebalance, do_seal};

static void append_some(lx_writer *writer)
{
    append(writer, 5);
}

static void change_one(lx_writer *writer)
{
    change(writer, 7);
}

static void replace_the_last(lx_writer *writer)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_truncate(writer, RECORDS - 2, &error));
    unit_ok(lx_writer_commit(writer, &error));
    append(writer, 2);
}

static void do_with_writer(void (*what)(lx_writer *writer))
{
    lx_writer *writer = reopen();
    what(writer);
    close_writer(writer);
}

/** Saves a state, performs @p what, rewrites the tables in each possible way, and checks whether a
 * source matches the state. */
static void check_rewrites(void (*what)(lx_writer *writer), void (*expect)(const char *text))
{
    for (size_t i = 0; i < sizeof rewrites / sizeof *rewrites; i++) {
        char *scratch = scratch_make(), text[STATE_MAX];
        make();
        save(text);
        do_with_writer(what);
        do_with_writer(rewrites[i]);
        expect(text);
        save(text);
        expect_match(text);
        scratch_remove(scratch);
    }
}

START_TEST(rewritten_tables_change_nothing)
{
    check_rewrites(append_some, expect_match);
}
END_TEST

START_TEST(changes_are_reported_although_tables_were_rewritten)
{
    check_rewrites(change_one, expect_changes);
    check_rewrites(replace_the_last, expect_changes);
}
END_TEST

/** Replaces the numbers of changes in a state, or removes them, and restores its checksum. */
static void replace_changes(char text[STATE_MAX], json_t *changes)
{
    lx_error error = LX_ERROR_INIT;
    json_t *state;
    unit_ok(lx__json_parse(text, strlen(text), &state, &error));
    json_t *dataset = json_array_get(json_object_get(state, "datasets"), 0);
    ck_assert_ptr_nonnull(json_object_get(dataset, "changes"));
    (void)json_object_del(dataset, "changes");
    (void)json_object_del(state, "crc32c");
    if (changes != NULL)
        (void)json_object_set_new(dataset, "changes", changes);
    unit_ok(lx__state_write(state, text, STATE_MAX, NULL, &error));
    json_decref(state);
}

START_TEST(a_state_without_numbers_of_changes_causes_a_warning)
{
    lx_error error = LX_ERROR_INIT;
    int warnings;
    char *scratch = scratch_make(), text[STATE_MAX];
    make();
    save(text);
    replace_changes(text, NULL);
    do_with_writer(do_checkpoint);
    unit_ok(match(text, false, &warnings, &error));
    ck_assert_int_eq(warnings, 1);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_invalid_numbers_of_changes)
{
    char *scratch = scratch_make(), good[STATE_MAX], text[STATE_MAX];
    make();
    save(good);
    do_with_writer(do_checkpoint);
    json_t *const values[] = {json_integer(1),
                              json_null(),
                              json_array(),
                              json_pack("{s:n}", "0"),
                              json_pack("{s:i}", "0", -1),
                              json_pack("{s:s}", "0", "many")};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        lx_error error = LX_ERROR_INIT;
        int warnings;
        memcpy(text, good, sizeof text);
        replace_changes(text, values[i]);
        unit_fails(match(text, false, &warnings, &error), LX_ERR_CORRUPT);
    }
    memcpy(text, good, sizeof text);
    replace_changes(text, json_object()); /* the field was added later */
    expect_match(text);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("loader/dataset-state", rewritten_tables_change_nothing,
          changes_are_reported_although_tables_were_rewritten,
          a_state_without_numbers_of_changes_causes_a_warning, rejects_invalid_numbers_of_changes)
