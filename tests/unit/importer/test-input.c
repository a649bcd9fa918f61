/* SPDX-License-Identifier: MIT */
/* Inputs: files, pipes and gzip. */
#include <fcntl.h>
#include <zlib.h>

#include "imports.h"
#include "importer/input.h"

static lx_status keep_waiting(void *user, lx_error *error)
{
    int *left = user;
    return left == NULL || --*left > 0 ? LX_OK : lx_fail(error, LX_ERR_CANCELED, "enough");
}

/** A line of a number, of varying length. */
static size_t line_of(int i, char line[3000])
{
    size_t size = (size_t)snprintf(line, 3000, "%d ", i);
    memset(line + size, 'a' + i % 26, (size_t)(i * 7919 % 2500));
    size += (size_t)(i * 7919 % 2500);
    line[size++] = '\n';
    return size;
}

static void put_many(const char *name, int count, bool zipped)
{
    char line[3000];
    gzFile file = gzopen(name, zipped ? "wb" : "wbT");
    for (int i = 0; i < count; i++)
        gzwrite(file, line, (unsigned)line_of(i, line));
    gzclose(file);
}

static void expect_lines(lx__input *input, int first, int count)
{
    lx_error error = LX_ERROR_INIT;
    char right[3000];
    const char *line;
    size_t size;
    for (int i = first; i < count; i++) {
        uint64_t before = input->offset;
        unit_ok(lx__input_line(input, 3000, &line, &size, &error));
        ck_assert_uint_eq(size + 1, line_of(i, right));
        ck_assert_mem_eq(line, right, size);
        ck_assert_uint_eq(input->offset, before + size + 1);
    }
    ck_assert_int_eq(lx__input_line(input, 3000, &line, &size, &error), LX_END);
}

START_TEST(lines_are_found_across_blocks)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    for (int zipped = 0; zipped < 2; zipped++) {
        lx__input input;
        put_many("file", 2000, zipped);
        unit_ok(lx__input_open(&input, "file", 0, keep_waiting, NULL, &error));
        ck_assert(!input.once && (input.gzip != NULL) == zipped);
        expect_lines(&input, 0, 2000);
        ck_assert_uint_eq(input.file_read, input.file_size);
        lx__input_close(&input);
    }
    scratch_remove(scratch);
}
END_TEST

/** Makes a file the standard input, which cannot be opened again from its beginning. */
static void read_from(const char *name)
{
    int fd = open(name, O_RDONLY);
    ck_assert_int_eq(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    close(fd);
}

START_TEST(an_input_that_is_kept_can_be_read_again)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__input input;
    put_many("file", 1000, true);
    read_from("file");
    unit_ok(lx__input_open(&input, "-", 10 << 20, keep_waiting, NULL, &error));
    const char *line;
    size_t size;
    for (int i = 0; i < 400; i++)
        unit_ok(lx__input_line(&input, 3000, &line, &size, &error));
    lx__input_rewind(&input);
    ck_assert_uint_eq(input.offset, 0);
    expect_lines(&input, 0, 1000);
    lx__input_close(&input);
    scratch_remove(scratch);
}
END_TEST

START_TEST(what_is_kept_is_bounded)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    enum { KEEP = 1 << 20, MOST = 4 << 20 };
    lx__input input;
    uint64_t skipped;
    for (int zipped = 0; zipped < 2; zipped++) {
        put_many("file", 10000, zipped); /* 12 MB */
        unit_ok(lx__input_open(&input, "file", KEEP, keep_waiting, NULL, &error));
        unit_ok(lx__input_skip(&input, UINT64_MAX, &skipped, &error));
        ck_assert_uint_gt(skipped, 2 * MOST);
        ck_assert_uint_lt(input.capacity, KEEP); /* it can be opened again */
        lx__input_close(&input);
        read_from("file");
        unit_ok(lx__input_open(&input, "-", KEEP, keep_waiting, NULL, &error));
        unit_fails(lx__input_skip(&input, UINT64_MAX, &skipped, &error), LX_ERR_LIMIT);
        ck_assert(input.failed && input.overfull && skipped >= KEEP);
        ck_assert_uint_lt(input.capacity, MOST);
        lx__input_close(&input);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(bytes_can_be_skipped)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__input input;
    char line[3000];
    uint64_t skipped, size = 0;
    put_many("file", 1500, false);
    for (int i = 0; i < 1400; i++)
        size += line_of(i, line);
    unit_ok(lx__input_open(&input, "file", 0, keep_waiting, NULL, &error));
    unit_ok(lx__input_skip(&input, size, &skipped, &error));
    ck_assert_uint_eq(skipped, size);
    expect_lines(&input, 1400, 1500);
    unit_ok(lx__input_skip(&input, 5, &skipped, &error));
    ck_assert_uint_eq(skipped, 0);
    lx__input_close(&input);
    scratch_remove(scratch);
}
END_TEST

START_TEST(truncated_and_damaged_gzip_is_refused)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static uint8_t data[100000];
    put_many("file", 30, true);
    int fd = open("file", O_RDONLY);
    size_t size = (size_t)read(fd, data, sizeof data);
    close(fd);
    for (size_t i = 0; i < 200; i++) {
        lx__input input;
        uint64_t skipped;
        size_t cut = i % 2 == 0 ? 2 + i * (size - 3) / 200 : size;
        if (i % 2 == 1)
            data[10 + i % (size - 10)] ^= 0x55;
        put_bytes("bad", data, cut);
        lx_status status = lx__input_open(&input, "bad", 0, keep_waiting, NULL, &error);
        if (status == LX_OK)
            status = lx__input_skip(&input, UINT64_MAX, &skipped, &error);
        ck_assert_int_eq(status, LX_ERR_CORRUPT);
        ck_assert(input.failed && error.offset <= cut);
        lx_error_clear(&error);
        lx__input_close(&input);
        if (i % 2 == 1)
            data[10 + i % (size - 10)] ^= 0x55;
    }
    memcpy(data + size, "more", 4);
    put_bytes("bad", data, size + 4);
    lx__input input;
    uint64_t skipped;
    unit_ok(lx__input_open(&input, "bad", 0, keep_waiting, NULL, &error));
    unit_fails(lx__input_skip(&input, UINT64_MAX, &skipped, &error), LX_ERR_CORRUPT);
    lx__input_close(&input);
    scratch_remove(scratch);
}
END_TEST

/* Tapes and block devices pad files with zeros. */
START_TEST(zeros_after_a_gzip_member_are_padding)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static uint8_t data[2000000];
    put_many("file", 30, true);
    int fd = open("file", O_RDONLY);
    size_t size = (size_t)read(fd, data, 100000);
    close(fd);
    static const size_t paddings[] = {1, 2, 511, 600000};
    for (size_t i = 0; i < 4 * 3; i++) { /* before the end, another member, and other data */
        lx__input input;
        uint64_t skipped, whole;
        size_t end = size + paddings[i / 3];
        memset(data + size, 0, sizeof data - size);
        memcpy(data + end, data, size);
        data[end] = i % 3 == 2 ? 'x' : data[end];
        put_bytes("padded", data, i % 3 == 0 ? end : end + size);
        unit_ok(lx__input_open(&input, "file", 0, keep_waiting, NULL, &error));
        unit_ok(lx__input_skip(&input, UINT64_MAX, &whole, &error));
        lx__input_close(&input);
        unit_ok(lx__input_open(&input, "padded", 0, keep_waiting, NULL, &error));
        lx_status status = lx__input_skip(&input, UINT64_MAX, &skipped, &error);
        ck_assert_int_eq(status, i % 3 == 2 ? LX_ERR_CORRUPT : LX_OK);
        ck_assert_uint_eq(skipped, i % 3 == 1 ? 2 * whole : whole);
        ck_assert(i % 3 != 2 || error.offset == end);
        lx_error_clear(&error);
        lx__input_close(&input);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(waiting_for_a_pipe_can_be_ended)
{
    lx_error error = LX_ERROR_INIT;
    lx__input input;
    int ends[2], left = 3;
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    ck_assert_int_eq(write(ends[1], "ab", 2), 2);
    unit_ok(lx__input_open(&input, "-", 0, keep_waiting, &left, &error));
    ck_assert(input.once && input.file_size == LX_NONE);
    unit_fails(lx__input_fill(&input, 3, &error), LX_ERR_CANCELED);
    ck_assert_int_eq(left, 0);
    lx__input_close(&input);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

START_TEST(what_cannot_be_read_is_refused)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__input input;
    unit_fails(lx__input_open(&input, "absent", 0, keep_waiting, NULL, &error), LX_ERR_NOT_FOUND);
    lx__input_close(&input);
    unit_fails(lx__input_open(&input, ".", 0, keep_waiting, NULL, &error), LX_ERR_IO);
    lx__input_close(&input);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("importer/input", lines_are_found_across_blocks, an_input_that_is_kept_can_be_read_again,
          what_is_kept_is_bounded, bytes_can_be_skipped, truncated_and_damaged_gzip_is_refused,
          zeros_after_a_gzip_member_are_padding, waiting_for_a_pipe_can_be_ended,
          what_cannot_be_read_is_refused)
