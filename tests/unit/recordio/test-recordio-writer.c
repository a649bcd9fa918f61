/* SPDX-License-Identifier: MIT */
/* Writing RecordIO files, and appending to them. */
#include <sys/stat.h>
#include <unistd.h>

#include "records.h"

#define COUNT 300

static void write_records(lx_recordio_writer *writer, unsigned first, unsigned end)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t record[RECORD_MAX];
    for (unsigned i = first; i < end; i++)
        unit_ok(lx_recordio_writer_write(writer, NULL, record, record_make(i, record), &error));
    ck_assert_uint_eq(lx_recordio_writer_get_count(writer), end);
}

/** The files must be those of records 0 to @p count - 1. */
static void expect_files(const char *path, const char *index, unsigned count)
{
    uint64_t offsets[COUNT + 1];
    struct bytes right = bytes_make(count, offsets), lines = {NULL, 0};
    expect_file(path, &right);
    free(right.data);
    for (unsigned i = 0; i < count; i++) {
        char line[48];
        bytes_add(
            &lines, line,
            (size_t)snprintf(line, sizeof line, "%u\t%llu\n", i, (unsigned long long)offsets[i]));
    }
    expect_file(index, &lines);
    free(lines.data);
}

START_TEST(writes_the_bytes_of_dmlc)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_recordio_writer *writer;
    unit_ok(lx_recordio_writer_create("a.rec", "a.idx", false, &writer, &error));
    write_records(writer, 0, COUNT);
    unit_ok(lx_recordio_writer_close(writer, &error));
    expect_files("a.rec", "a.idx", COUNT);
    scratch_remove(scratch);
}
END_TEST

START_TEST(appends_after_the_last_record)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_recordio_writer *writer;
    unit_ok(lx_recordio_writer_create("a.rec", "a.idx", false, &writer, &error));
    unit_ok(lx_recordio_writer_close(writer, &error));
    for (unsigned i = 0; i < COUNT; i += 60) {
        unit_ok(lx_recordio_writer_append("a.rec", "a.idx", &writer, &error));
        write_records(writer, i, i + 60);
        unit_ok(lx_recordio_writer_close(writer, &error));
    }
    expect_files("a.rec", "a.idx", COUNT);
    scratch_remove(scratch);
}
END_TEST

START_TEST(appends_only_to_a_whole_file)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_recordio_writer *writer;
    uint64_t offsets[21];
    struct bytes bytes = bytes_make(20, offsets);
    for (size_t size = 0; size <= 3000; size++) {
        bool whole = false;
        for (int i = 0; i <= 20; i++)
            whole = whole || offsets[i] == size;
        write_bytes("a.rec", bytes.data, size);
        if (whole) {
            unit_ok(lx_recordio_writer_append("a.rec", NULL, &writer, &error));
            unit_ok(lx_recordio_writer_close(writer, &error));
        } else {
            unit_fails(lx_recordio_writer_append("a.rec", NULL, &writer, &error), LX_ERR_CORRUPT);
            ck_assert_ptr_null(writer);
        }
    }
    write_bytes("a.rec", bytes.data, bytes.size);
    write_bytes("a.idx", "0\t0\n", 4);
    unit_fails(lx_recordio_writer_append("a.rec", "a.idx", &writer, &error), LX_ERR_MISMATCH);
    write_bytes("a.rec", bytes.data, offsets[2]);
    char lines[64];
    snprintf(lines, sizeof lines, "a\t%d\nb\t0", (int)offsets[1]); /* without a line feed */
    write_bytes("a.idx", lines, strlen(lines));
    unit_ok(lx_recordio_writer_append("a.rec", "a.idx", &writer, &error));
    unit_ok(lx_recordio_writer_write(writer, "c", "x", 1, &error));
    unit_ok(lx_recordio_writer_close(writer, &error));
    snprintf(lines + strlen(lines), 30, "\nc\t%d\n", (int)offsets[2]);
    expect_file("a.idx", &(struct bytes){(uint8_t *)lines, strlen(lines)});
    snprintf(lines, sizeof lines, "a\t0\nb\t0\nc\t%d\n", (int)offsets[2]);
    write_bytes("a.idx", lines, strlen(lines));
    unit_fails(lx_recordio_writer_append("a.rec", "a.idx", &writer, &error), LX_ERR_MISMATCH);
    unit_fails(lx_recordio_writer_append("a.rec", "b.idx", &writer, &error), LX_ERR_NOT_FOUND);
    free(bytes.data);
    scratch_remove(scratch);
}
END_TEST

START_TEST(belongs_to_one_process)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_recordio_writer *writer;
    unit_ok(lx_recordio_writer_create("a.rec", "a.idx", false, &writer, &error));
    write_records(writer, 0, 5);
    if (unit_in_child()) {
        bool refused = lx_recordio_writer_write(writer, NULL, "a", 1, NULL) == LX_ERR_FORKED;
        lx_recordio_writer_close(writer, NULL);
        struct stat about;
        _exit(refused && stat("a.rec", &about) == 0 && about.st_size == 0 ? 0 : 1);
    }
    write_records(writer, 5, 10);
    unit_ok(lx_recordio_writer_close(writer, &error));
    expect_files("a.rec", "a.idx", 10);
    scratch_remove(scratch);
}
END_TEST

START_TEST(keeps_existing_files)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_recordio_writer *writer;
    write_bytes("a.rec", "abc", 3);
    unit_fails(lx_recordio_writer_create("a.rec", NULL, false, &writer, &error), LX_ERR_EXISTS);
    unit_fails(lx_recordio_writer_create("b.rec", "a.rec", false, &writer, &error), LX_ERR_EXISTS);
    ck_assert_int_eq(access("b.rec", F_OK), -1);
    unit_ok(lx_recordio_writer_create("a.rec", "a.idx", true, &writer, &error));
    write_records(writer, 0, 3);
    unit_ok(lx_recordio_writer_close(writer, &error));
    expect_files("a.rec", "a.idx", 3);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_invalid_records)
{
    static const char *const keys[] = {"", "a\tb", "a\n", "\r"};
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_recordio_writer *writer;
    unit_fails(lx_recordio_writer_create(NULL, NULL, false, &writer, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_recordio_writer_create("a.rec", NULL, false, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_recordio_writer_append(NULL, NULL, &writer, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_recordio_writer_append("a.rec", NULL, &writer, &error), LX_ERR_NOT_FOUND);
    unit_fails(lx_recordio_writer_write(NULL, NULL, "a", 1, &error), LX_ERR_ARGUMENT);
    ck_assert_int_eq(mkfifo("pipe", 0600), 0);
    static const char *const others[] = {"-", "pipe", "/dev/null", "."};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        unit_fails(lx_recordio_writer_create(others[i], NULL, true, &writer, &error),
                   LX_ERR_ARGUMENT);
        unit_fails(lx_recordio_writer_create("new", others[i], false, &writer, &error),
                   LX_ERR_ARGUMENT);
        ck_assert_int_eq(access("new", F_OK), -1);
        unit_fails(lx_recordio_writer_append(others[i], NULL, &writer, &error), LX_ERR_ARGUMENT);
    }
    unit_ok(lx_recordio_writer_create("a.rec", "a.idx", false, &writer, &error));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        unit_fails(lx_recordio_writer_write(writer, keys[i], "a", 1, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_recordio_writer_write(writer, NULL, NULL, 1, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_recordio_writer_write(writer, NULL, "a", LX_MAX_RECORDIO_LENGTH, &error),
               LX_ERR_LIMIT);
    ck_assert_uint_eq(lx_recordio_writer_get_offset(writer), 0);
    unit_ok(lx_recordio_writer_write(writer, "a key", NULL, 0, &error));
    ck_assert_uint_eq(lx_recordio_writer_get_offset(writer), 8);
    unit_ok(lx_recordio_writer_close(writer, &error));
    unit_ok(lx_recordio_writer_close(NULL, &error));
    char line[] = "a key\t0\n";
    expect_file("a.idx", &(struct bytes){(uint8_t *)line, strlen(line)});
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("recordio/recordio-writer", belongs_to_one_process, writes_the_bytes_of_dmlc,
          appends_after_the_last_record, appends_only_to_a_whole_file, keeps_existing_files,
          rejects_invalid_records)
