/* SPDX-License-Identifier: MIT */
/* What a repair makes of files that are cut short, gone, or in whose place something else is. */
#include "repaired.h"

static bool is_image_behind_12(int field, uint64_t index)
{
    return field == IMAGE && index >= 12 && index < 20;
}

START_TEST(rows_behind_the_end_of_a_table_read_as_missing)
{
    char *scratch = scratch_make();
    static const char *const cuts[][2] = {{"d/image.offset", "16"}, {"d/image.check", "8"}};
    for (size_t i = 0; i < 2; i++) {
        lx_error error = LX_ERROR_INIT;
        struct told told;
        lx_repair_result result;
        records_make("d", 20, 5);
        file_cut(cuts[i][0], 12 * strtoull(cuts[i][1], NULL, 10) + 3);
        expect_refused("d", LX_ERR_CORRUPT, "committed", cuts[i][0]);
        lx_status status = repair(LX_REPAIR_REPORT, &told, &result, &error);
        ck_assert_uint_eq(error.record, 12);
        ck_assert_str_eq(error.field, "image");
        expect_error(status, LX_ERR_CORRUPT, "committed", cuts[i][0]);
        ck_assert_uint_eq(result.missing, 8); /* also those that were missing before */
        unit_ok(repair(LX_REPAIR_VALUES, &told, &result, &error));
        ck_assert_uint_eq(result.missing, 8);
        expect_whole(25, is_image_behind_12);
        unit_ok(lx_dataset_remove("d", &error));
    }
    scratch_remove(scratch);
}
END_TEST

/** Cuts all tables to @p rows rows. */
static void cut_tables(uint64_t rows)
{
    static const char *const stems[] = {"image", "label", "caption", "wave", "blob"};
    for (size_t i = 0; i < FIELDS; i++) {
        char name[64];
        snprintf(name, sizeof name, "d/%s.offset", stems[i]);
        file_cut(name, rows * LX__OFFSET_ROW);
        snprintf(name, sizeof name, "d/%s.check", stems[i]);
        file_cut(name, rows * LX__CHECK_ROW);
    }
}

START_TEST(no_more_rows_are_made_than_the_longest_table_has)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct told told;
    lx_repair_result result;
    records_make("d", 20, 5);
    cut_tables(12);
    unit_fails(repair(LX_REPAIR_REPORT, &told, &result, &error), LX_ERR_CORRUPT);
    ck_assert_uint_eq(result.deleted, 8);
    unit_ok(repair(LX_REPAIR_VALUES, &told, &result, &error));
    ck_assert_uint_eq(result.deleted, 8);
    ck_assert_uint_eq(file_size("d/image.offset.1"), 17 * LX__OFFSET_ROW);
    lx_dataset *dataset = open_dataset("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 17);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    for (uint64_t index = 0; index < 12; index++)
        expect_value(dataset, IMAGE, index);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(tables_and_chunks_that_are_gone)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct told told;
    lx_repair_result result;
    records_make("d", 20, 5);
    ck_assert_int_eq(remove("d/wave.check"), 0);
    ck_assert_int_eq(remove("d/chunk/0.zr"), 0);
    ck_assert_int_eq(rmdir("d/chunk"), 0);
    unit_ok(repair(LX_REPAIR_VALUES, &told, &result, &error));
    ck_assert_uint_eq(result.changed, 1);
    lx_dataset *dataset = open_dataset("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 25);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    for (uint64_t index = 0; index < 25; index++)
        expect_value(dataset, LABEL, index); /* they are in the tables */
    lx_dataset_close(dataset);
    lx_writer *writer = records_reopen("d", NULL);
    records_append(writer, 5);
    close_writer(writer);
    dataset = open_dataset("d");
    expect_value(dataset, IMAGE, 27);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_chunk_that_is_short_loses_what_lay_behind)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct told told;
    lx_repair_result result;
    records_make("d", 40, 0);
    uint64_t cut = file_size("d/chunk/0.zr") / 2;
    file_cut("d/chunk/0.zr", cut);
    unit_ok(repair(LX_REPAIR_VALUES, &told, &result, &error));
    ck_assert_uint_gt(result.missing, 10);
    lx_dataset *dataset = open_dataset("d");
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
    lx_writer *writer = records_reopen("d", NULL);
    records_append(writer, 2);
    close_writer(writer);
    ck_assert_uint_eq(file_size("d/chunk/0.zr"), cut); /* nobody goes on in it */
    scratch_remove(scratch);
}
END_TEST

START_TEST(what_a_link_points_to_is_not_given_up)
{
    static const char *const names[] = {"d/chunk",      "d/chunk/0.zr", "d/image.offset",
                                        "d/wave.check", "d/LOG",        "d/meta.json"};
    char *scratch = scratch_make();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        lx_error error = LX_ERROR_INIT;
        struct told told;
        lx_repair_result result;
        char there[4096];
        records_make("d", 20, 5);
        snprintf(there, sizeof there, "%s/elsewhere", scratch);
        ck_assert_int_eq(rename(names[i], there), 0);
        ck_assert_int_eq(symlink(there, names[i]), 0);
        lx_status status = repair(LX_REPAIR_REPORT, &told, &result, &error);
        expect_error(status, LX_ERR_CORRUPT, "put what it points to in its place", names[i]);
        status = repair(LX_REPAIR_RECORDS, &told, &result, &error);
        expect_error(status, LX_ERR_CORRUPT, "symbolic link", names[i]);
        ck_assert(!file_exists("d.damaged-1"));
        ck_assert_int_eq(remove(names[i]), 0);
        ck_assert_int_eq(rename(there, names[i]), 0);
        expect_whole(25, NULL);
        unit_ok(lx_dataset_remove("d", &error));
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_lock_that_is_no_file_is_to_be_removed)
{
    static const lx_repair modes[] = {LX_REPAIR_REPORT, LX_REPAIR_VALUES};
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct told told;
    lx_repair_result result;
    records_make("d", 10, 5);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(remove("d/LOCK"), 0);
        ck_assert_int_eq(i < 2 ? mkfifo("d/LOCK", 0600) : symlink("elsewhere", "d/LOCK"), 0);
        lx_status status = repair(modes[i % 2], &told, &result, &error);
        expect_error(status, LX_ERR_CORRUPT, "remove it", "d/LOCK");
    }
    ck_assert_int_eq(remove("d/LOCK"), 0);
    unit_ok(repair(LX_REPAIR_VALUES, &told, &result, &error));
    expect_whole(15, NULL);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/repair-gone", rows_behind_the_end_of_a_table_read_as_missing,
          no_more_rows_are_made_than_the_longest_table_has,
          tables_and_chunks_that_are_gone, a_chunk_that_is_short_loses_what_lay_behind,
          what_a_link_points_to_is_not_given_up, a_lock_that_is_no_file_is_to_be_removed)
