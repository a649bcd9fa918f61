/* SPDX-License-Identifier: MIT */
/* The format "jsonl". */
#include "imports.h"

/* There is no such number in the text, and the importer does not round. */
START_TEST(types_without_a_conversion_are_refused_at_once)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const char *const types[] = {"float16", "bfloat16[1]", "float8_e5m2", "complex64"};
    static const char *const names[] = {"float16", "bfloat16", "float8_e5m2", "complex64"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        put_text("input", i == 1 ? "{\"a\": [1]}\n" : "{\"a\": 1}\n");
        lx_importer *importer = importer_of("jsonl", "input");
        unit_ok(lx_importer_set_field(importer, "a", types[i], &error));
        ck_assert_int_eq(lx_importer_run(importer, "d", NULL, &error), LX_ERR_UNSUPPORTED);
        ck_assert_ptr_nonnull(strstr(error.message, names[i]));
        ck_assert_str_eq(error.field, "a");
        ck_assert_int_eq(access("d", F_OK), -1);
        lx_error_clear(&error);
        lx_importer_free(importer);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(each_key_is_a_field)
{
    char *scratch = scratch_make();
    import_text("jsonl",
                "{\"id\": 1, \"x\": 0.5, \"ok\": true, \"text\": \"one\", \"box\": [1, 2.5], "
                "\"any\": {\"a\": [1, \"b\"]}, \"mixed\": 1}\n"
                "\n"
                "{\"id\":-2,\"x\":3,\"ok\":false,\"text\":\"\",\"box\":[3,4e1],\"any\":[],"
                "\"mixed\":\"two\"}\r\n"
                "{\"mixed\": null, \"text\": \"a\\n\\u00e9\\ud83d\\ude00\", \"id\": 3}");
    expect_schema("d", "id:int64 x:float64 ok:bool text:str box:float64[2] any:json "
                       "mixed:json");
    expect_length("d", 3);
    expect_int64("d", 0, "id", 1);
    expect_int64("d", 1, "id", -2);
    expect_float64("d", 0, "x", 0.5);
    expect_float64("d", 1, "x", 3);
    expect_bytes("d", 2, "x", NULL, 0);
    expect_bytes("d", 0, "ok", "\1", 1);
    expect_bytes("d", 1, "ok", "\0", 1);
    expect_text("d", 0, "text", "one");
    expect_text("d", 1, "text", "");
    expect_text("d", 2, "text", "a\n\xc3\xa9\xf0\x9f\x98\x80");
    const double box[] = {3, 40};
    expect_bytes("d", 1, "box", box, sizeof box);
    expect_text("d", 0, "any", "{\"a\": [1, \"b\"]}");
    expect_text("d", 1, "any", "[]");
    expect_text("d", 0, "mixed", "1");
    expect_text("d", 1, "mixed", "\"two\"");
    expect_text("d", 2, "mixed", NULL);
    scratch_remove(scratch);
}
END_TEST

START_TEST(lists_of_numbers_are_arrays_and_others_json)
{
    char *scratch = scratch_make();
    import_text("jsonl", "{\"m\": [[1,2],[3,4],[5,6]], \"r\": [1], \"e\": [], \"w\": [1, \"a\"], "
                         "\"n\": [[1], [2, 3]], \"b\": [9007199254740993]}\n"
                         "{\"m\": [[-1,2],[3,4],[5,6]], \"r\": [1, 2], \"e\": [], \"w\": [], "
                         "\"n\": [[1], [2, 3]], \"b\": [-9223372036854775808]}\n");
    expect_schema("d", "m:int64[3,2] r:int64[?] e:json w:json n:json b:int64[1]");
    const int64_t m[] = {-1, 2, 3, 4, 5, 6};
    expect_bytes("d", 1, "m", m, sizeof m);
    expect_int64("d", 0, "b", INT64_C(9007199254740993));
    expect_int64("d", 1, "b", INT64_MIN);
    const int64_t r[] = {1, 2};
    expect_bytes("d", 1, "r", r, sizeof r);
    scratch_remove(scratch);
}
END_TEST

START_TEST(lists_of_varying_lengths_are_ragged)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    put_text("input", "{\"t\": [], \"u\": [1, 2], \"b\": [[1, 2], [3, 4]], \"x\": [[1], [2]]}\n"
                      "{\"t\": [7, -8], \"u\": [3, 4], \"b\": [[5, 0.5]], \"x\": [[1, 2]]}\n"
                      "{\"t\": null, \"u\": [5, 6], \"b\": [], \"x\": []}\n");
    lx_importer *importer = importer_of("jsonl", "input");
    unit_ok(lx_importer_set_field(importer, "u", "uint8[?]", &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_schema("d", "t:int64[?] u:uint8[?] b:float64[?,2] x:json");
    const int64_t t[] = {7, -8};
    const double b[] = {1, 2, 3, 4}, b1[] = {5, 0.5};
    expect_text("d", 0, "t", "");
    expect_bytes("d", 1, "t", t, sizeof t);
    expect_bytes("d", 2, "t", NULL, 0);
    expect_bytes("d", 1, "u", "\3\4", 2);
    expect_bytes("d", 0, "b", b, sizeof b);
    expect_bytes("d", 1, "b", b1, sizeof b1);
    expect_text("d", 2, "b", "");
    expect_text("d", 2, "x", "[]");
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(integers_that_do_not_fit_stay_exact)
{
    char *scratch = scratch_make();
    import_text("jsonl", "{\"n\": 18446744073709551616}\n{\"n\": 1}\n");
    expect_schema("d", "n:json");
    expect_text("d", 0, "n", "18446744073709551616");
    scratch_remove(scratch);
}
END_TEST

/* Numbers that a float64 would round, beside one that makes the field a float64. */
START_TEST(whole_numbers_are_never_rounded_in_silence)
{
    char *scratch = scratch_make();
    static const char *const rounded[] = {"9007199254740993",     "-9007199254740993",
                                          "9223372036854775807",  "9223372036854775809",
                                          "36893488147419103233", "1000000000000000000000001"};
    static const char *const others[] = {"0.5", "[0.5]", "[0.5,0.5]", "[[0.5]]"};
    char text[40000], value[100];
    for (size_t i = 0; i < sizeof rounded / sizeof *rounded * 4; i++) {
        const char *number = rounded[i / 4], *other = others[i % 4];
        snprintf(value, sizeof value, i % 4 == 0 ? "%s" : i % 4 == 3 ? "[[%s]]" : "[%s]", number);
        if (i % 4 == 2)
            snprintf(value, sizeof value, "[1, %s, 2]", number);
        snprintf(text, sizeof text, "{\"a\": %s}\n{\"a\": %s}\n", other, value);
        import_text("jsonl", text);
        expect_schema("d", "a:json");
        expect_text("d", 1, "a", value);
        lx_dataset_remove("d", NULL);
        /* After the first records. */
        size_t at = 0;
        for (int j = 0; j < 1000; j++)
            at += (size_t)snprintf(text + at, sizeof text - at, "{\"a\": %s}\n", other);
        if (i % 4 == 2) /* ragged */
            memcpy(text, "{\"a\": [   0.5 ]}", 16);
        snprintf(text + at, sizeof text - at, "{\"a\": %s}\n", value);
        refuse_text("jsonl", text, LX_ERR_MISMATCH, 1000, at, number);
        refuse_text("jsonl", text, LX_ERR_MISMATCH, 1000, at, "--field a=float64");
    }
    /* Exact ones are stored. */
    import_text("jsonl", "{\"a\": 0.1, \"b\": [0.5, 9007199254740994]}\n"
                         "{\"a\": 18446744073709551616, \"b\": [3, 4]}\n");
    expect_schema("d", "a:float64 b:float64[2]");
    expect_float64("d", 1, "a", 18446744073709551616.0);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_byte_order_mark_is_passed_over)
{
    char *scratch = scratch_make();
    import_text("jsonl", "\xef\xbb\xbf{\"a\": 1}\n{\"a\": 2}\n");
    expect_length("d", 2);
    expect_int64("d", 0, "a", 1);
    /* Only at the beginning, and only a whole one. */
    refuse_text("jsonl", "{\"a\": 1}\n\xef\xbb\xbf{\"a\": 2}\n", LX_ERR_CORRUPT, 1, 9, "byte 0");
    refuse_text("jsonl", "\xef\xbb", LX_ERR_CORRUPT, 0, 0, "byte 0");
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_caller_sets_types)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    put_text("input", "{\"a\": 1, \"b\": [1, 2], \"c\": \"x\", \"d\": 2, \"odd name\": 5, "
                      "\"late\": null}\n");
    lx_importer *importer = importer_of("jsonl", "input");
    unit_ok(lx_importer_set_field(importer, "a", "float32", &error));
    unit_ok(lx_importer_set_field(importer, "b", "uint8[2]", &error));
    unit_ok(lx_importer_set_field(importer, "c", "json", &error));
    unit_ok(lx_importer_set_field(importer, "d", "ignore", &error));
    unit_ok(lx_importer_set_field(importer, "late", "int16", &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_schema("d", "a:float32 b:uint8[2] c:json odd_name:int64 late:int16");
    const float a = 1;
    expect_bytes("d", 0, "a", &a, sizeof a);
    expect_bytes("d", 0, "b", "\1\2", 2);
    expect_text("d", 0, "c", "\"x\"");
    expect_bytes("d", 0, "late", NULL, 0);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(what_is_not_json_is_refused_with_its_place)
{
    char *scratch = scratch_make();
    static const struct {
        const char *line, *part;
    } bad[] = {
        {"{\"a\": 1", "comma"},
        {"{\"a\": 1,}", "a string"},
        {"{\"a\" 1}", "colon"},
        {"{a: 1}", "a string"},
        {"[1]", "object"},
        {"{\"a\": 01}", "comma"},
        {"{\"a\": 1.}", "a digit at byte 8"},
        {"{\"a\": +1}", "a value"},
        {"{\"a\": NaN}", "a value"},
        {"{\"a\": nul}", "a value at byte 6"},
        {"{\"a\": 1} x", "the end"},
        {"{\"a\": \"\t\"}", "a character"},
        {"{\"a\": \"\\x\"}", "escape"},
        {"{\"a\": \"\\ud800\"}", "surrogate"},
        {"{\"a\": \"\\udc00\\ud800\"}", "surrogate"},
        {"{\"a\": \"\\u12g4\"}", "hexadecimal"},
        {"{\"a\": \"\xff\"}", "UTF-8"},
        {"{\"a\": \"b}", "closing quote"},
        {"{\"a\": \"b\\", "escape sequence"},
        {"{\"a\": 1, \"a\": 2}", "two values"},
        {"{", "a string"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[200];
        snprintf(text, sizeof text, "{\"a\": 0}\n\n%s\n", bad[i].line);
        refuse_text("jsonl", text, LX_ERR_CORRUPT, 1, 10, bad[i].part);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(deep_nesting_is_refused)
{
    char *scratch = scratch_make();
    char text[2000];
    int at = snprintf(text, sizeof text, "{\"a\": ");
    memset(text + at, '[', 900);
    memset(text + at + 900, ']', 900);
    strcpy(text + at + 1800, "}\n");
    refuse_text("jsonl", text, LX_ERR_CORRUPT, 0, 0, "no more than 512 levels");
    scratch_remove(scratch);
}
END_TEST

START_TEST(later_records_must_fit_the_types)
{
    char *scratch = scratch_make();
    static const struct {
        const char *line, *part;
    } bad[] = {
        {"{\"i\": \"text\"}", "text ('text')"},
        {"{\"i\": 1.5}", "int64"},
        {"{\"i\": 9223372036854775808}", "int64"},
        {"{\"s\": 5}", "str"},
        {"{\"l\": [1, 2, 3]}", "int64[2]"},
        {"{\"l\": 1}", "int64[2]"},
        {"{\"r\": [1.5]}", "int64[?]"},
        {"{\"r\": [[1]]}", "int64[?]"},
        {"{\"r\": 1}", "int64[?]"},
        {"{\"r\": [\"a\"]}", "int64[?]"},
        {"{\"new\": 1}", "'new'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        static char text[100000];
        size_t at = 0;
        for (int line = 0; line < 1000; line++)
            at += (size_t)snprintf(text + at, sizeof text - at,
                                   "{\"i\": 7, \"s\": \"t\", \"l\": [1, 2], \"r\": [%s]}\n",
                                   line % 2 != 0 ? "1" : "");
        snprintf(text + at, sizeof text - at, "%s\n", bad[i].line);
        refuse_text("jsonl", text, LX_ERR_MISMATCH, 1000, at, bad[i].part);
    }
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("importer/format-jsonl", each_key_is_a_field, lists_of_numbers_are_arrays_and_others_json,
          lists_of_varying_lengths_are_ragged, integers_that_do_not_fit_stay_exact,
          whole_numbers_are_never_rounded_in_silence,
          types_without_a_conversion_are_refused_at_once, the_caller_sets_types,
          a_byte_order_mark_is_passed_over, what_is_not_json_is_refused_with_its_place,
          deep_nesting_is_refused, later_records_must_fit_the_types)
