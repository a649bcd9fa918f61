/* SPDX-License-Identifier: MIT */
#include "../change.h"
#include "zrecord/write/row-block.h"

/** All rows of a row block, each compared with what a reader sees. */
static void walk(lx__row_block *block, const struct shown *shown, const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = open_dataset(path);
    uint64_t next = 0;
    lx_status status;
    while ((status = lx__row_block_next(block, &error)) == LX_OK) {
        ck_assert_uint_eq(block->first, next);
        for (size_t at = 0; at < block->count; at++, next++) {
            for (size_t field = 0; field < FIELDS; field++) {
                bool row;
                lx__entry right = entry_in(dataset->snapshot, field, next, &row);
                lx__entry entry = lx__entry_load(lx__row_block_offset_row(block, field, at),
                                                 lx__row_block_check_row(block, field, at));
                ck_assert_mem_eq(&entry, &right, sizeof entry);
            }
        }
    }
    ck_assert_int_eq(status, LX_END);
    ck_assert_uint_eq(next, shown->length);
    lx_dataset_close(dataset);
}

START_TEST(has_the_live_rows)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct shown shown = shown_all(90);
    records_make("d", 70, 20);
    records_shuffle("d", &shown, 2);
    for (uint64_t i = 0; i < 15; i++)
        records_delete("d", &shown, mix(i) % shown.length);
    lx_writer *writer = records_reopen("d", NULL);
    unit_ok(lx__install_commit(writer, &error));
    lx__row_block block;
    unit_ok(lx__row_block_open(&block, writer, &error));
    ck_assert_uint_eq(block.capacity, shown.length);
    static const size_t capacities[] = {75, 74, 38, 7, 1};
    for (size_t i = 0; i < 5; i++) { /* as if there were less memory */
        block.capacity = capacities[i];
        walk(&block, &shown, "d");
        ck_assert_int_eq(lx__row_block_next(&block, &error), LX_END);
        lx__row_block_rewind(&block);
    }
    lx__row_block_close(&block);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_a_truncated_table)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 30, 0);
    lx_writer *writer = records_reopen("d", NULL);
    lx__row_block block;
    file_cut("d/wave.check", 8 * 29);
    unit_ok(lx__row_block_open(&block, writer, &error));
    lx_status status = lx__row_block_next(&block, &error);
    expect_error(status, LX_ERR_CORRUPT, "", "wave.check");
    lx__row_block_close(&block);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/row-block", has_the_live_rows, reports_a_truncated_table)
