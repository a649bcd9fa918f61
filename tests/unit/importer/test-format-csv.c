/* SPDX-License-Identifier: MIT */
/* The format "csv". */
#include <math.h>

#include "imports.h"

START_TEST(the_first_record_names_the_fields)
{
    char *scratch = scratch_make();
    import_text("csv", "\xef\xbb\xbfid,size (cm),name,zip,,\"a \"\"b\"\"\"\r\n"
                       "1,2.5,one,01234,x,y\r\n"
                       "\r\n"
                       "-2,,\"two, \"\"2\"\"\nlines\",00001,\"\",\"7\"\n"
                       ",3,,9,,");
    expect_schema("d", "id:int64 size__cm_:float64 name:str zip:str column4:str a__b_:str");
    expect_length("d", 3);
    expect_int64("d", 0, "id", 1);
    expect_int64("d", 1, "id", -2);
    expect_bytes("d", 2, "id", NULL, 0);
    expect_float64("d", 0, "size__cm_", 2.5);
    expect_bytes("d", 1, "size__cm_", NULL, 0);
    expect_text("d", 1, "name", "two, \"2\"\nlines");
    expect_text("d", 2, "name", "");
    expect_text("d", 0, "zip", "01234");
    expect_text("d", 1, "a__b_", "7");
    scratch_remove(scratch);
}
END_TEST

START_TEST(delimiter_and_header_can_be_chosen)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    put_text("input", "1\ta,b\n2\t\"c\td\"\n");
    lx_importer *importer = importer_of("csv", "input");
    unit_ok(lx_importer_set_option(importer, "delimiter", "\\t", &error));
    unit_ok(lx_importer_set_option(importer, "header", "no", &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_schema("d", "column0:int64 column1:str");
    expect_length("d", 2);
    expect_text("d", 0, "column1", "a,b");
    expect_text("d", 1, "column1", "c\td");
    unit_ok(lx_importer_set_option(importer, "header", "maybe", &error));
    unit_fails(lx_importer_run(importer, "e", NULL, &error), LX_ERR_ARGUMENT);
    unit_ok(lx_importer_set_option(importer, "header", "yes", &error));
    unit_ok(lx_importer_set_option(importer, "delimiter", "\"", &error));
    unit_fails(lx_importer_run(importer, "e", NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_importer_set_option(importer, "quote", "'", &error), LX_ERR_NOT_FOUND);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(each_column_can_have_a_type)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    put_text("input", "a,b,c,d,e\n1,1,1,1,\"{\"\"k\"\": 1}\"\n0,255,-1,1e3,[2]\n");
    lx_importer *importer = importer_of("csv", "input");
    unit_ok(lx_importer_set_field(importer, "a", "bool", &error));
    unit_ok(lx_importer_set_field(importer, "b", "uint8", &error));
    unit_ok(lx_importer_set_field(importer, "c", "str", &error));
    unit_ok(lx_importer_set_field(importer, "d", "float32", &error));
    unit_ok(lx_importer_set_field(importer, "e", "json", &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_schema("d", "a:bool b:uint8 c:str d:float32 e:json");
    expect_bytes("d", 1, "b", "\xff", 1);
    expect_text("d", 1, "c", "-1");
    expect_text("d", 0, "e", "{\"k\": 1}");
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

/* polars and DuckDB write a missing value as an empty word, and an empty text as two quotes. */
START_TEST(a_blank_line_is_a_missing_value_if_there_is_one_field)
{
    char *scratch = scratch_make();
    import_text("csv", "a\n1\n\n3\r\n\r\n\n");
    expect_schema("d", "a:int64");
    expect_length("d", 5);
    expect_bytes("d", 1, "a", NULL, 0);
    expect_int64("d", 2, "a", 3);
    expect_bytes("d", 3, "a", NULL, 0);
    expect_bytes("d", 4, "a", NULL, 0);
    lx_dataset_remove("d", NULL);
    import_text("csv", "a\n\nx\n\"\"\n\nlast");
    expect_schema("d", "a:str");
    expect_length("d", 5);
    expect_text("d", 0, "a", NULL);
    expect_text("d", 1, "a", "x");
    expect_text("d", 2, "a", "");
    expect_text("d", 3, "a", NULL);
    expect_text("d", 4, "a", "last");
    scratch_remove(scratch);
}
END_TEST

START_TEST(words_for_numbers_make_a_column_of_floats)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    double value;
    uint64_t index = 1;
    put_text("input", "a,b,c,d\n1,1.5,nan,1\n2,NaN,x,2\nnan,-inf,y,3\n4,Infinity,z,4\n");
    lx_importer *importer = importer_of("csv", "input");
    unit_ok(lx_importer_set_field(importer, "d", "float64", &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_schema("d", "a:float64 b:float64 c:str d:float64");
    expect_float64("d", 0, "a", 1);
    expect_float64("d", 2, "b", -INFINITY);
    expect_float64("d", 3, "b", INFINITY);
    lx_dataset *dataset = open_imported("d");
    unit_ok(lx_dataset_gather(dataset, 1, &index, 1, &value, sizeof value, &error));
    ck_assert(isnan(value));
    lx_dataset_close(dataset);
    unit_ok(lx_importer_set_field(importer, "a", "int64", &error));
    unit_fails(lx_importer_run(importer, "whole", NULL, &error), LX_ERR_MISMATCH);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(whole_numbers_are_never_rounded_in_silence)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    import_text("csv", "a,b,c\n0.5,nan,0.1\n9007199254740993,-9007199254740993,9007199254740994\n");
    expect_schema("d", "a:str b:str c:float64");
    expect_text("d", 1, "a", "9007199254740993");
    char text[10000] = "a\n";
    for (int i = 0; i < 1000; i++)
        strcat(text, "0.25\n");
    uint64_t offset = strlen(text);
    strcat(text, "9007199254740993\n");
    refuse_text("csv", text, LX_ERR_MISMATCH, 1000, offset, "9007199254740993 exactly");
    lx_importer *importer = importer_of("csv", "input");
    unit_ok(lx_importer_set_field(importer, "a", "float64", &error));
    unit_ok(lx_importer_run(importer, "rounded", NULL, &error));
    expect_float64("rounded", 1000, "a", 9007199254740992.0);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

/* As spreadsheets of the classic Mac OS, and some programs until today, write them. */
START_TEST(lines_may_end_with_cr)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_import_result result;
    import_text("csv", "\"a\rb\",c\r1,x\r\r\"2\",\"y\rz\n\"\r3,last");
    expect_schema("d", "a_b:int64 c:str");
    expect_length("d", 3);
    expect_int64("d", 1, "a_b", 2);
    expect_text("d", 1, "c", "y\rz\n");
    expect_text("d", 2, "c", "last");
    lx_dataset_remove("d", NULL);
    import_text("csv", "a\r1\r\r3\r"); /* one column: a missing value */
    expect_length("d", 3);
    expect_bytes("d", 1, "a", NULL, 0);
    lx_dataset_remove("d", NULL);
    import_text("csv", "a,b\nx\ry,1\n"); /* LF ends the lines: CR is text */
    expect_text("d", 0, "a", "x\ry");
    lx_dataset_remove("d", NULL);
    put_text("input", "a,b\r1,x\r2,x\"y\"\r3\r4,\"x\"y,\n\r5,x\r");
    lx_importer *importer = importer_of("csv", "input");
    unit_ok(lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    lx_importer_get_result(importer, &result);
    ck_assert_uint_eq(result.bad, 3);
    expect_int64("d", 1, "a", 5);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(what_is_not_csv_is_refused_with_its_place)
{
    char *scratch = scratch_make();
    refuse_text("csv", "a,b\n1,2\n3\n4,5\n", LX_ERR_CORRUPT, 1, 8, "has 1 words");
    refuse_text("csv", "a,b\n1,2\n3,4,5\n", LX_ERR_CORRUPT, 1, 8, "has 3 words");
    refuse_text("csv", "a,b\n1,x\"y\"\n", LX_ERR_CORRUPT, 0, 4, "inside a word");
    refuse_text("csv", "a,b\n1,\"x\"y\n", LX_ERR_CORRUPT, 0, 4, "closing quote");
    refuse_text("csv", "a,b\n1,\"x\n2,y\n", LX_ERR_CORRUPT, 0, 4, "not closed");
    refuse_text("csv", "a,b\n1,2\n1,\xff\n", LX_ERR_CORRUPT, 1, 8, "byte 2");
    refuse_text("csv", "a,a\n1,2\n", LX_ERR_CORRUPT, 0, 0, "two columns");
    refuse_text("csv", "a\r\r\n1\r\r\n", LX_ERR_CORRUPT, 0, 0, "CR CR LF");
    scratch_remove(scratch);
}
END_TEST

START_TEST(records_after_a_bad_one_are_found)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_import_result result;
    put_text("input", "a,b\n1,x\n2,x\"y\"\n3,x\n4\n5,x\n6,\"x\"y,z\n7,x\n8,\xff\n9,x\n");
    lx_importer *importer = importer_of("csv", "input");
    unit_ok(lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    lx_importer_get_result(importer, &result);
    ck_assert_uint_eq(result.bad, 4);
    ck_assert_uint_eq(result.records, 5);
    for (uint64_t i = 0; i < 5; i++)
        expect_int64("d", i, "a", (int64_t)(2 * i + 1));
    static const uint64_t records[] = {1, 3, 5, 7}, offsets[] = {8, 19, 25, 38};
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(lx_importer_get_bad(importer, i)->record, records[i]);
        ck_assert_uint_eq(lx_importer_get_bad(importer, i)->offset, offsets[i]);
    }
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_quote_that_is_not_closed_takes_bounded_memory)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    FILE *file = fopen("input", "w");
    fputs("a\n\"", file);
    for (int i = 0; i < 200000; i++)
        fputs("0123456789\n", file);
    fclose(file);
    lx_importer *importer = importer_of("csv", "input");
    unit_ok(lx_importer_set_record_limit(importer, 1000, &error));
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_LIMIT);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

/* To look for equal names among them would take hours. */
START_TEST(too_many_columns_are_refused_at_once)
{
    char *scratch = scratch_make();
    enum { WIDTH = 8, COUNT = 500000 };
    char *text = malloc((size_t)WIDTH * COUNT + 1);
    ck_assert_ptr_nonnull(text);
    for (int i = 0; i < COUNT; i++)
        snprintf(text + (size_t)WIDTH * (size_t)i, WIDTH + 1, "c%06d,", i);
    refuse_text("csv", text, LX_ERR_LIMIT, 0, 0, "500001 words");
    free(text);
    scratch_remove(scratch);
}
END_TEST

/* Words of all kinds at the ends of the blocks that are read. */
START_TEST(many_records_are_read)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    enum { COUNT = 40000 };
    FILE *file = fopen("input", "w");
    fputs("id,text,x\n", file);
    for (int i = 0; i < COUNT; i++)
        fprintf(file, i % 3 == 0 ? "%d,\"a \"\"%0*d\"\"\",%d.5\r\n" : "%d,%0*d,%d.5\n", i,
                1 + i % 47, i, i);
    fclose(file);
    lx_importer *importer = importer_of("csv", "input");
    unit_ok(lx_importer_set_field(importer, "text", "str", &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    lx_importer_free(importer);
    lx_dataset *dataset = open_imported("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), COUNT);
    for (uint64_t i = 0; i < COUNT; i++) {
        int64_t id;
        double x;
        uint64_t offsets[2];
        char text[100], right[100];
        unit_ok(lx_dataset_gather(dataset, 0, &i, 1, &id, sizeof id, &error));
        unit_ok(lx_dataset_get_sizes(dataset, 1, &i, 1, offsets, NULL, &error));
        unit_ok(lx_dataset_gather_bytes(dataset, 1, &i, 1, offsets, text, &error));
        unit_ok(lx_dataset_gather(dataset, 2, &i, 1, &x, sizeof x, &error));
        snprintf(right, sizeof right, i % 3 == 0 ? "a \"%0*d\"" : "%0*d", (int)(1 + i % 47),
                 (int)i);
        ck_assert(id == (int64_t)i && x == (double)i + 0.5);
        ck_assert(offsets[1] == strlen(right) && memcmp(text, right, strlen(right)) == 0);
    }
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("importer/format-csv", the_first_record_names_the_fields,
          delimiter_and_header_can_be_chosen, each_column_can_have_a_type,
          a_blank_line_is_a_missing_value_if_there_is_one_field,
          words_for_numbers_make_a_column_of_floats, lines_may_end_with_cr,
          whole_numbers_are_never_rounded_in_silence, what_is_not_csv_is_refused_with_its_place,
          records_after_a_bad_one_are_found, a_quote_that_is_not_closed_takes_bounded_memory,
          too_many_columns_are_refused_at_once, many_records_are_read)
