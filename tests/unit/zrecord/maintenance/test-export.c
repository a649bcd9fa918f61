/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../records.h"
#include "zrecord/maintenance/export-options.h"

static lx_status stop(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    (void)error;
    (void)done, (void)total, (void)user;
    return LX_ERR_CANCELED;
}

/** Exports all records, or only those at @p indices, to an .npy file. */
static lx_status export_npy(lx_dataset *dataset, size_t field, const uint64_t *indices,
                            uint64_t count, const char *path, lx_progress_function progress,
                            lx_export_result *result, lx_error *error)
{
    const lx_export_options options = {.indices = indices, .count = count, .progress = progress};
    return lx_dataset_export_npy(dataset, field, path, &options, result, error);
}

/** Exports all records, or only those at @p indices, to a file each. */
static lx_status export_files(lx_dataset *dataset, size_t field, const uint64_t *indices,
                              uint64_t count, const char *path, const char *suffix,
                              lx_progress_function progress, lx_export_result *result,
                              lx_error *error)
{
    lx_export_options options = {.indices = indices, .count = count, .progress = progress};
    lx_status status = lx_export_options_set_suffix(&options, suffix, error);
    return status == LX_OK ? lx_dataset_export_files(dataset, field, path, &options, result, error)
                           : status;
}

START_TEST(an_array_has_a_header_and_all_records)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_export_result done;
    uint8_t right[VALUE_MAX];
    size_t size;
    records_make("d", 20, 10);
    lx_dataset *dataset = open_dataset("d");
    unit_ok(export_npy(dataset, IMAGE, NULL, 0, "x.npy", NULL, &done, &error));
    ck_assert_uint_eq(done.records, 30);
    ck_assert_uint_eq(done.missing, 4); /* every seventh one */
    ck_assert_uint_eq(done.first_missing, 6);
    uint8_t *bytes = file_bytes("x.npy", &size);
    ck_assert_uint_eq(size, 128 + 30 * 12);
    ck_assert_mem_eq(bytes, "\x93NUMPY\x01\x00\x76\x00", 10);
    ck_assert_ptr_nonnull(strstr((char *)bytes + 10, "'descr': '|u1', 'fortran_order': False, "
                                                     "'shape': (30, 3, 4), }"));
    for (uint64_t i = 0; i < 30; i++) {
        memset(right, 0, 12);
        (void)record_value(IMAGE, i, right);
        if (i % 7 == 6)
            memset(right, 0, 12);
        ck_assert_mem_eq(bytes + 128 + i * 12, right, 12);
    }
    free(bytes);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(chosen_records_go_to_files)
{
    static const uint64_t indices[] = {3, 5, 12};
    char *scratch = scratch_make(), name[64];
    lx_error error = LX_ERROR_INIT;
    lx_export_result done;
    uint8_t right[VALUE_MAX];
    records_make_sealed("d", 20);
    lx_dataset *dataset = open_dataset("d");
    unit_ok(export_files(dataset, CAPTION, indices, 3, "out", ".txt", NULL, &done, &error));
    ck_assert_uint_eq(done.records, 3);
    for (size_t i = 0; i < 3; i++) {
        uint64_t wanted = record_value(CAPTION, indices[i], right);
        snprintf(name, sizeof name, "out/%08d.txt", (int)indices[i]);
        ck_assert(file_exists(name) == (wanted != LX_NONE));
        if (wanted == LX_NONE)
            continue;
        size_t size;
        uint8_t *bytes = file_bytes(name, &size);
        ck_assert_uint_eq(size, wanted);
        ck_assert_mem_eq(bytes, right, size);
        free(bytes);
    }
    unit_fails(export_files(dataset, CAPTION, indices, 3, "out", ".txt", NULL, NULL, &error),
               LX_ERR_EXISTS);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_failed_export_leaves_no_array)
{
    static const uint64_t beyond = 20;
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make_sealed("d", 20);
    lx_dataset *dataset = open_dataset("d");
    unit_fails(export_npy(dataset, CAPTION, NULL, 0, "x", NULL, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(export_npy(dataset, FIELDS, NULL, 0, "x", NULL, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(export_npy(dataset, IMAGE, &beyond, 1, "x", NULL, NULL, &error), LX_ERR_RANGE);
    unit_fails(export_files(dataset, IMAGE, NULL, 0, "x", "/", NULL, NULL, &error),
               LX_ERR_ARGUMENT);
    const lx_export_options named = {.suffix = ".npy"};
    unit_fails(lx_dataset_export_npy(dataset, IMAGE, "x", &named, NULL, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(export_npy(dataset, IMAGE, NULL, 0, NULL, NULL, NULL, &error), "path");
    ck_assert_int_eq(export_npy(dataset, IMAGE, NULL, 0, "x", stop, NULL, &error), LX_ERR_CANCELED);
    ck_assert_int_eq(error.status, LX_ERR_CANCELED);
    lx_error_clear(&error);
    ck_assert(!file_exists("x"));
    ck_assert_int_eq(export_files(dataset, IMAGE, NULL, 0, "each", NULL, stop, NULL, &error),
                     LX_ERR_CANCELED);
    ck_assert_int_eq(error.status, LX_ERR_CANCELED);
    lx_error_clear(&error);
    /* A file in the way is not damage of the dataset, and stays. */
    ck_assert_int_eq(mkdir("x", 0700), 0);
    ck_assert_int_eq(mkfifo("fifo", 0600), 0);
    unit_fails(export_npy(dataset, IMAGE, NULL, 0, "x", NULL, NULL, &error), LX_ERR_EXISTS);
    unit_fails(export_npy(dataset, IMAGE, NULL, 0, "fifo", NULL, NULL, &error), LX_ERR_EXISTS);
    ck_assert(file_exists("x") && file_exists("fifo"));
    /* An export neither overwrites files of the dataset nor adds any to its directory. */
    static const char *const inside[] = {"d/LOG", "d/x.npy", "d/chunk/0.zr"};
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        unit_fails(export_npy(dataset, IMAGE, NULL, 0, inside[i], NULL, NULL, &error),
                   LX_ERR_ARGUMENT);
    static const char *const folders[] = {"d", "d/x", "d/chunk", "d/chunk/x"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        unit_fails(export_files(dataset, IMAGE, NULL, 0, folders[i], NULL, NULL, NULL, &error),
                   LX_ERR_ARGUMENT);
    expect_dataset("d", 20);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(keeps_the_old_file_until_the_new_one_is_complete)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 20, 0);
    lx_dataset *dataset = open_dataset("d");
    size_t names = directory_count("."), size;
    file_put("x", "former", 6);
    ck_assert_int_eq(export_npy(dataset, IMAGE, NULL, 0, "x", stop, NULL, &error), LX_ERR_CANCELED);
    uint8_t *bytes = file_bytes("x", &size);
    ck_assert(size == 6 && memcmp(bytes, "former", 6) == 0);
    free(bytes);
    int open_before = open("x", O_RDONLY);
    ck_assert_int_ne(open_before, -1);
    unit_ok(export_npy(dataset, IMAGE, NULL, 0, "x", NULL, NULL, &error));
    char former[7];
    ck_assert_int_eq(read(open_before, former, sizeof former), 6); /* also if it is mapped */
    close(open_before);
    ck_assert_uint_eq(file_size("x"), 128 + 20 * 12);
    ck_assert_uint_eq(directory_count("."), names + 1);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(does_not_write_into_a_dataset_through_a_link)
{
    static const char *const inside[] = {"d/LOG", "d/meta.json", "d/chunk/0.zr"};
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 20, 0);
    lx_dataset *dataset = open_dataset("d");
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        ck_assert_int_eq(symlink(inside[i], "link"), 0);
        unit_fails(export_npy(dataset, IMAGE, NULL, 0, "link", NULL, NULL, &error),
                   LX_ERR_ARGUMENT);
        ck_assert_int_eq(unlink("link"), 0);
        ck_assert_int_eq(link(inside[i], "hard"), 0);
        unit_ok(export_npy(dataset, IMAGE, NULL, 0, "hard", NULL, NULL, &error));
        ck_assert_int_eq(unlink("hard"), 0);
    }
    expect_dataset("d", 20);
    ck_assert_int_eq(symlink("d/new", "link"), 0);
    unit_fails(export_npy(dataset, IMAGE, NULL, 0, "link", NULL, NULL, &error), LX_ERR_EXISTS);
    ck_assert_int_eq(unlink("link"), 0);
    /* Other links are followed, and stay links. */
    ck_assert_int_eq(mkdir("elsewhere", 0700), 0);
    file_put("elsewhere/x", "", 0);
    ck_assert_int_eq(symlink("elsewhere/x", "link"), 0);
    unit_ok(export_npy(dataset, IMAGE, NULL, 0, "link", NULL, NULL, &error));
    ck_assert_uint_eq(file_size("elsewhere/x"), 128 + 20 * 12);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(removes_a_partly_written_file)
{
    static uint8_t bytes[100000];
    static const size_t sizes[] = {10, sizeof bytes, 20};
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_export_result done;
    const uint64_t last[] = {1, 2};
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "note", LX_BYTES, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
    lx_schema_free(schema);
    for (size_t i = 0; i < 3; i++) {
        lx_value value = {bytes, sizes[i]};
        unit_ok(lx_writer_append(writer, &value, 1, NULL, &error));
    }
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    limit_files(50000);
    lx_status status = export_files(dataset, 0, NULL, 0, "out", ".bin", NULL, NULL, &error);
    unlimit_files();
    ck_assert_int_eq(status, LX_ERR_IO);
    ck_assert_uint_eq(directory_count("out"), 1); /* the first file is complete */
    ck_assert_uint_eq(file_size("out/00000000.bin"), sizes[0]);
    lx_error_clear(&error);
    unit_ok(export_files(dataset, 0, last, 2, "out", ".bin", NULL, &done, &error));
    ck_assert_uint_eq(done.records, 2);
    ck_assert_uint_eq(file_size("out/00000001.bin"), sizes[1]);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/export", an_array_has_a_header_and_all_records, chosen_records_go_to_files,
          a_failed_export_leaves_no_array, keeps_the_old_file_until_the_new_one_is_complete,
          does_not_write_into_a_dataset_through_a_link, removes_a_partly_written_file)
