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
    put_text("in/dog/1.png", "dog 1");
    put_text("in/cat/b.JPG", "cat b");
    put_text("in/cat/more/a.jpg", "cat a");
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
    expect_text("d", 0, "data", "cat b");
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

START_TEST(links_to_files_are_read_and_those_to_folders_refused)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    make_folders();
    put_text("outside", "linked");
    ck_assert_int_eq(symlink("../../outside", "in/dog/2.png"), 0);
    ck_assert_int_eq(symlink("..", "in/dog/circle"), 0);
    lx_importer *importer = importer_of("folder", "in");
    lx_status status = lx_importer_run(importer, "d", NULL, &error);
    ck_assert_int_eq(status, LX_ERR_CORRUPT);
    ck_assert_uint_eq(error.record, 4);
    ck_assert_ptr_nonnull(strstr(error.path, "in/dog/circle"));
    lx_error_clear(&error);
    unit_ok(lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_length("d", 5);
    expect_text("d", 3, "data", "linked");
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

UNIT_MAIN("importer/format-folder", each_file_is_a_record,
          links_to_files_are_read_and_those_to_folders_refused,
          files_that_are_too_large_are_refused, what_is_not_a_folder_is_refused)
