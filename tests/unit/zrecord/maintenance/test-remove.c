/* SPDX-License-Identifier: MIT */
#include <loaderx/zrecord.h>

#include <string.h>

#include "../records.h"

START_TEST(removes_a_dataset_with_its_directory)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 300, 20);
    records_make_sealed("s", 5);
    unit_ok(lx_dataset_remove("d", &error));
    unit_ok(lx_dataset_remove("s/", &error));
    ck_assert_uint_eq(directory_count("."), 0);
    unit_fails(lx_dataset_remove("d", &error), LX_ERR_NOT_FOUND);
    records_make("d", 3, 0); /* the path is free again */
    unit_ok(lx_dataset_remove("d", &error));
    unit_fails(lx_dataset_remove(NULL, &error), LX_ERR_ARGUMENT);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_path_may_be_a_link_or_end_in_a_dot)
{
    static const char *const paths[] = {"link", "link/", "d/.", "d/../d"};
    char *scratch = scratch_make();
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        lx_error error = LX_ERROR_INIT;
        records_make("d", 3, 2);
        if (!file_exists("link"))
            ck_assert_int_eq(symlink("d", "link"), 0);
        unit_ok(lx_dataset_remove(paths[i], &error));
        ck_assert(!file_exists("d"));
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(leaves_other_files_unchanged)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    ck_assert_int_eq(mkdir("d", 0777), 0);
    file_put("d/LOG", "mine", 4);
    expect_error(lx_dataset_remove("d", &error), LX_ERR_NOT_FOUND, "not a dataset", "d/meta.json");
    file_put("d/meta.json", "{}", 2);
    lx_error_clear(&error);
    expect_error(lx_dataset_remove("d", &error), LX_ERR_CORRUPT, "checksum", "d/meta.json");
    ck_assert_uint_eq(file_size("d/LOG"), 4);
    file_put("file", "mine", 4);
    unit_fails(lx_dataset_remove("file", &error), LX_ERR_NOT_FOUND);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_dataset_in_use_is_not_removed)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 3, 2);
    lx_dataset *dataset;
    unit_ok(lx_dataset_open("d", NULL, &dataset, &error));
    expect_error(lx_dataset_remove("d", &error), LX_ERR_BUSY, "read", "d");
    lx_dataset_close(dataset);
    lx_error_clear(&error);
    lx_writer *writer = records_reopen("d", NULL);
    unit_ok(lx_dataset_check_removable("d", &error)); /* in use or not */
    expect_error(lx_dataset_remove("d", &error), LX_ERR_BUSY, "process", "d/LOCK");
    lx_error_clear(&error);
    unit_ok(lx_writer_close(writer, &error));
    unit_ok(lx_dataset_remove("d", &error));
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_directory_with_files_of_others_stays)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const char *const names[] = {"d/notes.txt", "d/chunk/0.zr.bak", "d/LOG.old"};
    records_make("d", 300, 2);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        file_put(names[i], "mine", 4);
        lx_status status = lx_dataset_remove("d", &error);
        expect_error(status, LX_ERR_EXISTS, strrchr(names[i], '/') + 1, "d");
        lx_error_clear(&error);
        status = lx_dataset_check_removable("d", &error);
        expect_error(status, LX_ERR_EXISTS, strrchr(names[i], '/') + 1, "d");
        expect_dataset("d", 302);
        unlink(names[i]);
        lx_error_clear(&error);
    }
    static const char *const folders[] = {"d/LOG.77", "d/image.offset.5", "d/chunk/7.zr",
                                          "d/notes.check"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        ck_assert_int_eq(mkdir(folders[i], 0777), 0);
        lx_status status = lx_dataset_remove("d", &error);
        expect_error(status, LX_ERR_EXISTS, strrchr(folders[i], '/') + 1, "d");
        expect_dataset("d", 302);
        rmdir(folders[i]);
        lx_error_clear(&error);
    }
    unit_ok(lx_dataset_remove("d", &error));
    scratch_remove(scratch);
}
END_TEST

START_TEST(completes_an_interrupted_removal)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 300, 2);
    unlink("d/chunk/0.zr");
    rmdir("d/chunk");
    unlink("d/LOG");
    unit_ok(lx_dataset_remove("d", &error));
    ck_assert_uint_eq(directory_count("."), 0);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/remove", removes_a_dataset_with_its_directory,
          a_path_may_be_a_link_or_end_in_a_dot, leaves_other_files_unchanged,
          a_dataset_in_use_is_not_removed, a_directory_with_files_of_others_stays,
          completes_an_interrupted_removal)
