/* SPDX-License-Identifier: MIT */
/* Imports of several inputs, and imports that are interrupted. */
#include <zlib.h>

#include "imports.h"

/** Writes numbered lines; every tenth line of a damaged file is not JSON. */
static void put_lines(const char *name, int first, int count, bool damaged)
{
    FILE *file = fopen(name, "w");
    ck_assert_ptr_nonnull(file);
    for (int i = first; i < first + count; i++)
        if (damaged && i % 10 == 5)
            fprintf(file, "not JSON\n");
        else
            fprintf(file, "{\"id\": %d, \"text\": \"%0*d\"}\n", i, 20 + i % 50, i);
    ck_assert_int_eq(fclose(file), 0);
}

static void expect_lines(const char *path, int first, int count, uint64_t at)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = open_imported(path);
    for (int i = 0; i < count; i++) {
        uint64_t index = at + (uint64_t)i, offsets[2];
        int64_t id;
        char text[100], expected[100];
        unit_ok(lx_dataset_gather(dataset, 0, &index, 1, &id, sizeof id, &error));
        ck_assert_int_eq(id, first + i);
        unit_ok(lx_dataset_get_sizes(dataset, 1, &index, 1, offsets, NULL, &error));
        ck_assert_uint_lt(offsets[1], sizeof text);
        unit_ok(lx_dataset_gather_bytes(dataset, 1, &index, 1, offsets, text, &error));
        text[offsets[1]] = '\0';
        snprintf(expected, sizeof expected, "%0*d", 20 + (first + i) % 50, first + i);
        ck_assert_str_eq(text, expected);
    }
    lx_dataset_close(dataset);
}

static lx_importer *importer_of_three(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_importer *importer = importer_of("jsonl", "a");
    unit_ok(lx_importer_add_input(importer, "b", &error));
    unit_ok(lx_importer_add_input(importer, "c", &error));
    unit_ok(lx_importer_set_commit_size(importer, 20000, &error));
    return importer;
}

START_TEST(inputs_follow_one_another)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_import_result result;
    put_lines("a", 0, 3000, false);
    put_lines("b", 0, 0, false);
    put_lines("c", 3000, 10, false);
    lx_importer *importer = importer_of_three();
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    lx_importer_get_result(importer, &result);
    ck_assert_uint_eq(result.records, 3010);
    ck_assert_uint_eq(result.length, 3010);
    ck_assert_uint_eq(result.resumed, 0);
    ck_assert_uint_eq(result.bad, 0);
    expect_length("d", 3010);
    expect_lines("d", 0, 3010, 0);
    ck_assert(!is_incomplete("d"));
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_EXISTS);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(records_are_appended_to_a_dataset)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    put_lines("input", 0, 10, false);
    lx_importer *importer = importer_of("jsonl", "input");
    unit_ok(lx_importer_set_append(importer, true, &error));
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_NOT_FOUND);
    unit_ok(lx_importer_set_append(importer, false, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    unit_ok(lx_importer_set_append(importer, true, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_length("d", 20);
    expect_lines("d", 0, 10, 0);
    expect_lines("d", 0, 10, 10);
    put_text("input", "{\"id\": \"x\", \"text\": \"y\"}\n");
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_MISMATCH);
    put_text("input", "{\"id\": 1}\n");
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_MISMATCH);
    put_text("input", "{\"id\": 1, \"text\": \"y\", \"more\": 1}\n");
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_MISMATCH);
    expect_length("d", 20);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_fields_of_a_dataset_decide_the_types_of_what_is_appended)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    put_text("input", "{\"ids\": [1], \"text\": \"a\", \"any\": 5}\n"
                      "{\"ids\": [1, 2], \"text\": \"b\", \"any\": \"c\"}\n");
    lx_importer *importer = importer_of("jsonl", "input");
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    unit_ok(lx_importer_set_append(importer, true, &error));
    put_text("input", "{\"ids\": [3, 4, 5], \"text\": \"d\", \"any\": \"e\"}\n");
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_schema("d", "ids:int64[?] text:str any:json");
    const int64_t ids[] = {3, 4, 5};
    expect_bytes("d", 2, "ids", ids, sizeof ids);
    expect_text("d", 2, "any", "\"e\"");
    put_text("input", "{\"ids\": [[3]], \"text\": \"d\", \"any\": \"e\"}\n");
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_MISMATCH);
    put_text("input", "{\"ids\": [3], \"text\": [1], \"any\": \"e\"}\n");
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_MISMATCH);
    put_text("input", "{\"ids\": [3], \"text\": {}, \"any\": \"e\"}\n");
    ck_assert_int_eq(lx_importer_run(importer, "d", NULL, &error), LX_ERR_MISMATCH);
    ck_assert_str_eq(error.field, "text");
    expect_length("d", 3);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

/* Who resumes or appends has not asked for rounding, unless he sets the type. */
START_TEST(numbers_are_rounded_only_to_a_type_that_was_set)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const char *const wide[] = {"{\"a\": 9007199254740993}\n",
                                       "{\"a\": 0.5}\n{\"a\": 9007199254740993}\n"};
    lx_importer *importer = importer_of("jsonl", "input");
    put_text("input", "{\"a\": 0.5}\n");
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    unit_ok(lx_importer_set_append(importer, true, &error));
    for (size_t i = 0; i < 2; i++) {
        put_text("input", wide[i]);
        ck_assert_int_eq(lx_importer_run(importer, "d", NULL, &error), LX_ERR_MISMATCH);
        ck_assert_ptr_nonnull(strstr(error.message, "9007199254740993"));
        ck_assert_uint_eq(error.record, i);
        lx_error_clear(&error);
        forget_import("d");
    }
    unit_ok(lx_importer_set_field(importer, "a", "float64", &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    lx_importer_free(importer);
    for (size_t set = 0; set < 2; set++) { /* a bad record interrupts the import, and is mended */
        lx_dataset_remove("d", NULL);
        FILE *file = fopen("input", "w");
        for (int i = 0; i < 2000; i++)
            fputs("{\"a\": 0.5}\n", file);
        fputs("{\"a\": 0.?}\n", file);
        fclose(file);
        importer = importer_of("jsonl", "input");
        if (set != 0)
            unit_ok(lx_importer_set_field(importer, "a", "float64", &error));
        unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_CORRUPT);
        file = fopen("input", "a");
        fseek(file, 0, SEEK_END);
        ck_assert_int_eq(truncate("input", ftell(file) - 11), 0);
        fputs(*wide, file);
        fclose(file);
        unit_ok(lx_importer_set_resume(importer, true, &error));
        ck_assert_int_eq(lx_importer_run(importer, "d", NULL, &error),
                         set != 0 ? LX_OK : LX_ERR_MISMATCH);
        lx_error_clear(&error);
        lx_importer_free(importer);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_failed_import_continues_when_the_input_is_mended)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_import_result result;
    put_lines("a", 0, 3000, false);
    put_lines("b", 3000, 2000, false);
    put_lines("c", 5000, 3000, false);
    FILE *file = fopen("b", "a");
    fprintf(file, "{\"id\": oops\n");
    fclose(file);
    lx_importer *importer = importer_of_three();
    ck_assert_int_eq(lx_importer_run(importer, "d", NULL, &error), LX_ERR_CORRUPT);
    ck_assert_str_eq(error.path, "b");
    ck_assert_uint_eq(error.record, 2000);
    expect_length("d", 5000);
    lx_error_clear(&error);
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_STATE);
    unit_ok(lx_importer_set_resume(importer, true, &error));
    put_lines("b", 3000, 2000, false);
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    lx_importer_get_result(importer, &result);
    ck_assert_uint_eq(result.resumed, 5000);
    ck_assert_uint_eq(result.records, 3000);
    ck_assert_uint_eq(result.length, 8000);
    expect_lines("d", 0, 8000, 0);
    /* It is complete: nothing is left to do. */
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    lx_importer_get_result(importer, &result);
    ck_assert_uint_eq(result.records, 0);
    ck_assert_uint_eq(result.length, 8000);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(only_the_same_import_continues)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    put_text("a", "{\"id\": 1}\n");
    put_text("b", "oops\n");
    put_text("c", "{\"id\": 2}\n");
    lx_importer *importer = importer_of_three();
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_CORRUPT);
    lx_importer_free(importer);
    importer = importer_of("jsonl", "a");
    unit_ok(lx_importer_set_resume(importer, true, &error));
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_MISMATCH);
    lx_importer_free(importer);
    importer = importer_of_three();
    unit_ok(lx_importer_set_resume(importer, true, &error));
    put_text("a", "");
    unit_ok(lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error)); /* "a" was complete */
    expect_length("d", 2);
    expect_int64("d", 1, "id", 2);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

/* A pipe cannot be read again, and only so much of it is kept until a record shows the fields. */
START_TEST(a_long_bad_beginning_of_a_pipe_is_refused)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    FILE *file = fopen("input", "w");
    for (int i = 0; i < 1000000; i++)
        fprintf(file, "not JSON\n");
    fprintf(file, "{\"id\": 7}\n");
    fclose(file);
    ck_assert_ptr_nonnull(freopen("input", "r", stdin));
    lx_importer *importer = importer_of("jsonl", "-");
    unit_ok(lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error));
    unit_ok(lx_importer_set_record_limit(importer, 1000, &error));
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_LIMIT);
    lx_importer_free(importer);
    importer = importer_of("jsonl", "input");
    unit_ok(lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error));
    unit_ok(lx_importer_set_record_limit(importer, 1000, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_length("d", 1);
    expect_int64("d", 0, "id", 7);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

/* A progress function that kills the process, or ends the import, at its n-th call. */
struct killer {
    int left;
    bool kill;
};

static lx_status count_down(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    struct killer *killer = user;
    (void)done, (void)total;
    if (--killer->left > 0)
        return LX_OK;
    if (killer->kill)
        kill(getpid(), SIGKILL);
    return lx_fail(error, LX_ERR_CANCELED, "enough");
}

/** Begins another import into the dataset that is being imported. */
static lx_status import_again(uint64_t done, uint64_t total, void *user, lx_error *caller)
{
    lx_error error = LX_ERROR_INIT;
    lx_importer *other = importer_of("jsonl", "a");
    (void)done, (void)total, (void)caller;
    unit_fails(lx_importer_run(other, "d", NULL, &error), LX_ERR_STATE);
    unit_ok(lx_importer_set_resume(other, true, &error));
    unit_fails(lx_importer_run(other, "d", NULL, &error), LX_ERR_BUSY);
    lx_importer_free(other);
    return count_down(0, 0, user, caller);
}

START_TEST(another_import_into_the_same_path_changes_nothing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct killer killer = {2, false};
    put_lines("a", 0, 120000, false);
    lx_importer *importer = importer_of("jsonl", "a");
    unit_ok(lx_importer_set_progress(importer, import_again, &killer, &error));
    ck_assert_int_eq(lx_importer_run(importer, "d", NULL, &error), LX_ERR_CANCELED);
    ck_assert(is_incomplete("d"));
    lx_error_clear(&error);
    unit_ok(lx_importer_set_progress(importer, NULL, NULL, &error));
    unit_ok(lx_importer_set_resume(importer, true, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_length("d", 120000);
    expect_lines("d", 119990, 10, 119990);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

/* Under another limit, another number of records precedes the one at which the import ended. */
START_TEST(only_the_same_limit_of_a_record_continues)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct killer killer = {2, false};
    put_lines("a", 0, 120000, false);
    lx_importer *importer = importer_of("jsonl", "a");
    unit_ok(lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error));
    unit_ok(lx_importer_set_commit_size(importer, 20000, &error));
    unit_ok(lx_importer_set_record_limit(importer, 60, &error));
    unit_ok(lx_importer_set_progress(importer, count_down, &killer, &error));
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_CANCELED);
    unit_ok(lx_importer_set_progress(importer, NULL, NULL, &error));
    unit_ok(lx_importer_set_resume(importer, true, &error));
    unit_ok(lx_importer_set_record_limit(importer, 70, &error));
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_MISMATCH);
    unit_ok(lx_importer_set_record_limit(importer, 60, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(bad_records_are_skipped_and_listed)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_import_result result;
    put_lines("input", 0, 20000, true);
    lx_importer *importer = importer_of("jsonl", "input");
    unit_ok(lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    lx_importer_get_result(importer, &result);
    ck_assert_uint_eq(result.bad, 2000);
    ck_assert_uint_eq(result.records, 18000);
    for (size_t i = 0; i < LX_MAX_BAD_LISTED; i++) {
        const lx_error *bad = lx_importer_get_bad(importer, i);
        ck_assert_ptr_nonnull(bad);
        ck_assert_uint_eq(bad->record, 10 * i + 5);
        ck_assert_int_eq(bad->status, LX_ERR_CORRUPT);
    }
    ck_assert_ptr_null(lx_importer_get_bad(importer, LX_MAX_BAD_LISTED));
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

/* Those of inputs that were complete are counted, and those of the interrupted one are found
 * again. */
START_TEST(an_input_that_cannot_be_opened_has_no_record)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const char *const formats[] = {"jsonl", "csv", "mds", "lmdb", "folder", "original"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        lx_importer *importer = importer_of(formats[i], "absent");
        ck_assert_int_eq(lx_importer_run(importer, "d", NULL, &error), LX_ERR_NOT_FOUND);
        ck_assert_msg(error.record == LX_NONE && error.offset == LX_NONE, "%s", formats[i]);
        lx_error_clear(&error);
        lx_importer_free(importer);
    }
    put_text("a", "{\"id\": 1}\n");
    lx_importer *importer = importer_of_three();
    unit_ok(lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    const lx_error *bad = lx_importer_get_bad(importer, 0);
    ck_assert_str_eq(bad->path, "b");
    ck_assert(bad->record == LX_NONE && bad->offset == LX_NONE);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(inputs_without_a_good_record_are_refused_with_the_first_reason)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    put_text("a", "oops\n\n[]\n");
    put_text("b", "");
    put_text("c", "{\n");
    lx_importer *importer = importer_of_three();
    unit_ok(lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error));
    for (int append = 0; append < 2; append++) {
        unit_ok(lx_importer_set_append(importer, append == 1, &error));
        ck_assert_int_eq(lx_importer_run(importer, "d", NULL, &error), LX_ERR_CORRUPT);
        ck_assert_msg(strstr(error.message, "no good record, and 3 bad ones") != NULL, "%s",
                      error.message);
        ck_assert_ptr_nonnull(strstr(error.message, "an object at byte 0"));
        ck_assert_str_eq(error.path, "a");
        ck_assert(error.record == 0 && error.offset == 0);
        lx_error_clear(&error);
        if (append == 0)
            import_text("jsonl", "{\"id\": 1}\n");
    }
    expect_length("d", 1);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(bad_records_before_an_interruption_are_counted)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_import_result result;
    struct killer killer = {2, false};
    put_lines("a", 0, 1000, true);
    put_lines("b", 1000, 120000, true);
    put_lines("c", 121000, 100, true);
    lx_importer *importer = importer_of_three();
    unit_ok(lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error));
    unit_ok(lx_importer_set_progress(importer, count_down, &killer, &error));
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_CANCELED);
    unit_ok(lx_importer_set_progress(importer, NULL, NULL, &error));
    unit_ok(lx_importer_set_resume(importer, true, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    lx_importer_get_result(importer, &result);
    ck_assert_uint_gt(result.resumed, 900);
    ck_assert_uint_eq(result.bad, 100 + 12000 + 10);
    ck_assert_str_eq(lx_importer_get_bad(importer, 0)->path, "b");
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

/* It is found before the import if the first records are all, and otherwise after it. */
START_TEST(the_type_of_a_field_that_no_record_has_is_refused)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    put_lines("a", 0, 500, false);
    put_lines("b", 500, 2000, false);
    put_text("c", "{\"id\": 2500, \"text\": null, \"late\": 1}\n");
    lx_importer *importer = importer_of("jsonl", "a");
    unit_ok(lx_importer_set_field(importer, "other", "ignore", &error));
    unit_ok(lx_importer_set_field(importer, "txt", "str", &error));
    ck_assert_int_eq(lx_importer_run(importer, "d", NULL, &error), LX_ERR_ARGUMENT);
    ck_assert_str_eq(error.field, "txt");
    ck_assert_int_eq(access("d", F_OK), -1);
    lx_error_clear(&error);
    lx_importer_free(importer);
    importer = importer_of_three();
    unit_ok(lx_importer_set_field(importer, "late", "int64", &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_int64("d", 2500, "late", 1);
    unit_ok(lx_importer_set_field(importer, "txt", "str", &error));
    ck_assert_int_eq(lx_importer_run(importer, "e", NULL, &error), LX_ERR_ARGUMENT);
    ck_assert_str_eq(error.field, "txt");
    expect_length("e", 2501);
    ck_assert(!is_incomplete("e"));
    lx_error_clear(&error);
    lx_importer_free(importer);
    /* To append, the inputs may lack fields of the dataset. */
    importer = importer_of("jsonl", "a");
    unit_ok(lx_importer_set_append(importer, true, &error));
    unit_ok(lx_importer_set_field(importer, "late", "int64", &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_length("d", 3001);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(gzip_files_and_pipes_are_read)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static char text[1 << 16];
    put_lines("plain", 0, 500, false);
    FILE *file = fopen("plain", "r");
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    gzFile zipped = gzopen("input", "wb");
    gzwrite(zipped, text, (unsigned)size);
    gzclose(zipped);
    zipped = gzopen("input", "ab"); /* a second member */
    gzputs(zipped, "{\"id\": 500, \"text\": \"0000000000000000500\"}\n");
    gzclose(zipped);
    lx_importer *importer = importer_of("jsonl", "input");
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_length("d", 501);
    expect_lines("d", 0, 500, 0);
    ck_assert_int_eq(truncate("input", 200), 0);
    unit_fails(lx_importer_run(importer, "cut", NULL, &error), LX_ERR_CORRUPT);
    lx_importer_free(importer);
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], text, size), (ssize_t)size);
    close(ends[1]);
    ck_assert_int_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);
    importer = importer_of("jsonl", "-");
    unit_ok(lx_importer_run(importer, "piped", NULL, &error));
    expect_length("piped", 500);
    expect_lines("piped", 0, 500, 0);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(an_import_can_be_canceled_and_continued)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct killer killer = {3, false};
    put_lines("a", 0, 120000, false);
    put_lines("b", 120000, 120000, false);
    put_lines("c", 240000, 10, false);
    lx_importer *importer = importer_of_three();
    unit_ok(lx_importer_set_progress(importer, count_down, &killer, &error));
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_CANCELED);
    unit_ok(lx_importer_set_progress(importer, NULL, NULL, &error));
    unit_ok(lx_importer_set_resume(importer, true, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_length("d", 240010);
    expect_lines("d", 239990, 20, 239990);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

/** Imports in a child that is killed after a random time; true if the child was faster. */
static bool import_and_kill(unsigned wait)
{
    pid_t child = fork();
    if (child == 0) {
        lx_importer *importer = importer_of_three();
        lx_importer_set_resume(importer, true, NULL);
        lx_importer_set_bad_policy(importer, LX_BAD_SKIP, NULL);
        lx_status status = lx_importer_run(importer, "d", NULL, NULL);
        lx_importer_free(importer);
        _exit(status == LX_OK ? 0 : 1);
    }
    usleep(wait);
    kill(child, SIGKILL);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFSIGNALED(status) || WEXITSTATUS(status) == 0, "the import failed");
    return WIFEXITED(status);
}

START_TEST(a_killed_import_gives_the_same_dataset)
{
    char *scratch = scratch_make();
    put_lines("a", 0, 3000, false);
    put_lines("b", 3000, 2000, true);
    put_lines("c", 5000, 3000, false);
    int kills = 0;
    for (int round = 0; round < 4; round++) {
        unsigned wait = 1000;
        while (!import_and_kill(wait + (unsigned)rand() % 4000)) {
            kills++;
            wait += wait / 10; /* so that it ends soon, on a slow machine, too */
        }
        expect_length("d", 7800);
        expect_lines("d", 0, 3000, 0);
        expect_lines("d", 3000, 5, 3000);
        expect_lines("d", 3006, 9, 3005);
        expect_lines("d", 5000, 3000, 4800);
        ck_assert(!is_incomplete("d"));
        lx_error error = LX_ERROR_INIT;
        unit_ok(lx_dataset_remove("d", &error));
    }
    ck_assert_msg(kills > 0, "the import was never killed");
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_dataset_does_not_depend_on_the_number_of_threads)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    put_lines("input", 0, 5000, false);
    for (uint32_t threads = 0; threads <= 3; threads++) {
        char name[8];
        lx_executor *executor = NULL;
        lx_executor_options *settings = lx_executor_options_new();
        lx_writer_options *options = lx_writer_options_new();
        lx_importer *importer = importer_of("jsonl", "input");
        unit_ok(lx_executor_options_set_reader_count(settings, threads, &error));
        unit_ok(lx_executor_open(settings, &executor, &error));
        unit_ok(lx_writer_options_set_executor(options, executor, &error));
        unit_ok(lx_importer_set_compression(importer, NULL, LX_COMPRESSION_FLATE, 6, 0, &error));
        snprintf(name, sizeof name, "d%u", threads);
        unit_ok(lx_importer_run(importer, name, options, &error));
        expect_lines(name, 0, 5000, 0);
        lx_importer_free(importer);
        lx_writer_options_free(options);
        lx_executor_options_free(settings);
        lx_executor_close(executor);
    }
    ck_assert_int_eq(system("cmp d0/chunk/0.zr d3/chunk/0.zr && cmp d0/text.offset d3/text.offset "
                            "&& cmp d0/chunk/0.zr d1/chunk/0.zr"),
                     0);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("importer/import-run", numbers_are_rounded_only_to_a_type_that_was_set,
          another_import_into_the_same_path_changes_nothing, inputs_follow_one_another,
          records_are_appended_to_a_dataset,
          the_fields_of_a_dataset_decide_the_types_of_what_is_appended,
          a_failed_import_continues_when_the_input_is_mended, only_the_same_import_continues,
          only_the_same_limit_of_a_record_continues, bad_records_are_skipped_and_listed,
          bad_records_before_an_interruption_are_counted,
          inputs_without_a_good_record_are_refused_with_the_first_reason,
          the_type_of_a_field_that_no_record_has_is_refused,
          an_input_that_cannot_be_opened_has_no_record, gzip_files_and_pipes_are_read,
          a_long_bad_beginning_of_a_pipe_is_refused, an_import_can_be_canceled_and_continued,
          a_killed_import_gives_the_same_dataset,
          the_dataset_does_not_depend_on_the_number_of_threads)
