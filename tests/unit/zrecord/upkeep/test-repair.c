/* SPDX-License-Identifier: MIT */
/* lx_dataset_repair(): what verifies is kept, the rest is put aside, and nothing gets worse. */
#include <signal.h>

#include "../../scarce.h"
#include "../goldens.h"
#include "../harm.h"
#include "zrecord/reader/dataset.h"

/** What was found. */
struct told {
    lx_finding findings[64];
    size_t count;
    uint64_t stop_at; /**< Ends it with this one; 0: never. */
};

static lx_status note(const lx_finding *finding, void *user)
{
    struct told *told = user;
    if (told->count < sizeof told->findings / sizeof *told->findings)
        told->findings[told->count] = *finding;
    return ++told->count == told->stop_at ? LX_ERR_CANCELED : LX_OK;
}

static lx_status stop(uint64_t done, uint64_t total, void *user)
{
    (void)done, (void)total, (void)user;
    return LX_ERR_CANCELED;
}

static lx_status repair(lx_repair mode, struct told *told, lx_repair_result *result,
                        lx_error *error)
{
    *told = (struct told){.count = 0};
    lx_error_clear(error);
    return lx_dataset_repair("d", mode, note, NULL, told, result, error);
}

/** Every file of the dataset, as it is now: FNV-1a over names and bytes, in the order of names. */
static uint64_t digest_of(const char *path)
{
    uint64_t digest = 0;
    DIR *list = opendir(path);
    ck_assert_ptr_nonnull(list);
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        struct stat about;
        char name[1024];
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "LOCK") == 0)
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        ck_assert_int_eq(lstat(name, &about), 0);
        uint64_t one = 0xCBF29CE484222325u;
        for (const char *at = entry->d_name; *at != '\0'; at++)
            one = (one ^ (uint8_t)*at) * 0x100000001B3u;
        if (S_ISDIR(about.st_mode)) {
            one ^= digest_of(name);
        } else {
            size_t size;
            uint8_t *bytes = file_bytes(name, &size);
            for (size_t i = 0; i < size; i++)
                one = (one ^ bytes[i]) * 0x100000001B3u;
            free(bytes);
        }
        digest += one; /* the order of a directory is any */
    }
    closedir(list);
    return digest;
}

/** The dataset "d" is whole, has @p length records, and those values that @p missing does not name
 * are right. */
static void expect_whole(uint64_t length, bool (*missing)(int field, uint64_t index))
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = open_dataset("d");
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    ck_assert_uint_eq(lx_dataset_get_length(dataset), length);
    for (uint64_t index = 0; index < length; index++) {
        for (int field = 0; field < FIELDS; field++) {
            uint8_t value[VALUE_MAX];
            uint64_t size;
            bool there;
            if (missing == NULL || !missing(field, index)) {
                expect_value(dataset, field, index);
                continue;
            }
            unit_ok(read_value(dataset, (size_t)field, index, value, &size, &there, &error));
            ck_assert(!there);
        }
    }
    lx_dataset_close(dataset);
    /* And it can be written to. */
    lx_writer *writer = records_reopen("d", NULL);
    records_append(writer, 3);
    close_writer(writer);
}

static bool is_bad_image(int field, uint64_t index)
{
    return field == IMAGE && (index == 4 || index == 9);
}

static void harm_two_images(void)
{
    static const struct harm crc = {.crc = 1};
    lx__entry entry = entry_of("d", "image", 4);
    file_flip("d/chunk/0.zr", 8 * entry.offset);
    harm_entry("d", "image", 9, &crc);
}

START_TEST(a_whole_dataset_is_left_as_it_is)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct told told;
    lx_repair_result result;
    static const lx_repair modes[] = {LX_REPAIR_REPORT, LX_REPAIR_VALUES, LX_REPAIR_RECORDS,
                                      LX_REPAIR_REPORT_RECORDS};
    for (int sealed = 0; sealed < 2; sealed++) {
        if (sealed)
            records_make_sealed("d", 30);
        else
            records_make("d", 20, 10);
        uint64_t before = digest_of("d");
        for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
            unit_ok(repair(modes[i], &told, &result, &error));
            ck_assert_uint_eq(told.count, 0);
            ck_assert_uint_eq(result.records, 30);
            ck_assert_uint_eq(result.values, 30 * FIELDS);
            ck_assert(result.damages == 0 && result.changed == 0 && result.aside[0] == '\0');
            ck_assert_uint_eq(digest_of("d"), before);
        }
        ck_assert(!file_exists("d.damaged-1"));
        unit_ok(lx_dataset_remove("d", &error));
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(damaged_values_become_missing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct told told;
    lx_repair_result result;
    records_make("d", 20, 5);
    harm_two_images();
    uint64_t before = digest_of("d");
    unit_fails(repair(LX_REPAIR_REPORT, &told, &result, &error), LX_ERR_CORRUPT);
    ck_assert_uint_eq(told.count, 2);
    ck_assert_uint_eq(result.damages, 2);
    ck_assert_uint_eq(result.missing, 2);
    ck_assert_uint_eq(result.changed, 0);
    ck_assert_int_eq(told.findings[0].remedy, LX_REMEDY_MISSING);
    ck_assert_str_eq(told.findings[1].damage.field, "image");
    ck_assert_uint_eq(told.findings[1].damage.record, 9);
    ck_assert_uint_eq(digest_of("d"), before);
    ck_assert(!file_exists("d.damaged-1"));

    unit_ok(repair(LX_REPAIR_VALUES, &told, &result, &error));
    ck_assert_uint_eq(told.count, 2);
    ck_assert_uint_eq(result.changed, 1);
    ck_assert_uint_eq(result.kept_bytes, 24);
    ck_assert_ptr_nonnull(strstr(result.aside, "/d.damaged-1"));
    ck_assert_uint_eq(file_size("d.damaged-1/values"), 24);
    ck_assert(file_exists("d.damaged-1/image.offset") && file_exists("d.damaged-1/LOG") &&
              file_exists("d.damaged-1/meta.json"));
    /* The second value itself is right. */
    size_t size;
    uint8_t right[VALUE_MAX], *values = file_bytes("d.damaged-1/values", &size);
    ck_assert_uint_eq(record_value(IMAGE, 9, right), 12);
    ck_assert(memcmp(values + 12, right, 12) == 0);
    free(values);
    json_error_t why;
    json_t *list = json_load_file("d.damaged-1/damaged.json", 0, &why);
    ck_assert_ptr_nonnull(list);
    const json_t *second = json_array_get(json_object_get(list, "damages"), 1);
    ck_assert_int_eq(json_integer_value(json_object_get(second, "record")), 9);
    ck_assert_int_eq(json_integer_value(json_object_get(second, "values_offset")), 12);
    json_decref(list);
    expect_whole(25, is_bad_image);
    /* Once more: there is nothing left to do. */
    unit_ok(repair(LX_REPAIR_VALUES, &told, &result, &error));
    ck_assert_uint_eq(result.changed, 0);
    scratch_remove(scratch);
}
END_TEST

START_TEST(damaged_records_can_be_deleted)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct told told;
    lx_repair_result result;
    static const struct harm crc = {.crc = 1};
    records_make("d", 20, 5);
    harm_two_images();
    harm_entry("d", "image", 19, &crc);
    file_flip("d/label.check", 8 * (8 * 9 + 4)); /* a second value of record 9 */
    unit_ok(repair(LX_REPAIR_RECORDS, &told, &result, &error));
    ck_assert_uint_eq(result.deleted, 3);
    ck_assert_uint_eq(result.damages, 4);
    ck_assert_int_eq(told.findings[0].remedy, LX_REMEDY_DELETE);
    /* 24, 23 and 22 went to 4, 9 and 19. */
    lx_dataset *dataset = open_dataset("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 22);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    for (uint64_t index = 0; index < 22; index++) {
        uint64_t was = index == 4 ? 24 : index == 9 ? 23 : index == 19 ? 22 : index;
        uint8_t right[VALUE_MAX], got[VALUE_MAX];
        for (int field = 0; field < FIELDS; field++) {
            uint64_t size, wanted = record_value(field, was, right);
            bool there;
            unit_ok(read_value(dataset, (size_t)field, index, got, &size, &there, &error));
            ck_assert(there == (wanted != LX_NONE));
            ck_assert(!there || (size == wanted && memcmp(got, right, size) == 0));
        }
    }
    lx_dataset_close(dataset);
    /* Every record at once, and the last ones. */
    ck_assert_int_eq(remove("d/chunk/0.zr"), 0);
    unit_ok(repair(LX_REPAIR_RECORDS, &told, &result, &error));
    dataset = open_dataset("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 22 - result.deleted);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(every_wrong_number_of_an_entry_is_repaired)
{
    char *scratch = scratch_make();
    records_make("whole", 20, 3);
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        lx_error error = LX_ERROR_INIT;
        struct told told;
        lx_repair_result result;
        directory_copy("whole", "d");
        harm_entry("d", "image", 7, &harms[i]);
        lx_status status = repair(LX_REPAIR_REPORT, &told, &result, &error);
        ck_assert_uint_eq(error.record, 7);
        expect_error(status, LX_ERR_CORRUPT, harms[i].said, harms[i].where);
        unit_ok(repair(LX_REPAIR_VALUES, &told, &result, &error));
        lx_dataset *dataset = open_dataset("d");
        unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
        expect_value(dataset, IMAGE, 8);
        lx_dataset_close(dataset);
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    scratch_remove(scratch);
}
END_TEST

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
        expect_error(status, LX_ERR_CORRUPT, "later ones", "d/LOG");
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
    lx_writer_options *options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_options_set_chunk(options, 8, 1 << 20, &error));
    lx_writer *writer = records_create("d", options);
    records_append(writer, 3);
    commit(writer);
    uint64_t end = log_size("d/LOG");
    for (int i = 0; i < 5; i++) {
        records_append(writer, 3);
        commit(writer);
    }
    close_writer(writer);
    ck_assert(file_exists("d/chunk/3.zr"));
    file_flip("d/LOG", 8 * (end + 70));
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
    lx_identity identity;
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

START_TEST(rows_that_no_table_has_are_not_gone_through)
{
    const uint64_t many = (uint64_t)1 << 32;
    char *scratch = scratch_make(), name[64];
    lx_error error = LX_ERROR_INIT;
    struct told told;
    lx_repair_result result;
    lx_dataset *dataset;
    records_make("d", 20, 5);
    ck_assert_uint_eq(add_frame("d", many, many, name), 25);
    for (int mode = LX_REPAIR_REPORT; mode <= LX_REPAIR_REPORT_RECORDS; mode += 3) {
        unit_fails(repair((lx_repair)mode, &told, &result, &error), LX_ERR_CORRUPT);
        ck_assert_uint_eq(result.records, many);
        ck_assert_uint_eq(result.values, many * FIELDS);
        ck_assert_uint_eq(result.missing, (many - 20) * FIELDS);
        lx_error_clear(&error);
    }
    unit_ok(repair(LX_REPAIR_RECORDS, &told, &result, &error));
    ck_assert_uint_eq(result.deleted, 0);
    unit_ok(open_as("d", LX_VERIFY_NEVER, false, &dataset, &error));
    ck_assert_uint_eq(lx_dataset_get_length(dataset), many);
    for (uint64_t index = 0; index < 20; index++)
        expect_value(dataset, LABEL, index);
    uint64_t last = many - 1, ends[2];
    uint8_t present;
    unit_ok(lx_dataset_measure(dataset, LABEL, &last, 1, ends, &present, &error));
    ck_assert_uint_eq(present, 0);
    lx_dataset_close(dataset);
    unit_ok(lx_dataset_remove("d", &error));
    scratch_remove(scratch);
}
END_TEST

START_TEST(more_rows_than_can_be_are_refused)
{
    const uint64_t most = (uint64_t)1 << 40;
    char *scratch = scratch_make(), name[64];
    struct told told;
    lx_repair_result result;
    records_make("d", 20, 5);
    (void)add_frame("d", most, most, name);
    uint64_t digest = digest_of("d");
    for (int mode = LX_REPAIR_REPORT; mode <= LX_REPAIR_REPORT_RECORDS; mode++) {
        lx_error error = LX_ERROR_INIT;
        lx_status status = repair((lx_repair)mode, &told, &result, &error);
        expect_error(status, LX_ERR_LIMIT, "nothing is there", "d");
        ck_assert_uint_eq(digest_of("d"), digest);
    }
    scratch_remove(scratch);
}
END_TEST

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
        lx_identity identity;
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

START_TEST(what_nothing_can_be_done_about_is_told_with_advice)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct told told;
    lx_repair_result result;
    records_make("d", 10, 5);
    directory_copy("d", "whole");
    file_put("d/meta.json", "{", 1);
    lx_status status = repair(LX_REPAIR_VALUES, &told, &result, &error);
    expect_error(status, LX_ERR_CORRUPT, "backup", "d/meta.json");
    ck_assert_int_eq(rename("whole/meta.json", "d/meta.json.new"), 0);
    status = repair(LX_REPAIR_VALUES, &told, &result, &error);
    expect_error(status, LX_ERR_CORRUPT, "rename it", "d/meta.json");
    ck_assert_int_eq(rename("d/meta.json.new", "d/meta.json"), 0);
    unit_ok(repair(LX_REPAIR_VALUES, &told, &result, &error));
    file_flip("d/LOG", 8 * 20);
    status = repair(LX_REPAIR_VALUES, &told, &result, &error);
    expect_error(status, LX_ERR_CORRUPT, "backup", "d/LOG");
    ck_assert_int_eq(remove("d/LOG"), 0);
    status = repair(LX_REPAIR_VALUES, &told, &result, &error);
    expect_error(status, LX_ERR_CORRUPT, "only a backup", "d/LOG");
    ck_assert_int_eq(lx_dataset_repair("none", LX_REPAIR_VALUES, NULL, NULL, NULL, NULL, NULL),
                     LX_ERR_NOT_FOUND);
    ck_assert(!file_exists("d.damaged-1"));
    unit_refuses_null(lx_dataset_repair(NULL, LX_REPAIR_VALUES, NULL, NULL, NULL, NULL, &error),
                      "path");
    unit_fails(lx_dataset_repair("d", (lx_repair)4, NULL, NULL, NULL, NULL, &error),
               LX_ERR_ARGUMENT);
    /* A dictionary cannot be made again. */
    golden_copy("zstd");
    nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    ck_assert_int_eq(rename("zstd", "d"), 0);
    file_flip("d/x.dict", 100);
    status = repair(LX_REPAIR_VALUES, &told, &result, &error);
    ck_assert_int_eq(told.findings[0].remedy, LX_REMEDY_NONE);
    expect_error(status, LX_ERR_CORRUPT, "dictionary", "x.dict");
    ck_assert(!file_exists("d.damaged-1"));
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

START_TEST(who_is_told_may_end_it_and_nothing_was_changed)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_repair_result result;
    records_make("d", 20, 5);
    harm_two_images();
    uint64_t before = digest_of("d");
    for (uint64_t stop = 1; stop <= 2; stop++) {
        struct told told = {.stop_at = stop};
        ck_assert_int_eq(
            lx_dataset_repair("d", LX_REPAIR_VALUES, note, NULL, &told, &result, &error),
            LX_ERR_CANCELED);
        ck_assert_int_eq(error.status, LX_ERR_CANCELED);
        lx_error_clear(&error);
        ck_assert_uint_eq(digest_of("d"), before);
        ck_assert(!file_exists("d.damaged-1"));
    }
    ck_assert_int_eq(
        lx_dataset_repair("d", LX_REPAIR_VALUES, NULL, stop, NULL, &result, &error),
        LX_ERR_CANCELED);
    ck_assert_int_eq(error.status, LX_ERR_CANCELED);
    ck_assert_uint_eq(digest_of("d"), before);
    scratch_remove(scratch);
}
END_TEST

/** Has a child, which has what is open just now, and stays. */
static lx_status have_child(uint64_t done, uint64_t total, void *user)
{
    pid_t *child = user;
    (void)done, (void)total;
    if (*child == 0 && (*child = fork()) == 0)
        for (;;)
            pause();
    return *child > 0 ? LX_OK : LX_ERR_IO;
}

START_TEST(a_child_that_is_made_meanwhile_keeps_nobody_out)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    pid_t child = 0;
    records_make("d", 20, 5);
    harm_two_images();
    unit_ok(lx_dataset_repair("d", LX_REPAIR_VALUES, NULL, have_child, &child, NULL, &error));
    close_writer(records_reopen("d", NULL));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_writer_keeps_it_out_and_readers_go_on)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct told told;
    lx_repair_result result;
    records_make("d", 20, 5);
    harm_two_images();
    lx_writer *writer = records_reopen("d", NULL);
    unit_fails(repair(LX_REPAIR_VALUES, &told, &result, &error), LX_ERR_BUSY);
    unit_fails(repair(LX_REPAIR_REPORT, &told, &result, &error), LX_ERR_CORRUPT);
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    unit_ok(repair(LX_REPAIR_VALUES, &told, &result, &error));
    expect_value(dataset, BLOB, 18);
    expect_whole(25, is_bad_image); /* the old files are gone, as far as nobody needs them */
    expect_value(dataset, WAVE, 17);
    bool changed;
    unit_ok(lx_dataset_refresh(dataset, &changed, &error));
    ck_assert(changed);
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 28);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(interrupted_anywhere_it_is_as_before_or_repaired)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct told told;
    lx_repair_result result;
    records_make("d", 20, 5);
    harm_two_images();
    directory_copy("d", "harmed");
    uint64_t before = digest_of("d");
    lx_status status = LX_ERR_NOMEM;
    for (int memory = 0; status != LX_OK; memory++) {
        ck_assert_int_lt(memory, 500);
        scarce_begin(memory);
        status = repair(LX_REPAIR_VALUES, &told, &result, &error);
        scarce_begin(1000000);
        ck_assert_msg(status == LX_OK || status == LX_ERR_NOMEM, "%s", error.message);
        ck_assert(result.changed == (status == LX_OK));
        if (status != LX_OK)
            ck_assert_uint_eq(digest_of("d"), before);
    }
    expect_whole(25, is_bad_image);
    /* Files that may not grow. */
    for (uint64_t limit = 16; limit < 1000; limit *= 2) {
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
        directory_copy("harmed", "d");
        limit_files(limit);
        status = repair(LX_REPAIR_VALUES, &told, &result, &error);
        unlimit_files();
        if (status != LX_OK)
            ck_assert_uint_eq(digest_of("d"), before);
        else
            ck_assert_uint_eq(result.changed, 1);
    }
    /* A kill in the middle. */
    for (unsigned ms = 0; ms < 8; ms++) {
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
        directory_copy("harmed", "d");
        pid_t child = fork();
        if (child == 0) {
            (void)lx_dataset_repair("d", LX_REPAIR_VALUES, NULL, NULL, NULL, NULL, NULL);
            _exit(0);
        }
        nap_ms(ms);
        kill(child, SIGKILL);
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
        status = repair(LX_REPAIR_VALUES, &told, &result, &error);
        ck_assert_int_eq(status, LX_OK);
        expect_whole(25, is_bad_image);
    }
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/repair", a_whole_dataset_is_left_as_it_is, damaged_values_become_missing,
          damaged_records_can_be_deleted, every_wrong_number_of_an_entry_is_repaired,
          rot_in_the_log_keeps_the_commits_before_it, chunks_of_lost_commits_are_put_aside,
          a_frame_that_breaks_a_rule_ends_the_log, rows_that_no_table_has_are_not_gone_through,
          more_rows_than_can_be_are_refused,
          rows_behind_the_end_of_a_table_read_as_missing, tables_and_chunks_that_are_gone,
          a_chunk_that_is_short_loses_what_lay_behind, a_seal_that_is_wrong_is_taken_off,
          what_nothing_can_be_done_about_is_told_with_advice, what_a_link_points_to_is_not_given_up,
          a_lock_that_is_no_file_is_to_be_removed, a_child_that_is_made_meanwhile_keeps_nobody_out,
          who_is_told_may_end_it_and_nothing_was_changed, a_writer_keeps_it_out_and_readers_go_on,
          interrupted_anywhere_it_is_as_before_or_repaired)
