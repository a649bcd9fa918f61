/* SPDX-License-Identifier: MIT */
#include "loader/sources/source.h"

#include <sys/stat.h>

#include "../../scratch.h"
#include "../loaders.h"
#include "../npy-file.h"

START_TEST(opens_files_and_directories)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_source *source;
    write_npy("a.npy", 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", 16);
    unit_ok(lx_source_open("a.npy", NULL, &source, &error));
    ck_assert_str_eq(source->class->kind, "npy");
    lx_source_unref(source);

    ck_assert_int_eq(symlink("a.npy", "link"), 0);
    unit_ok(lx_source_open("link", NULL, &source, &error));
    lx_source_unref(source);

    ck_assert_int_eq(lx_source_open("none", NULL, &source, &error), LX_ERR_NOT_FOUND);
    ck_assert_str_eq(error.path, "none");
    lx_error_clear(&error);
    unit_fails(lx_source_open(NULL, NULL, &source, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_source_open("a.npy", NULL, NULL, &error), LX_ERR_ARGUMENT);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_options_without_effect)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_source *source;
    lx_dataset_options *options = lx_dataset_options_new();
    write_npy("a.npy", 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", 16);
    unit_fails(lx_source_open("a.npy", options, &source, &error), LX_ERR_ARGUMENT);
    lx_dataset_options_free(options);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_other_files_without_waiting)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_source *source;
    ck_assert_int_eq(mkfifo("fifo", 0600), 0);
    ck_assert_int_eq(lx_source_open("fifo", NULL, &source, &error), LX_ERR_UNSUPPORTED);
    ck_assert_str_eq(error.path, "fifo");
    lx_error_clear(&error);
    unit_fails(lx_source_open("/dev/null", NULL, &source, &error), LX_ERR_UNSUPPORTED);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_errno_of_system_errors)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_source *source;
    write_bytes("file", "x", 1);
    ck_assert_int_eq(lx_source_open("file/inside", NULL, &source, &error), LX_ERR_IO);
    ck_assert_int_eq(error.errnum, ENOTDIR);
    ck_assert_str_eq(error.path, "file/inside");
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("loader/source-open", opens_files_and_directories, rejects_options_without_effect,
          rejects_other_files_without_waiting, reports_errno_of_system_errors)
