/* SPDX-License-Identifier: MIT */
/* What a repair makes of a log that is damaged or lies, and of a seal that is wrong. */
#include "../goldens.h"
#include "repaired.h"
#include "zrecord/read/refresh.h"

/** A dataset "d" with frames of 3 records each, all synced; returns where the frames end. */
static size_t make_frames(uint64_t ends[16])
{
    lx_writer *writer = records_create("d", NULL);
    size_t count = 0;
    ends[count++] = log_size("d/LOG");
    for (int i = 0; i < 6; i++) {
        records_append(writer, 3);
        commit(writer);
        ends[count++] = log_size("d/LOG");
    }
    close_writer(writer);
    return count;
}

START_TEST(rot_in_the_log_keeps_the_commits_before_it)
{
    char *scratch = scratch_make();
    uint64_t ends[16];
    make_frames(ends);
    directory_copy("d", "whole");
    for (size_t frame = 1; frame <= 5; frame++) {
        lx_error error = LX_ERROR_INIT;
        struct told told;
        lx_repair_result result;
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
        directory_copy("whole", "d");
        file_flip("d/LOG", 8 * (ends[frame - 1] + 70));
        expect_refused("d", LX_ERR_CORRUPT, "frame", "LOG");
        uint64_t before = digest_of("d");
        lx_status status = repair(LX_REPAIR_REPORT, &told, &result, &error);
        ck_assert_uint_eq(error.offset, ends[frame - 1]);
        expect_error(status, LX_ERR_CORRUPT, "whole when it was written", "d/LOG");
        ck_assert_int_eq(told.findings[0].remedy, LX_REMEDY_FORGET);
        ck_assert_uint_eq(digest_of("d"), before);
        unit_ok(repair(LX_REPAIR_VALUES, &told, &result, &error));
        /* The whole log is kept. */
        char log[64];
        snprintf(log, sizeof log, "d.damaged-%zu/LOG", frame);
        ck_assert_uint_eq(file_size(log), file_size("whole/LOG"));
        expect_whole(3 * (frame - 1), NULL);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(chunks_of_lost_commits_are_put_aside)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct told told;
    lx_repair_result result;
    make_lost_commits(1);
    ck_assert(file_exists("d/chunk/3.zr"));
    unit_ok(repair(LX_REPAIR_VALUES, &told, &result, &error));
    ck_assert(file_exists("d.damaged-1/3.zr"));
    uint64_t size = file_size("d.damaged-1/3.zr");
    uint64_t chunk = file_size("d/chunk/0.zr");
    expect_whole(3, NULL); /* and three records more: to a chunk that there never was */
    ck_assert_uint_eq(file_size("d.damaged-1/3.zr"), size);
    ck_assert_uint_eq(file_size("d/chunk/0.zr"), chunk);
    scratch_remove(scratch);
}
END_TEST

/** Adds a frame to the log of a dataset, whose name it gives. Returns the length before. */
static uint64_t add_frame(const char *path, uint64_t length, uint64_t rows, char name[64])
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = open_dataset(path);
    lx_dataset_identity identity;
    lx_dataset_get_identity(dataset, &identity);
    uint64_t before = lx_dataset_get_length(dataset);
    lx__snapshot *snapshot = lx__dataset_pin(dataset);
    lx__log_identity log = identity_of(identity.uuid);
    log.generation = identity.generation;
    lx__frame_builder builder = {0};
    lx__frame frame = {.epoch = snapshot->state.place.epoch,
                       .length = length,
                       .rows = rows,
                       .previous_crc = snapshot->state.place.crc,
                       .flags = LX__FRAME_SYNCED,
                       .table_generation = snapshot->state.table_generation,
                       .next_chunk = snapshot->state.next_chunk};
    unit_ok(lx__frame_begin(&builder, 0, 0, &error));
    lx__frame_finish(&builder, &frame, &log);
    char file[128];
    lx__log_name(identity.generation, name);
    snprintf(file, sizeof file, "%s/%s", path, name);
    file_patch(file, snapshot->state.place.offset, builder.data, builder.size);
    lx__frame_builder_free(&builder);
    lx__snapshot_unref(snapshot);
    lx_dataset_close(dataset);
    return before;
}

START_TEST(a_frame_that_breaks_a_rule_ends_the_log)
{
    char *scratch = scratch_make(), name[64];
    lx_error error = LX_ERROR_INIT;
    struct told told;
    lx_repair_result result;
    lx_dataset *dataset;
    golden_copy("generations");
    uint64_t length = add_frame("generations", 100, 0, name); /* its rows go down */
    ck_assert_int_eq(rename("generations", "d"), 0);
    lx_status status = repair(LX_REPAIR_REPORT, &told, &result, &error);
    expect_error(status, LX_ERR_CORRUPT, "", name);
    unit_ok(repair(LX_REPAIR_VALUES, &told, &result, &error));
    unit_ok(lx_dataset_open("d", NULL, &dataset, &error));
    ck_assert_uint_eq(lx_dataset_get_length(dataset), length);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rows_that_no_table_has_are_left_out)
{
    static const uint64_t claims[] = {25, (uint64_t)1 << 32, (uint64_t)6800000000,
                                      LX__LENGTH_MAX};
    char *scratch = scratch_make(), name[64];
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        lx_error error = LX_ERROR_INIT;
        struct told told;
        lx_repair_result result;
        records_make("d", 20, 5);
        ck_assert_uint_eq(add_frame("d", claims[i], claims[i], name), 25);
        /* The frame takes the records that are in the log alone: their rows are what is lost. */
        uint64_t left = 20;
        for (int mode = LX_REPAIR_REPORT; mode <= LX_REPAIR_REPORT_RECORDS; mode += 3) {
            unit_fails(repair((lx_repair)mode, &told, &result, &error), LX_ERR_CORRUPT);
            ck_assert_uint_eq(result.records, claims[i]);
            ck_assert_uint_eq(result.deleted, claims[i] - left);
            ck_assert_uint_eq(result.values, left * FIELDS);
        }
        unit_ok(repair(i % 2 ? LX_REPAIR_RECORDS : LX_REPAIR_VALUES, &told, &result, &error));
        ck_assert_uint_eq(result.deleted, claims[i] - left);
        ck_assert_uint_eq(file_size("d/image.offset.1"), left * LX__OFFSET_ROW);
        lx_dataset *dataset = open_dataset("d");
        ck_assert_uint_eq(lx_dataset_get_length(dataset), left);
        for (uint64_t index = 0; index < left; index++)
            expect_value(dataset, LABEL, index);
        lx_dataset_close(dataset);
        unit_ok(lx_dataset_remove("d", &error));
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_seal_that_is_wrong_is_taken_off)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct told told;
    lx_repair_result result;
    static const uint8_t zeros[16];
    records_make_sealed("d", 25);
    directory_copy("d", "whole");
    /* A chunk that is longer, a length that is not the log's, a table of another checksum. */
    for (int i = 0; i < 3; i++) {
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
        directory_copy("whole", "d");
        if (i == 0)
            file_patch("d/chunk/0.zr", file_size("d/chunk/0.zr"), "x", 1);
        else if (i == 1)
            file_edit("d/meta.json", "\"length\": 25", "\"length\": 24");
        else
            file_patch("d/image.offset", 16 * 6, zeros, 16); /* it was missing already */
        if (i == 2)
            file_edit("d/meta.json", "\"crc\": ", "\"crc\": 1, \"was\": ");
        unit_fails(repair(LX_REPAIR_REPORT, &told, &result, &error), LX_ERR_CORRUPT);
        ck_assert_int_eq(told.findings[0].remedy, LX_REMEDY_FORGET);
        unit_ok(repair(LX_REPAIR_VALUES, &told, &result, &error));
        lx_dataset_identity identity;
        lx_dataset *dataset = open_dataset("d");
        lx_dataset_get_identity(dataset, &identity);
        ck_assert_uint_eq(identity.sealed, 0);
        lx_dataset_close(dataset);
        expect_whole(25, NULL);
        /* And can be sealed again. */
        lx_writer *writer = records_reopen("d", NULL);
        unit_ok(lx_writer_seal(writer, &error));
        close_writer(writer);
        expect_dataset("d", 28);
    }
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/repair-log", rot_in_the_log_keeps_the_commits_before_it,
          chunks_of_lost_commits_are_put_aside, a_frame_that_breaks_a_rule_ends_the_log,
          rows_that_no_table_has_are_left_out, a_seal_that_is_wrong_is_taken_off)
