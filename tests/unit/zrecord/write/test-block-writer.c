/* SPDX-License-Identifier: MIT */
#include "zrecord/write/block-writer.h"

#include "../records.h"

/** A block writer of a file "f" in the present directory. */
struct fixture {
    lx__file file;
    lx_executor *executor;
    lx__block_writer output;
    uint64_t bytes; /* that it was given */
};

static void set_up(struct fixture *f)
{
    lx_error error = LX_ERROR_INIT;
    *f = (struct fixture){.bytes = 0};
    unit_ok(lx__file_open(&f->file, LX__CWD, "f", O_RDWR | O_CREAT | O_TRUNC, &error));
    unit_ok(lx_executor_open(NULL, &f->executor, &error));
    unit_ok(lx__block_writer_open(&f->output, f->executor, &error));
}

static void tear_down(struct fixture *f)
{
    lx__block_writer_close(&f->output);
    lx_executor_close(f->executor);
    lx__file_close(&f->file);
}

/** Writes @p size bytes, in which each 8 report their offset. */
static lx_status give(struct fixture *f, size_t size, lx_error *error)
{
    for (size_t i = 0; i < size; i += 8)
        lx__store_le64(f->output.data + i, mix(f->bytes + i));
    f->output.used = size;
    uint64_t start = f->bytes;
    f->bytes += size;
    return lx__block_writer_write(&f->output, &f->file, start, error);
}

static void expect_written(const struct fixture *f)
{
    size_t size;
    uint8_t *bytes = file_bytes("f", &size);
    ck_assert_uint_eq(size, f->bytes);
    for (size_t i = 0; i < size; i += 8)
        ck_assert_uint_eq(lx__load_le64(bytes + i), mix(i));
    free(bytes);
}

START_TEST(writes_all_blocks)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    set_up(&f);
    unit_ok(lx__block_writer_wait(&f.output, &error));
    for (size_t i = 0; i < 20; i++)
        unit_ok(give(&f, i % 3 == 0 ? LX__BLOCK_WRITER_BYTES : i * 800, &error));
    unit_ok(lx__block_writer_wait(&f.output, &error));
    expect_written(&f);
    unit_ok(give(&f, 0, &error));
    unit_ok(give(&f, 8, &error));
    tear_down(&f); /* it waits */
    expect_written(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_next_call_reports_a_failure_once)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    set_up(&f);
    limit_files(100000);
    unit_ok(give(&f, 80000, &error));
    unit_ok(give(&f, 80000, &error));
    lx_status status = give(&f, 80000, &error);
    expect_error(status, LX_ERR_IO, "", "f");
    f.bytes = 80000;
    file_cut("f", f.bytes); /* the part of it that was written */
    unit_ok(lx__block_writer_wait(&f.output, &error));
    unlimit_files();
    unit_ok(give(&f, 800, &error));
    unit_ok(lx__block_writer_wait(&f.output, &error));
    expect_written(&f);
    limit_files(100);
    unit_ok(give(&f, 800, &error));
    unit_fails(lx__block_writer_wait(&f.output, &error), LX_ERR_IO);
    unlimit_files();
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_caller_writes_without_a_thread)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    set_up(&f);
    lx_executor_ref(f.executor);
    lx_executor_close(f.executor);
    for (size_t i = 0; i < 5; i++)
        unit_ok(give(&f, 4096, &error));
    unit_ok(lx__block_writer_wait(&f.output, &error));
    expect_written(&f);
    lx__block_writer_close(&f.output);
    lx_executor_unref(f.executor);
    lx__file_close(&f.file);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/block-writer", writes_all_blocks, the_next_call_reports_a_failure_once,
          the_caller_writes_without_a_thread)
