/* SPDX-License-Identifier: MIT */
/* The format "folder". */
#include <sys/stat.h>

#include "imports.h"

static void make_folders(void)
{
    ck_assert_int_eq(mkdir("in", 0777), 0);
    ck_assert_int_eq(mkdir("in/dog", 0777), 0);
    ck_assert_int_eq(mkdir("in/cat", 0777), 0);
    ck_assert_int_eq(mkdir("in/cat/more", 0777), 0);
    put_text("in/dog/1.png", JPEG "dog 1");
    put_text("in/cat/b.JPG", JPEG "cat b");
    put_text("in/cat/more/a.jpg", JPEG "cat a");
    put_text("in/cat/.DS_Store", "hidden");
    put_text("in/readme.txt", "text");
}

START_TEST(each_file_is_a_record)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    make_folders();
    lx_importer *importer = importer_of("folder", "in");
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_schema("d", "data:bytes name:str class:str label:int64");
    expect_length("d", 4);
    expect_text("d", 0, "name", "cat/b.JPG");
    expect_text("d", 0, "data", JPEG "cat b");
    expect_text("d", 0, "class", "cat");
    expect_int64("d", 0, "label", 0);
    expect_text("d", 1, "name", "cat/more/a.jpg");
    expect_int64("d", 1, "label", 0);
    expect_text("d", 2, "name", "dog/1.png");
    expect_text("d", 2, "class", "dog");
    expect_int64("d", 2, "label", 1);
    expect_text("d", 3, "name", "readme.txt");
    expect_text("d", 3, "class", NULL);
    expect_bytes("d", 3, "label", NULL, 0);
    unit_ok(lx_importer_set_option(importer, "extensions", "png,jpg", &error));
    unit_ok(lx_importer_run(importer, "images", NULL, &error));
    expect_length("images", 3);
    expect_schema("images", "data:image name:str class:str label:int64");
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(without_sub_folders_there_are_no_classes)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    ck_assert_int_eq(mkdir("in", 0777), 0);
    put_text("in/1.jpg", JPEG "one");
    put_text("in/2", JPEG "two"); /* by its first bytes */
    lx_importer *importer = importer_of("folder", "in");
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_schema("d", "data:image name:str");
    unit_ok(lx_importer_set_append(importer, true, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_length("d", 4);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

static void make_files(const char *const *names)
{
    for (; *names != NULL; names++) {
        char folder[40];
        size_t size = strcspn(*names, "/");
        size += 1 + strcspn(*names + size + 1, "/");
        snprintf(folder, sizeof folder, "%.*s", (int)strcspn(*names, "/"), *names);
        (void)mkdir(folder, 0777);
        snprintf(folder, sizeof folder, "%.*s", (int)size, *names);
        (void)mkdir(folder, 0777);
        put_text(*names, "1");
    }
}

static void expect_labels(const char *const *classes, const int64_t *labels, size_t count)
{
    expect_length("d", count);
    for (size_t i = 0; i < count; i++) {
        expect_text("d", i, "class", classes[i]);
        expect_int64("d", i, "label", labels[i]);
    }
}

static lx_importer *importer_of_two(void)
{
    static const char *const names[] = {"a/cat/1", "a/dog/1", "b/ant/1", "b/dog/1", NULL};
    lx_error error = LX_ERROR_INIT;
    lx_importer *importer = importer_of("folder", "a");
    make_files(names);
    unit_ok(lx_importer_add_input(importer, "b", &error));
    return importer;
}

START_TEST(all_inputs_have_one_numbering_of_classes)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const char *const classes[] = {"cat", "dog", "ant", "dog"};
    static const int64_t labels[] = {1, 2, 0, 2};
    lx_importer *importer = importer_of_two();
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_labels(classes, labels, 4);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(classes_that_are_appended_continue_those_of_the_dataset)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const char *const classes[] = {"cat", "dog", "ant", "dog"};
    static const int64_t labels[] = {0, 1, 2, 1};
    lx_importer_free(importer_of_two());
    lx_importer *importer = importer_of("folder", "a");
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    lx_importer_free(importer);
    importer = importer_of("folder", "b");
    unit_ok(lx_importer_set_append(importer, true, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_labels(classes, labels, 4);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(labels_without_classes_cannot_be_continued)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_importer *importer = importer_of_two();
    unit_ok(lx_importer_set_field(importer, "class", "ignore", &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    unit_ok(lx_importer_set_append(importer, true, &error));
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_MISMATCH);
    expect_length("d", 4);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(an_import_that_continues_keeps_the_labels)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const char *const classes[] = {"cat", "dog", "ant", "dog"};
    static const int64_t labels[] = {0, 1, 2, 1};
    lx_importer *importer = importer_of_two();
    lx_importer_free(importer);
    importer = importer_of("folder", "a");
    unit_ok(lx_importer_set_field(importer, "data", "json", &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    lx_importer_free(importer);
    put_text("b/dog/1", "not JSON");
    importer = importer_of("folder", "b");
    unit_ok(lx_importer_set_append(importer, true, &error));
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_CORRUPT);
    expect_length("d", 3);
    put_text("b/dog/1", "1");
    ck_assert_int_eq(mkdir("b/aardvark", 0777), 0);
    unit_ok(lx_importer_set_resume(importer, true, &error));
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_MISMATCH);
    ck_assert_int_eq(rmdir("b/aardvark"), 0);
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_labels(classes, labels, 4);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(an_input_that_is_absent_is_found_before_anything_is_imported)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_importer *importer = importer_of_two();
    unit_ok(lx_importer_add_input(importer, "absent", &error));
    ck_assert_int_eq(lx_importer_run(importer, "d", NULL, &error), LX_ERR_NOT_FOUND);
    ck_assert_str_eq(error.path, "absent");
    ck_assert_int_eq(access("d", F_OK), -1);
    lx_error_clear(&error);
    unit_ok(lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    ck_assert_str_eq(lx_importer_get_bad(importer, 0)->path, "absent");
    expect_length("d", 4);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(hidden_names_are_left_out_unless_the_option_is_set)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    make_folders();
    ck_assert_int_eq(mkdir("in/.ipynb_checkpoints", 0777), 0);
    put_text("in/.ipynb_checkpoints/1.png", "copy");
    put_text("in/dog/._1.png", "attributes");
    lx_importer *importer = importer_of("folder", "in");
    unit_ok(lx_importer_set_option(importer, "hidden", "no", &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_length("d", 4);
    expect_int64("d", 2, "label", 1);
    unit_ok(lx_importer_set_option(importer, "hidden", "yes", &error));
    unit_ok(lx_importer_run(importer, "all", NULL, &error));
    expect_length("all", 7);
    expect_text("all", 0, "class", ".ipynb_checkpoints");
    expect_int64("all", 0, "label", 0);
    expect_text("all", 4, "name", "dog/._1.png");
    expect_int64("all", 4, "label", 2);
    unit_ok(lx_importer_set_option(importer, "hidden", "all", &error));
    unit_fails(lx_importer_run(importer, "none", NULL, &error), LX_ERR_ARGUMENT);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(links_are_followed_unless_they_lead_back)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    make_folders();
    put_text("outside", "linked");
    ck_assert_int_eq(symlink("../../outside", "in/dog/2.png"), 0);
    ck_assert_int_eq(symlink("..", "in/dog/circle"), 0);
    ck_assert_int_eq(mkdir("elsewhere", 0777), 0);
    put_text("elsewhere/3.png", "elsewhere");
    ck_assert_int_eq(symlink("../elsewhere", "in/cow"), 0);
    lx_importer *importer = importer_of("folder", "in");
    lx_status status = lx_importer_run(importer, "d", NULL, &error);
    ck_assert_int_eq(status, LX_ERR_CORRUPT);
    ck_assert_uint_eq(error.record, 5);
    ck_assert_ptr_nonnull(strstr(error.path, "in/dog/circle"));
    lx_error_clear(&error);
    unit_ok(lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_length("d", 6);
    expect_text("d", 2, "data", "elsewhere");
    expect_text("d", 2, "class", "cow");
    expect_int64("d", 2, "label", 1);
    expect_text("d", 4, "data", "linked");
    expect_int64("d", 4, "label", 2);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(files_that_are_too_large_are_refused)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    make_folders();
    put_text("in/cat/c.jpg", "more than ten bytes");
    lx_importer *importer = importer_of("folder", "in");
    unit_ok(lx_importer_set_record_limit(importer, 10, &error));
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_LIMIT);
    unit_ok(lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_length("d", 4);
    ck_assert_uint_eq(lx_importer_get_bad(importer, 0)->record, 1);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(what_is_not_a_folder_is_refused)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    put_text("file", "text");
    lx_importer *importer = importer_of("folder", "file");
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_NOT_FOUND);
    lx_importer_free(importer);
    importer = importer_of("folder", "absent");
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_NOT_FOUND);
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("importer/format-folder", each_file_is_a_record, without_sub_folders_there_are_no_classes,
          all_inputs_have_one_numbering_of_classes,
          classes_that_are_appended_continue_those_of_the_dataset,
          labels_without_classes_cannot_be_continued, an_import_that_continues_keeps_the_labels,
          an_input_that_is_absent_is_found_before_anything_is_imported,
          hidden_names_are_left_out_unless_the_option_is_set,
          links_are_followed_unless_they_lead_back, files_that_are_too_large_are_refused,
          what_is_not_a_folder_is_refused)
