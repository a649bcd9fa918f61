/* SPDX-License-Identifier: MIT */
/* The identity of a source: lib/loader/sources/source-state.c. */
#include <loaderx/source.h>

#include "../../scratch.h"
#include "../loaders.h"

/** Appends records to a dataset of one field, which is created if it does not exist. */
static void append(const char *path, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    lx_writer *writer;
    unit_ok(lx_schema_add_field(schema, "label", LX_UINT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    if (access(path, F_OK) != 0)
        unit_ok(lx_writer_create(path, schema, NULL, &writer, &error));
    else
        unit_ok(lx_writer_open(path, NULL, &writer, &error));
    for (uint64_t i = 0; i < count; i++)
        unit_ok(lx_writer_append(writer, &(lx_value){&i, 8}, 1, NULL, &error));
    unit_ok(lx_writer_close(writer, &error));
    lx_schema_free(schema);
}

static lx_source *open_source(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    unit_ok(lx_source_open(path, NULL, &source, &error));
    return source;
}

static void expect_mismatch(const char *path, const char *text, const char *words)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source = open_source(path);
    ck_assert_int_eq(lx_source_match(source, text, false, &error), LX_ERR_MISMATCH);
    ck_assert_ptr_nonnull(strstr(error.message, words));
    lx_source_unref(source);
}

START_TEST(identifies_the_records_of_a_source)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make(), text[1024];
    size_t length;
    lx_writer *writer;
    append("a", 10);
    append("b", 10);
    lx_source *source = open_source("a");
    unit_ok(lx_source_save(source, NULL, 0, &length, &error));
    unit_ok(lx_source_save(source, text, sizeof text, NULL, &error));
    ck_assert_uint_eq(strlen(text), length);
    static const char start[] = "{\"state\":\"source\",\"version\":1,\"source\":{";
    ck_assert_int_eq(strncmp(text, start, strlen(start)), 0);
    unit_ok(lx_source_match(source, text, false, &error));
    expect_mismatch("b", text, "source.uuid");

    append("a", 2);
    expect_mismatch("a", text, "open the dataset with length=10");
    unit_ok(lx_writer_open("a", NULL, &writer, &error));
    unit_ok(lx_writer_truncate(writer, 9, &error));
    unit_ok(lx_writer_close(writer, &error));
    expect_mismatch("a", text, "has only 9 records, but had 10");
    lx_source *changed = open_source("a");
    unit_fails(lx_source_match(changed, text, true, &error), LX_ERR_MISMATCH);
    lx_source_unref(changed);
    append("a", 1);
    expect_mismatch("a", text, "records changed");
    changed = open_source("a");
    unit_ok(lx_source_match(changed, text, true, &error));
    lx_source_unref(changed);
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_other_texts)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 10, .width = 4, .identity = "mine"};
    lx_source *source = numbers_source(&numbers);
    char text[1024];
    unit_ok(lx_source_save(source, text, sizeof text, NULL, &error));
    unit_ok(lx_source_match(source, text, false, &error));
    unit_fails(lx_source_match(source, "{}", false, &error), LX_ERR_CORRUPT);
    unit_fails(lx_source_match(source, "{\"state\":\"loader\",\"version\":1}", false, &error),
               LX_ERR_MISMATCH);
    unit_fails(lx_source_match(source, "{\"state\":\"source\",\"version\":9}", false, &error),
               LX_ERR_UNSUPPORTED);
    char *at = strstr(text, "\"datasets\":[]") + strlen("\"datasets\":");
    at[0] = '{';
    at[1] = '}';
    unit_fails(lx_source_match(source, text, false, &error), LX_ERR_CORRUPT);
    unit_fails(lx_source_save(source, text, 10, NULL, &error), LX_ERR_LIMIT);
    unit_refuses_null(lx_source_save(NULL, text, 10, NULL, &error), "source");
    unit_refuses_null(lx_source_save(source, NULL, 10, NULL, &error), "text");
    unit_refuses_null(lx_source_match(NULL, text, false, &error), "source");
    unit_refuses_null(lx_source_match(source, NULL, false, &error), "text");
    lx_source_unref(source);
}
END_TEST

UNIT_MAIN("loader/source-state", identifies_the_records_of_a_source, rejects_other_texts)
