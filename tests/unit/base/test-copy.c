/* SPDX-License-Identifier: MIT */
/* Copies of ranges between files, by the system and by hand, and within one file. */
#include "base/copy.h"
#include "base/file.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "../scarce.h"
#include "../scratch.h"
#include "../unit.h"

#define SIZE ((size_t)3 << 20)

static lx__file make(const char *name, size_t size, uint8_t seed)
{
    lx_error error = LX_ERROR_INIT;
    lx__file file;
    uint8_t *bytes = malloc(size + 1);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 4096 + seed);
    unit_ok(lx__file_open(&file, LX__CWD, name, O_RDWR | O_CREAT, &error));
    unit_ok(lx__file_write(&file, bytes, size, 0, &error));
    free(bytes);
    return file;
}

static uint8_t *bytes_of(const lx__file *file, size_t size)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t *bytes = malloc(size + 1);
    unit_ok(lx__file_read(file, bytes, size, 0, &error));
    return bytes;
}

START_TEST(copies_a_range_to_its_own_offset)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const uint64_t ranges[][2] = {{0, SIZE}, {0, 0}, {1, 1}, {4095, 8194}, {SIZE - 5, 5}};
    lx__file from = make("from", SIZE, 3);
    uint8_t *wanted = bytes_of(&from, SIZE);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        lx__file to = make("to", SIZE, 200);
        uint8_t *before = bytes_of(&to, SIZE);
        unit_ok(lx__file_copy(&from, ranges[i][0], &to, ranges[i][0], ranges[i][1], &error));
        uint8_t *after = bytes_of(&to, SIZE);
        memcpy(before + ranges[i][0], wanted + ranges[i][0], ranges[i][1]);
        ck_assert(memcmp(before, after, SIZE) == 0);
        free(after);
        free(before);
        lx__file_close(&to);
    }
    free(wanted);
    lx__file_close(&from);
    scratch_remove(scratch);
}
END_TEST

START_TEST(copies_a_range_to_another_offset)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__file from = make("from", SIZE, 3), to = make("to", 0, 0), appended;
    uint8_t *wanted = bytes_of(&from, SIZE);
    unit_ok(lx__file_copy(&from, 777, &to, 5, SIZE - 777, &error));
    uint8_t *got = bytes_of(&to, SIZE - 772);
    ck_assert(memcmp(got + 5, wanted + 777, SIZE - 777) == 0);
    unit_ok(lx__file_open(&appended, LX__CWD, "more", O_RDWR | O_CREAT | O_APPEND, &error));
    unit_ok(lx__file_copy(&from, 777, &appended, 0, SIZE - 777, &error));
    free(got);
    got = bytes_of(&appended, SIZE - 777);
    ck_assert(memcmp(got, wanted + 777, SIZE - 777) == 0);
    free(got);
    free(wanted);
    lx__file_close(&appended);
    lx__file_close(&from);
    lx__file_close(&to);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_a_file_that_ends_early)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__file from = make("from", 1000, 3), to = make("to", 0, 0);
    lx_error_clear(&error);
    ck_assert_int_eq(lx__file_copy(&from, 0, &to, 0, 1001, &error), LX_ERR_CORRUPT);
    ck_assert_str_eq(error.path, "from");
    unit_fails(lx__file_copy(&from, 5000, &to, 5000, 1, &error), LX_ERR_CORRUPT);
    unit_ok(lx__file_copy(&from, 0, &to, 0, 1000, &error));
    lx__file_close(&from);
    lx__file_close(&to);
    scratch_remove(scratch);
}
END_TEST

START_TEST(falls_back_to_read_and_write)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__file from = make("from", SIZE, 3), to;
    /* The system cannot copy to a file open for appending: EBADF. */
    unit_ok(lx__file_open(&to, LX__CWD, "to", O_RDWR | O_CREAT | O_APPEND, &error));
    unit_ok(lx__file_copy(&from, 0, &to, 0, SIZE, &error));
    uint8_t *wanted = bytes_of(&from, SIZE), *got = bytes_of(&to, SIZE);
    ck_assert(memcmp(wanted, got, SIZE) == 0);
    scarce_begin(0);
    unit_fails(lx__file_copy(&from, 0, &to, 0, SIZE, &error), LX_ERR_NOMEM);
    scarce_begin(1000);
    free(wanted);
    free(got);
    lx__file_close(&from);
    lx__file_close(&to);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_a_file_that_must_not_grow)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__file from = make("from", SIZE, 3), to = make("to", 0, 0);
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 1 << 20;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    lx_status status = lx__file_copy(&from, 0, &to, 0, SIZE, &error);
    limit.rlim_cur = before;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_int_eq(status, LX_ERR_IO);
    ck_assert_int_eq(error.errnum, EFBIG);
    ck_assert_str_eq(error.path, "to");
    lx__file_close(&from);
    lx__file_close(&to);
    scratch_remove(scratch);
}
END_TEST

START_TEST(writing_back_keeps_the_bytes)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const uint64_t ranges[][2] = {
        {0, SIZE}, {0, 0}, {9, 3}, {4095, 12289}, {SIZE - 5, SIZE}};
    lx__file file = make("file", SIZE, 3);
    uint8_t *before = bytes_of(&file, SIZE);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        unit_ok(lx__file_write_back(&file, ranges[i][0], ranges[i][1], &error));
        uint8_t *after = bytes_of(&file, SIZE);
        ck_assert(memcmp(before, after, SIZE) == 0);
        free(after);
    }
    unit_fails(lx__file_write_back(&file, SIZE - 5, SIZE + 1, &error), LX_ERR_CORRUPT);
    uint64_t size;
    unit_ok(lx__file_size(&file, &size, &error));
    ck_assert_uint_eq(size, SIZE);
    scarce_begin(0);
    unit_fails(lx__file_write_back(&file, 0, SIZE, &error), LX_ERR_NOMEM);
    scarce_begin(1000);
    free(before);
    lx__file_close(&file);
    scratch_remove(scratch);
}
END_TEST

/** The time of the last write, in seconds. */
static int64_t time_of(const lx__file *file)
{
    struct stat about;
    ck_assert_int_eq(fstat(file->fd, &about), 0);
    return about.st_mtim.tv_sec;
}

START_TEST(writes_back_the_range)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const struct timespec past[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    lx__file file = make("file", SIZE, 3), reads;
    ck_assert_int_eq(futimens(file.fd, past), 0);
    unit_ok(lx__file_write_back(&file, 7, 7, &error));
    ck_assert_int_eq(time_of(&file), 1);
    unit_ok(lx__file_write_back(&file, 7, 8, &error));
    ck_assert_int_gt(time_of(&file), 1);
    unit_ok(lx__file_open(&reads, LX__CWD, "file", O_RDONLY, &error));
    ck_assert_int_eq(lx__file_write_back(&reads, 0, SIZE, &error), LX_ERR_IO);
    ck_assert_str_eq(error.path, "file");
    lx__file_close(&reads);
    lx__file_close(&file);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("base/copy", copies_a_range_to_its_own_offset, copies_a_range_to_another_offset,
          reports_a_file_that_ends_early, falls_back_to_read_and_write,
          reports_a_file_that_must_not_grow, writing_back_keeps_the_bytes, writes_back_the_range)
