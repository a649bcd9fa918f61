/* SPDX-License-Identifier: MIT */
#include "zrecord/table/table-writer.h"
#include "zrecord/write/write-buffer.h"

#include "../records.h"
#include "base/bytes.h"
#include "zrecord/format/names.h"

/** The tables of the fields a and b, made and opened in the present directory. */
struct fixture {
    lx__file here;
    lx_schema *schema;
    lx__table_writer rows;
};

static struct fixture set_up(uint64_t committed, uint64_t first)
{
    lx_error error = LX_ERROR_INIT;
    struct fixture f = {.schema = lx_schema_new()};
    unit_ok(lx_schema_add_field(f.schema, "a", LX_BYTES, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_schema_add_field(f.schema, "b", LX_BYTES, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx__directory_open(&f.here, LX__CWD, ".", &error));
    unit_ok(lx__table_writer_open(&f.rows, &f.here, f.schema, 0, committed, first, &error));
    return f;
}

static void tear_down(struct fixture *f)
{
    lx__table_writer_close(&f->rows);
    lx_schema_free(f->schema);
    lx__file_close(&f->here);
}

static lx__entry entry_of(size_t field, uint64_t index)
{
    uint32_t number = (uint32_t)(index * 2 + field + 1);
    return (lx__entry){number, number, number, number, number};
}

/** Adds @p count rows to the append buffer. */
static void add(struct fixture *f, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    for (uint64_t i = 0; i < count; i++) {
        unit_ok(lx__table_writer_add_row(&f->rows, &error));
        uint64_t index = f->rows.first + f->rows.count - 1;
        for (size_t field = 0; field < 2; field++) {
            lx__entry got = lx__table_writer_get(&f->rows, field, index),
                      entry = entry_of(field, index);
            ck_assert(lx__entry_is_missing(&got));
            lx__table_writer_put(&f->rows, field, index, &entry);
        }
    }
}

/** The files hold the rows of the first @p count records. */
static void expect_files(uint64_t count)
{
    static const char *const offsets[] = {"a.offset", "b.offset"};
    static const char *const checks[] = {"a.check", "b.check"};
    for (size_t field = 0; field < 2; field++) {
        size_t size, check_size;
        uint8_t *offset_rows = file_bytes(offsets[field], &size);
        uint8_t *check_rows = file_bytes(checks[field], &check_size);
        ck_assert_uint_eq(size, count * 16);
        ck_assert_uint_eq(check_size, count * 8);
        for (uint64_t i = 0; i < count; i++) {
            lx__entry got = lx__entry_load(offset_rows + i * 16, check_rows + i * 8);
            ck_assert_uint_eq(got.chunk, entry_of(field, i).chunk);
            ck_assert_uint_eq(got.crc, entry_of(field, i).crc);
        }
        free(offset_rows);
        free(check_rows);
    }
}

/** Lists the tables in a sync list, and syncs them. */
static lx_status sync_rows(lx__table_writer *rows, lx_error *error)
{
    lx__sync_list list = {0};
    lx_status status = lx__table_writer_list_syncs(rows, &list, error);
    if (status == LX_OK)
        status = lx__sync_list_run(&list, error);
    lx__sync_list_free(&list);
    return status;
}

START_TEST(buffers_and_writes_rows)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f = set_up(0, 0);
    add(&f, 200);
    ck_assert_uint_eq(lx__table_writer_get(&f.rows, 1, 150).crc, entry_of(1, 150).crc);
    expect_files(0);
    ck_assert(!f.rows.dirty);
    unit_ok(lx__table_writer_write(&f.rows, &error));
    ck_assert_uint_eq(f.rows.first, 200);
    ck_assert_uint_eq(f.rows.count, 0);
    ck_assert(f.rows.dirty);
    expect_files(200);
    unsigned before = atomic_load(&syncs);
    unit_ok(sync_rows(&f.rows, &error));
    ck_assert_uint_eq(atomic_load(&syncs) - before, 4);
    ck_assert(!f.rows.dirty);
    unit_ok(sync_rows(&f.rows, &error)); /* there is nothing new to sync */
    ck_assert_uint_eq(atomic_load(&syncs) - before, 4);
    add(&f, 100);
    unit_ok(lx__table_writer_write(&f.rows, &error));
    expect_files(300);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rows_of_a_write_buffer_have_their_index)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const lx__entry_rules rules = {.align = 8, .size = LX_NONE};
    struct fixture f = set_up(0, 0);
    lx__write_buffer *buffer = lx__write_buffer_new();
    lx__write_buffer_clear(buffer);
    unit_ok(lx__write_buffer_reserve(buffer, 20, 0, &error));
    for (int i = 0; i < 10; i++) {
        lx__write_buffer_add(buffer, 0, &rules, "seven..", 7);
        lx__write_buffer_add(buffer, 1, &rules, NULL, LX_NONE);
    }
    add(&f, 5);
    unit_ok(lx__table_writer_append(&f.rows, &buffer->values->entry, sizeof *buffer->values, 10,
                                    &error));
    ck_assert_uint_eq(f.rows.count, 15);
    for (uint64_t index = 5; index < 15; index++) {
        lx__entry a = lx__table_writer_get(&f.rows, 0, index),
                  b = lx__table_writer_get(&f.rows, 1, index);
        ck_assert_uint_eq(a.physical, 7);
        ck_assert_uint_eq(a.crc, lx__index_crc(index)); /* that of a buffer that is not flushed
                                                         * is zero */
        ck_assert(lx__entry_is_missing(&b));            /* no index shows in it */
    }
    lx__write_buffer_free(buffer);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(truncates_buffered_and_written_rows)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f = set_up(0, 0);
    add(&f, 10);
    lx__table_writer_truncate(&f.rows, 20);
    ck_assert_uint_eq(f.rows.count, 10);
    lx__table_writer_truncate(&f.rows, 7);
    ck_assert_uint_eq(f.rows.count, 7);
    unit_ok(lx__table_writer_write(&f.rows, &error));
    add(&f, 3);
    lx__table_writer_truncate(&f.rows, 4); /* the rows in the tables will be overwritten */
    ck_assert_uint_eq(f.rows.first, 4);
    ck_assert_uint_eq(f.rows.count, 0);
    add(&f, 6);
    unit_ok(lx__table_writer_write(&f.rows, &error));
    expect_files(10);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_entries_back_from_the_tables)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f = set_up(0, 0);
    lx__entry got;
    add(&f, 10);
    unit_ok(lx__table_writer_write(&f.rows, &error));
    for (uint64_t index = 0; index < 10; index++) {
        for (size_t field = 0; field < 2; field++) {
            lx__entry right = entry_of(field, index);
            unit_ok(lx__table_writer_read(&f.rows, field, index, &got, &error));
            ck_assert_uint_eq(got.chunk, right.chunk);
            ck_assert_uint_eq(got.physical, right.physical);
            ck_assert_uint_eq(got.offset, right.offset);
            ck_assert_uint_eq(got.logical, right.logical);
            ck_assert_uint_eq(got.crc, right.crc);
        }
    }
    file_cut("b.check", 9 * 8);
    unit_ok(lx__table_writer_read(&f.rows, 0, 9, &got, &error));
    lx_status status = lx__table_writer_read(&f.rows, 1, 9, &got, &error);
    expect_error(status, LX_ERR_CORRUPT, "", "b.check");
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_tables_that_are_too_short)
{
    char *scratch = scratch_make();
    static const char *const names[] = {"a.offset", "a.check", "b.offset", "b.check"};
    struct fixture f = set_up(0, 0);
    lx_error error = LX_ERROR_INIT;
    add(&f, 10);
    unit_ok(lx__table_writer_write(&f.rows, &error));
    for (size_t i = 0; i < 4; i++) {
        lx__table_writer rows;
        size_t size;
        uint8_t *bytes = file_bytes(names[i], &size);
        file_cut(names[i], size - 1);
        lx_status status = lx__table_writer_open(&rows, &f.here, f.schema, 0, 10, 10, &error);
        ck_assert_str_eq(error.field, names[i][0] == 'a' ? "a" : "b");
        expect_error(status, LX_ERR_CORRUPT, "committed", names[i]);
        lx__table_writer_close(&rows);
        ck_assert_int_eq(remove(names[i]), 0);
        status = lx__table_writer_open(&rows, &f.here, f.schema, 0, 10, 10, &error);
        expect_error(status, LX_ERR_CORRUPT, "", names[i]);
        lx__table_writer_close(&rows);
        file_put(names[i], bytes, size);
        free(bytes);
    }
    expect_files(10);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_full_disk_keeps_rows_buffered)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f = set_up(0, 0);
    add(&f, 100);
    limit_files(1000);
    lx_status status = lx__table_writer_write(&f.rows, &error);
    expect_error(status, LX_ERR_IO, "", "a.offset");
    ck_assert_uint_eq(f.rows.count, 100);
    unlimit_files();
    unit_ok(lx__table_writer_write(&f.rows, &error));
    expect_files(100);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_a_failed_sync)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    for (unsigned n = 1; n <= 4; n++) {
        struct fixture f = set_up(0, 0);
        add(&f, 1);
        unit_ok(lx__table_writer_write(&f.rows, &error));
        atomic_store(&sync_fails_at, atomic_load(&syncs) + n);
        unit_fails(sync_rows(&f.rows, &error), LX_ERR_IO);
        /* none is tried after it */
        ck_assert_uint_eq(atomic_load(&syncs), atomic_load(&sync_fails_at));
        atomic_store(&sync_fails_at, 0);
        tear_down(&f);
    }
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/table-writer", buffers_and_writes_rows, rows_of_a_write_buffer_have_their_index,
          truncates_buffered_and_written_rows, reads_entries_back_from_the_tables,
          rejects_tables_that_are_too_short, a_full_disk_keeps_rows_buffered, reports_a_failed_sync)
