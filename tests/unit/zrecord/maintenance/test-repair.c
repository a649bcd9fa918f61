/* SPDX-License-Identifier: MIT */
/* lx_dataset_repair(): what verifies is kept, the rest is put aside, and nothing gets worse. */
#include <signal.h>

#include "../../scarce.h"
#include "../goldens.h"
#include "repaired.h"

static lx_status stop(uint64_t done, uint64_t total, void *user)
{
    (void)done, (void)total, (void)user;
    return LX_ERR_CANCELED;
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

START_TEST(a_wrong_checksum_of_meta_json_is_made_right)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct told told;
    lx_repair_result result;
    size_t size;
    records_make("d", 10, 5);
    char *text = (char *)file_bytes("d/meta.json", &size);
    /* A digit of the checksum, an edit by hand, and no checksum at all. */
    for (int what = 0; what < 3; what++) {
        size_t skip = what == 2 ? strlen(LX__META_STAMP) - 1 : 0;
        char *changed = malloc(size);
        memcpy(changed, text, size);
        if (what == 0)
            changed[14] = changed[14] == '0' ? '1' : '0';
        else if (what == 1)
            memcpy(memmem(changed, size, "\"name\": \"wave\"", 14), "\"name\": \"wove\"", 14);
        else
            changed[skip] = '{';
        file_put("d/meta.json", changed + skip, size - skip);
        free(changed);
        uint64_t digest = digest_of("d");
        lx_status status = repair(LX_REPAIR_REPORT, &told, &result, &error);
        ck_assert_uint_eq(told.count, 1);
        ck_assert_int_eq(told.findings[0].remedy, LX_REMEDY_RESTAMP);
        ck_assert_uint_eq(result.damages, 1);
        expect_error(status, LX_ERR_CORRUPT, "checksum", "d/meta.json");
        ck_assert_uint_eq(digest_of("d"), digest);
        unit_ok(repair(LX_REPAIR_VALUES, &told, &result, &error));
        ck_assert(result.changed && result.aside[0] == '\0');
        unit_ok(repair(LX_REPAIR_REPORT, &told, &result, &error));
        ck_assert_uint_eq(told.count, 0);
    }
    free(text);
    /* Not where the log belongs to another uuid. */
    text = (char *)file_bytes("d/meta.json", &size);
    char *uuid = memmem(text, size, "\"uuid\": \"", 9);
    uuid[9] = uuid[9] == '0' ? '1' : '0';
    file_put("d/meta.json", text, size);
    lx_status status = repair(LX_REPAIR_VALUES, &told, &result, &error);
    expect_error(status, LX_ERR_CORRUPT, "checksum", "d/meta.json");
    ck_assert(!result.changed);
    free(text);
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
          a_wrong_checksum_of_meta_json_is_made_right,
          what_nothing_can_be_done_about_is_told_with_advice,
          who_is_told_may_end_it_and_nothing_was_changed,
          a_child_that_is_made_meanwhile_keeps_nobody_out, a_writer_keeps_it_out_and_readers_go_on,
          interrupted_anywhere_it_is_as_before_or_repaired)
