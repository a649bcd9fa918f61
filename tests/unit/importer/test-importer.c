/* SPDX-License-Identifier: MIT */
/* The settings of an importer. */
#include "imports.h"

START_TEST(nulls_are_refused)
{
    lx_error error = LX_ERROR_INIT;
    lx_importer *importer = lx_importer_new();
    unit_refuses_null(lx_importer_set_format(NULL, "lines", &error), "importer");
    unit_refuses_null(lx_importer_set_format(importer, NULL, &error), "name");
    unit_refuses_null(lx_importer_set_option(NULL, "a", "b", &error), "importer");
    unit_refuses_null(lx_importer_set_option(importer, NULL, "b", &error), "name");
    unit_refuses_null(lx_importer_set_option(importer, "a", NULL, &error), "value");
    unit_refuses_null(lx_importer_add_input(NULL, "a", &error), "importer");
    unit_refuses_null(lx_importer_add_input(importer, NULL, &error), "path");
    unit_refuses_null(lx_importer_set_field(NULL, "a", "str", &error), "importer");
    unit_refuses_null(lx_importer_set_field(importer, NULL, "str", &error), "name");
    unit_refuses_null(lx_importer_set_field(importer, "a", NULL, &error), "type");
    unit_refuses_null(lx_importer_set_compression(NULL, "a", LX_COMPRESSION_RAW, 0, 0, &error),
                      "importer");
    unit_refuses_null(lx_importer_set_bad_policy(NULL, LX_BAD_STOP, &error), "importer");
    unit_refuses_null(lx_importer_set_record_limit(NULL, 1, &error), "importer");
    unit_refuses_null(lx_importer_set_commit_size(NULL, 1, &error), "importer");
    unit_refuses_null(lx_importer_set_append(NULL, true, &error), "importer");
    unit_refuses_null(lx_importer_set_resume(NULL, true, &error), "importer");
    unit_refuses_null(lx_importer_set_progress(NULL, NULL, NULL, &error), "importer");
    unit_refuses_null(lx_importer_run(NULL, "d", NULL, &error), "importer");
    unit_refuses_null(lx_importer_run(importer, NULL, NULL, &error), "path");
    lx_importer_free(importer);
    lx_importer_free(NULL);
}
END_TEST

START_TEST(wrong_settings_are_refused)
{
    lx_error error = LX_ERROR_INIT;
    lx_importer *importer = lx_importer_new();
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_STATE);
    unit_fails(lx_importer_set_option(importer, "field", "x", &error), LX_ERR_STATE);
    lx_status status = lx_importer_set_format(importer, "xml", &error);
    ck_assert_int_eq(status, LX_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "jsonl"));
    lx_error_clear(&error);
    unit_ok(lx_importer_set_format(importer, "lines", &error));
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_STATE);
    unit_fails(lx_importer_set_option(importer, "delimiter", ",", &error), LX_ERR_NOT_FOUND);
    unit_fails(lx_importer_set_bad_policy(importer, (lx_bad_policy)2, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_importer_set_record_limit(importer, 0, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_importer_set_record_limit(importer, (uint64_t)1 << 32, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_importer_set_commit_size(importer, 0, &error), LX_ERR_ARGUMENT);
    static const char *const types[] = {"",
                                        "int",
                                        "string",
                                        "int64[",
                                        "int64[]",
                                        "int64[-1]",
                                        "int64[1,]",
                                        "int64[1]x",
                                        "int64[0]",
                                        "int64[4294967296]",
                                        "str[1]",
                                        "image[1]",
                                        "int64[2,?]",
                                        "int64[?",
                                        "int64[??]",
                                        "int64[?,0]",
                                        "int64[18446744073709551615]",
                                        "bytes[2]",
                                        "int64 [1]",
                                        "int64[99999999999999999999999]",
                                        "int64[65536,65536,65536,65536]"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        unit_fails(lx_importer_set_field(importer, "a", types[i], &error), LX_ERR_ARGUMENT);
    unit_ok(lx_importer_set_field(importer, "a", "float32[3,4]", &error));
    unit_ok(lx_importer_set_field(importer, "b", "int32[?,4]", &error));
    unit_ok(lx_importer_set_field(importer, "c", "image", &error));
    unit_fails(lx_importer_set_field(importer, "a", "str", &error), LX_ERR_ARGUMENT);
    char name[100];
    memset(name, 'n', 99);
    name[99] = '\0';
    unit_fails(lx_importer_set_field(importer, name, "str", &error), LX_ERR_ARGUMENT);
    unit_fails(lx_importer_set_field(importer, "", "str", &error), LX_ERR_ARGUMENT);
    unit_fails(lx_importer_set_field(importer, "\xff", "str", &error), LX_ERR_ARGUMENT);
    lx_importer_free(importer);
}
END_TEST

START_TEST(compressions_are_checked_when_the_fields_are_known)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    put_text("input", "{\"a\": \"x\", \"b\": 1}\n");
    lx_importer *importer = importer_of("jsonl", "input");
    unit_ok(lx_importer_set_compression(importer, "c", LX_COMPRESSION_FLATE, 6, 0, &error));
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_ARGUMENT);
    ck_assert_int_eq(access("d", F_OK), -1);
    lx_importer_free(importer);
    importer = importer_of("jsonl", "input");
    unit_ok(lx_importer_set_compression(importer, "b", LX_COMPRESSION_FLATE, 6, 0, &error));
    unit_ok(lx_importer_set_compression(importer, NULL, LX_COMPRESSION_FLATE, 9, 0, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    lx_dataset *dataset = open_imported("d");
    const lx_schema *schema = lx_dataset_get_schema(dataset);
    ck_assert_int_eq(lx_schema_get_field(schema, 0)->level, 9);
    ck_assert_int_eq(lx_schema_get_field(schema, 1)->level, 6);
    lx_dataset_close(dataset);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("importer/importer", nulls_are_refused, wrong_settings_are_refused,
          compressions_are_checked_when_the_fields_are_known)
