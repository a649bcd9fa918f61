/* SPDX-License-Identifier: MIT */
#include "zrecord/table/table-file.h"

#include <pthread.h>

#include "../files.h"
#include "base/bytes.h"
#include "zrecord/format/names.h"

#define ROWS 10

/** Both files of the field f, with that many rows of numbers. */
static void make(uint64_t rows)
{
    uint8_t bytes[ROWS * 16];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7);
    file_put("f.offset", bytes, rows * LX__OFFSET_ROW);
    file_put("f.check", bytes, rows * LX__CHECK_ROW);
}

static lx__file here(void)
{
    lx_error error = LX_ERROR_INIT;
    lx__file directory;
    unit_ok(lx__directory_open(&directory, LX__CWD, ".", &error));
    return directory;
}

START_TEST(rows_are_at_their_offsets)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__file directory = here();
    lx__table_location place = {&directory, "f", 0, false, false};
    lx__table *table;
    make(ROWS);
    unit_ok(lx__table_open(&table, &place, ROWS, 128, true, &error));
    for (size_t i = 0; i < ROWS * LX__OFFSET_ROW; i++)
        ck_assert_uint_eq(table->offsets.data[i], (uint8_t)(i * 7));
    for (size_t i = 0; i < ROWS * LX__CHECK_ROW; i++)
        ck_assert_uint_eq(table->checks.data[i], (uint8_t)(i * 7));
    ck_assert_uint_eq(table->capacity, 128);
    lx__table_close(table);
    lx__table_close(NULL);
    lx__file_close(&directory);
    scratch_remove(scratch);
}
END_TEST

START_TEST(added_rows_appear_in_the_mapping)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__file directory = here();
    lx__table_location place = {&directory, "f", 0, false, false};
    lx__table *table;
    make(ROWS);
    unit_ok(lx__table_open(&table, &place, ROWS, 65536, false, &error));
    const uint8_t *before = table->offsets.data;
    static uint8_t more[60000 * 16];
    memset(more, 0x5a, sizeof more);
    file_patch("f.offset", ROWS * 16, more, sizeof more);
    ck_assert_ptr_eq(table->offsets.data, before);
    ck_assert_uint_eq(table->offsets.data[60000 * 16], 0x5a);
    lx__table_close(table);
    lx__file_close(&directory);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_files_that_are_too_short)
{
    char *scratch = scratch_make();
    lx__file directory = here();
    lx__table_location place = {&directory, "f", 0, false, false};
    static const char *const names[] = {"f.offset", "f.check"};
    for (size_t i = 0; i < 2; i++) {
        lx_error error = LX_ERROR_INIT;
        lx__table *table = NULL;
        make(ROWS);
        uint64_t size = file_size(names[i]) - 1;
        file_cut(names[i], size);
        ck_assert_int_eq(lx__table_open(&table, &place, ROWS, 64, true, &error), LX_ERR_CORRUPT);
        ck_assert_ptr_nonnull(strstr(error.path, names[i]));
        ck_assert_uint_eq(error.offset, size);
        lx_error_clear(&error);
        unit_fails(lx__table_check_files(&place, ROWS, &error), LX_ERR_CORRUPT);
        unit_ok(lx__table_check_files(&place, ROWS - 1, &error));
        ck_assert_int_eq(remove(names[i]), 0);
        unit_fails(lx__table_open(&table, &place, ROWS, 64, true, &error), LX_ERR_CORRUPT);
        unit_fails(lx__table_check_files(&place, ROWS, &error), LX_ERR_CORRUPT);
        ck_assert_ptr_null(table);
    }
    lx__file_close(&directory);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_other_than_files)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__file directory = here();
    lx__table_location place = {&directory, "f", 0, false, false};
    lx__table *table;
    make(ROWS);
    static const char *const names[] = {"f.offset", "f.check"};
    for (size_t i = 0; i < 2; i++) {
        for (enum disguise what = 0; what < DISGUISES; what++) {
            file_disguise(names[i], what);
            unit_fails(lx__table_open(&table, &place, ROWS, 64, true, &error), LX_ERR_CORRUPT);
            unit_fails(lx__table_check_files(&place, ROWS, &error), LX_ERR_CORRUPT);
            file_restore(names[i]);
        }
    }
    lx__file_close(&directory);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_extra_bytes_of_a_sealed_table)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__file directory = here();
    lx__table_location exact = {&directory, "f", 0, true, false};
    lx__table_location place = {&directory, "f", 0, false, false};
    lx__table *table;
    make(ROWS);
    unit_ok(lx__table_check_files(&exact, ROWS, &error));
    file_patch("f.check", ROWS * LX__CHECK_ROW, "x", 1);
    unit_fails(lx__table_check_files(&exact, ROWS, &error), LX_ERR_CORRUPT);
    unit_fails(lx__table_open(&table, &exact, ROWS, 64, true, &error), LX_ERR_CORRUPT);
    unit_ok(lx__table_check_files(&place, ROWS, &error));
    lx__file_close(&directory);
    scratch_remove(scratch);
}
END_TEST

START_TEST(each_generation_has_its_own_files)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__file directory = here();
    lx__table_location first = {&directory, "f", 0, false, false};
    lx__table_location third = {&directory, "f", 3, false, false};
    make(ROWS);
    unit_fails(lx__table_check_files(&third, ROWS, &error), LX_ERR_CORRUPT);
    ck_assert_int_eq(rename("f.offset", "f.offset.3"), 0);
    ck_assert_int_eq(rename("f.check", "f.check.3"), 0);
    unit_ok(lx__table_check_files(&third, ROWS, &error));
    unit_fails(lx__table_check_files(&first, ROWS, &error), LX_ERR_CORRUPT);
    lx__file_close(&directory);
    scratch_remove(scratch);
}
END_TEST

START_TEST(marks_rows_as_verified)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__file directory = here();
    lx__table_location place = {&directory, "f", 0, false, false};
    lx__table *table, *larger;
    make(ROWS);
    unit_ok(lx__table_open(&table, &place, ROWS, 64, true, &error));
    for (uint64_t row = 0; row < ROWS; row++) {
        ck_assert(!lx__table_all_verified(table));
        ck_assert(!lx__table_is_verified(table, row));
        lx__table_set_verified(table, row);
        lx__table_set_verified(table, row); /* twice counts once */
        ck_assert(lx__table_is_verified(table, row));
    }
    ck_assert(lx__table_all_verified(table));
    unit_ok(lx__table_open(&larger, &place, ROWS, 640, true, &error));
    lx__table_inherit(larger, table);
    lx__table_close(table);
    ck_assert(lx__table_all_verified(larger));
    atomic_store(&larger->rows, ROWS + 1); /* one more row, which was not verified */
    ck_assert(!lx__table_all_verified(larger));
    ck_assert(!lx__table_is_verified(larger, ROWS));
    lx__table_close(larger);
    lx__file_close(&directory);
    scratch_remove(scratch);
}
END_TEST

static void *verify_rows(void *user)
{
    for (uint64_t row = 0; row < 6400; row++)
        lx__table_set_verified(user, row * 7 % 6400);
    return NULL;
}

START_TEST(threads_mark_rows_together)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__file directory = here();
    lx__table_location place = {&directory, "f", 0, false, false};
    lx__table *table;
    pthread_t threads[4];
    make(ROWS);
    unit_ok(lx__table_open(&table, &place, ROWS, 6400, true, &error));
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, verify_rows, table), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(atomic_load(&table->verified_count), 6400);
    lx__table_close(table);
    lx__file_close(&directory);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_shared_table_lives_until_its_last_reference)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__file directory = here();
    lx__table_location place = {&directory, "f", 0, false, false};
    lx__table_location other = {&directory, "f", 1, false, false};
    lx__table *table;
    make(ROWS);
    unit_ok(lx__table_open(&table, &place, ROWS, 128, true, &error));
    ck_assert_ptr_eq(lx__table_ref(table), table);
    lx__table_close(table);
    ck_assert_uint_eq(table->offsets.data[1], 7);
    lx__table_raise_rows(table, 3); /* fewer than are known */
    ck_assert_uint_eq(atomic_load(&table->rows), ROWS);
    lx__table_raise_rows(table, ROWS + 2);
    ck_assert_uint_eq(atomic_load(&table->rows), ROWS + 2);
    ck_assert(lx__table_has_files(table, &place));
    ck_assert(!lx__table_has_files(table, &other));
    ck_assert_int_eq(rename("f.check", "away"), 0); /* another file in its place */
    make(ROWS);
    ck_assert(!lx__table_has_files(table, &place));
    lx__table_close(table);
    lx__file_close(&directory);
    scratch_remove(scratch);
}
END_TEST

START_TEST(accepts_absent_files_without_committed_rows)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__file directory = here(), file;
    unit_fails(lx__committed_open(&file, &directory, "f", O_RDONLY, 0, false, &error),
               LX_ERR_CORRUPT);
    unit_fails(lx__committed_open(&file, &directory, "f", O_RDWR, 1, false, &error),
               LX_ERR_CORRUPT);
    ck_assert(!file_exists("f"));
    unit_ok(lx__committed_open(&file, &directory, "f", O_RDWR, 0, false, &error));
    ck_assert(file_exists("f"));
    lx__file_close(&file);
    lx__file_close(&directory);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/table-file", rows_are_at_their_offsets, added_rows_appear_in_the_mapping,
          rejects_files_that_are_too_short, rejects_other_than_files,
          rejects_extra_bytes_of_a_sealed_table, each_generation_has_its_own_files,
          marks_rows_as_verified, a_shared_table_lives_until_its_last_reference,
          threads_mark_rows_together, accepts_absent_files_without_committed_rows)
