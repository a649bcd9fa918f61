/* SPDX-License-Identifier: MIT */
#include "sampler/core/index-table-file.h"

#include "../../scarce.h"
#include "../../scratch.h"
#include "../../unit.h"
#include "base/bytes.h"
#include "base/crc32c.h"

enum { COUNT = 10000 };

static uint32_t numbers[COUNT];
static const lx__index_table_form some_form = {"{\"kind\":\"some\"}", COUNT, 5000, 4};

static void write_some(const char *name)
{
    lx_error error = LX_ERROR_INIT;
    lx__file file;
    for (uint32_t i = 0; i < COUNT; i++)
        numbers[i] = i / 2;
    unit_ok(lx__file_open(&file, LX__CWD, name, O_RDWR | O_CREAT, &error));
    unit_ok(lx__index_table_file_write(&file, &some_form, numbers, &error));
    lx__file_close(&file);
}

static lx_status open_as(lx__index_table_form form, lx_error *error)
{
    lx__index_table_file *file = NULL;
    const void *data;
    lx_status status = lx__index_table_file_open(LX__CWD, "f", &form, &file, &data, error);
    lx__index_table_file_close(file);
    return status;
}

START_TEST(writes_bytes_as_documented)
{
    char *scratch = scratch_make();
    uint8_t bytes[65536];
    write_some("f");
    FILE *file = fopen("f", "rb");
    ck_assert_uint_eq(fread(bytes, 1, sizeof bytes, file), 4096 + 4 * COUNT + 4 * 3);
    fclose(file);
    ck_assert_mem_eq(bytes, "LXTABLE\0\1\0\0\0", 12);
    ck_assert_uint_eq(lx__load_le32(bytes + 12), lx__crc32c(0, bytes + 16, 4096 - 16));
    ck_assert_uint_eq(lx__load_le32(bytes + 16), 4);
    ck_assert_uint_eq(lx__load_le32(bytes + 20), 15);
    ck_assert_uint_eq(lx__load_le64(bytes + 24), COUNT);
    ck_assert_uint_eq(lx__load_le64(bytes + 32), 5000);
    ck_assert_mem_eq(bytes + 40, "{\"kind\":\"some\"}\0\0", 17);
    ck_assert_mem_eq(bytes + 4096, numbers, sizeof numbers);
    ck_assert_uint_eq(lx__load_le32(bytes + 4096 + 4 * COUNT), lx__crc32c(0, numbers, 16384));
    ck_assert_uint_eq(lx__load_le32(bytes + 4096 + 4 * COUNT + 8),
                      lx__crc32c(0, numbers + 8192, 4 * COUNT - 32768));
    scratch_remove(scratch);
}
END_TEST

START_TEST(verifies_blocks_on_first_use)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__index_table_form form = some_form;
    lx__index_table_file *table;
    const void *data;
    uint64_t first[] = {0, 4095, 17}, second[] = {1, 4096}, last = COUNT - 1;
    write_some("f");
    FILE *file = fopen("f", "r+b");
    fseek(file, 4096 + 16384 + 5, SEEK_SET);
    fputc(77, file);
    fclose(file);
    form.count = LX__INDEX_TABLE_ANY;
    unit_ok(lx__index_table_file_open(LX__CWD, "f", &form, &table, &data, &error));
    ck_assert_uint_eq(form.count, COUNT);
    unit_ok(lx__index_table_file_check(table, first, 3, &error));
    unit_ok(lx__index_table_file_check(table, &last, 1, &error));
    unit_ok(lx__index_table_file_check_range(table, 0, 4096, &error));
    unit_ok(lx__index_table_file_check_range(table, 8192, COUNT - 8192, &error));
    unit_ok(lx__index_table_file_check_range(table, COUNT, 0, &error));
    ck_assert_mem_eq(data, numbers, 16384);
    for (int i = 0; i < 2; i++) { /* it stays damaged */
        ck_assert_int_eq(lx__index_table_file_check(table, second, 2, &error), LX_ERR_CORRUPT);
        ck_assert_uint_eq(error.offset, 4096 + 16384);
        ck_assert_str_eq(error.path, "f");
        lx_error_clear(&error);
        unit_fails(lx__index_table_file_check_range(table, 4000, 97, &error), LX_ERR_CORRUPT);
    }
    lx__index_table_file_close(table);
    lx__index_table_file_close(NULL);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_other_tables)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__index_table_form form = some_form;
    unit_fails(open_as(form, &error), LX_ERR_NOT_FOUND);
    write_some("f");
    unit_ok(open_as(form, &error));
    form.inputs = "{\"kind\":\"other\"}";
    ck_assert_int_eq(open_as(form, &error), LX_ERR_MISMATCH);
    ck_assert_ptr_nonnull(strstr(error.message, "{\"kind\":\"other\"}"));
    ck_assert_ptr_nonnull(strstr(error.message, "{\"kind\":\"some\"}"));
    lx_error_clear(&error);
    form = some_form;
    form.bound++;
    unit_fails(open_as(form, &error), LX_ERR_CORRUPT);
    form = some_form;
    form.width = 8;
    unit_fails(open_as(form, &error), LX_ERR_CORRUPT);
    form = some_form;
    form.count--;
    unit_fails(open_as(form, &error), LX_ERR_CORRUPT);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_failed_allocations)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_status status = LX_ERR_NOMEM;
    write_some("f");
    for (int left = 0; status != LX_OK; left++) {
        lx_error_clear(&error);
        scarce_begin(left);
        status = open_as(some_form, &error);
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
    }
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("sampler/index-table-file", writes_bytes_as_documented, verifies_blocks_on_first_use,
          rejects_other_tables, reports_failed_allocations)
