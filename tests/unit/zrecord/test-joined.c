/* SPDX-License-Identifier: MIT */
/* A joined dataset, whose chunks are in parts, is read, verified and copied like any other. Nothing
 * changes it. */
#include <loaderx/maintenance.h>
#include <loaderx/repair.h>

#include "../scarce.h"
#include "joined.h"
#include "provider.h"

#define RECORDS 200

START_TEST(reads_like_any_other)
{
    char *scratch = scratch_make();
    records_make_joined("d", RECORDS);
    expect_dataset("d", RECORDS);
    lx_error error = LX_ERROR_INIT;
    lx_storage_stats stats;
    lx_dataset *dataset;
    lx_dataset_options *options = lx_dataset_options_new();
    unit_ok(lx_dataset_options_set_access(options, LX_ACCESS_PREAD, &error));
    unit_ok(lx_dataset_open("d", options, &dataset, &error));
    lx_dataset_options_free(options);
    expect_records(dataset, RECORDS);
    unit_ok(lx_dataset_stat(dataset, &stats, NULL, &error));
    ck_assert_uint_eq(stats.parts, 2);
    ck_assert_uint_eq(stats.chunks, 3);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_it_elsewhere)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct elsewhere place;
    lx_dataset *dataset;
    records_make_joined("d", RECORDS);
    elsewhere_begin(&place);
    unit_ok(elsewhere_dataset(&place, "d", NULL, &dataset, &error));
    expect_records(dataset, RECORDS);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    unit_ok(lx_dataset_pull(dataset, "copy", NULL, NULL, &error));
    lx_dataset_close(dataset);
    expect_dataset("copy", RECORDS);
    elsewhere_end(&place);
    scratch_remove(scratch);
}
END_TEST

START_TEST(nothing_changes_it)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    records_make_joined("d", RECORDS);
    expect_error(lx_writer_open("d", NULL, &writer, &error), LX_ERR_UNSUPPORTED, "joined", "d");
    expect_error(lx_dataset_unseal("d", &error), LX_ERR_UNSUPPORTED, "joined", "d");
    expect_error(lx_dataset_remove("d", &error), LX_ERR_UNSUPPORTED, "joined", "d");
    expect_error(lx_dataset_check_removable("d", &error), LX_ERR_UNSUPPORTED, "joined", "d");
    expect_dataset("d", RECORDS);
    scratch_remove(scratch);
}
END_TEST

/** Ends a copy after a number of steps. */
static lx_status stop(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    uint64_t *left = user;
    (void)done, (void)total, (void)error;
    return (*left)-- == 1 ? LX_ERR_CANCELED : LX_OK;
}

START_TEST(copies_have_the_same_folders)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make_joined("d", RECORDS);
    lx_dataset *dataset = open_dataset("d");
    unit_ok(lx_dataset_backup(dataset, "backup", NULL, NULL, &error));
    expect_dataset("backup", RECORDS);
    ck_assert_uint_eq(file_size("backup/" INNER), file_size("d/" INNER));
    for (uint64_t steps = 1; steps < 14; steps += 2) {
        char name[16];
        uint64_t left = steps;
        snprintf(name, sizeof name, "pulled-%u", (unsigned)steps);
        unit_fails(lx_dataset_backup(dataset, name, stop, &left, &error), LX_ERR_CANCELED);
        ck_assert(!file_exists(name));
        left = steps;
        unit_fails(lx_dataset_pull(dataset, name, stop, &left, &error), LX_ERR_CANCELED);
        unit_ok(lx_dataset_pull(dataset, name, NULL, NULL, &error));
        expect_dataset(name, RECORDS);
        ck_assert_uint_eq(file_size(in(name, INNER)), file_size("d/" INNER));
    }
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(copying_it_fails_without_memory)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_status pulled = LX_ERR_NOMEM, backed_up = LX_ERR_NOMEM;
    records_make_joined("d", RECORDS);
    lx_dataset *dataset = open_dataset("d");
    for (int memory = 0; pulled != LX_OK || backed_up != LX_OK; memory++) {
        ck_assert_int_lt(memory, 400);
        scarce_begin(memory);
        if (pulled != LX_OK)
            pulled = lx_dataset_pull(dataset, "pulled", NULL, NULL, NULL);
        scarce_begin(memory);
        if (backed_up != LX_OK)
            backed_up = lx_dataset_backup(dataset, "backup", NULL, NULL, NULL);
        scarce_begin(100000);
        ck_assert(pulled == LX_OK || pulled == LX_ERR_NOMEM);
        ck_assert(backed_up == LX_OK || backed_up == LX_ERR_NOMEM);
        lx_error_clear(&error);
        ck_assert(file_exists("backup/meta.json") == (backed_up == LX_OK));
    }
    expect_dataset("pulled", RECORDS);
    expect_dataset("backup", RECORDS);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

/** Reading its records must fail, at the path @p where. */
static void expect_damaged(const char *said, const char *where)
{
    lx_error error = LX_ERROR_INIT;
    lx_verify_result done;
    lx_dataset *dataset = open_dataset("d");
    lx_status status = lx_dataset_verify(dataset, NULL, NULL, NULL, &done, &error);
    expect_error(status, LX_ERR_CORRUPT, said, where);
    ck_assert_uint_gt(done.damages, 0);
    lx_dataset_close(dataset);
}

START_TEST(follows_no_links_and_finds_damage)
{
    char *scratch = scratch_make();
    records_make_joined("d", RECORDS);
    file_flip("d/" INNER, 1);
    expect_damaged("checksum", "d/" INNER);
    file_flip("d/" INNER, 1);
    joined_move("d", "part/b", "part/moved");
    expect_damaged("not found", "d/part/b");
    ck_assert_int_eq(symlink("moved", "d/part/b"), 0);
    expect_damaged("symbolic links", "d/part/b");
    ck_assert_int_eq(remove("d/part/b"), 0);
    file_put("d/part/b", "x", 1);
    expect_damaged("not a directory", "d/part/b");
    ck_assert_int_eq(remove("d/part/b"), 0);
    joined_move("d", "part/moved", "part/b");
    joined_move("d", INNER, "moved");
    ck_assert_int_eq(symlink("../../../../../moved", "d/" INNER), 0);
    expect_damaged("symbolic links", "d/" INNER);
    ck_assert_int_eq(remove("d/" INNER), 0);
    joined_move("d", "moved", INNER);
    size_t size;
    uint8_t *bytes = file_bytes("d/" INNER, &size);
    FILE *longer = fopen("d/" INNER, "ab");
    ck_assert(longer != NULL && fputs("more", longer) >= 0 && fclose(longer) == 0);
    expect_damaged("committed", "d/" INNER);
    file_put("d/" INNER, bytes, size);
    free(bytes);
    expect_dataset("d", RECORDS);
    scratch_remove(scratch);
}
END_TEST

static lx_repair_result repair(bool apply, lx_status expected, const char *said)
{
    lx_error error = LX_ERROR_INIT;
    lx_repair_result result;
    lx_repair_options *options = lx_repair_options_new();
    unit_ok(lx_repair_options_set_apply(options, apply, &error));
    lx_status status = lx_dataset_repair("d", options, &result, &error);
    lx_repair_options_free(options);
    if (expected == LX_OK)
        unit_ok(status);
    else
        expect_error(status, expected, said, "d");
    return result;
}

START_TEST(is_repaired_by_recovering_it)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_repair_result result;
    records_make_joined("d", RECORDS);
    file_edit("d/meta.json", "\"sealed\": true", "\"sealed\":  true");
    file_flip("d/meta.json", 8 * 20); /* the checksum */
    result = repair(true, LX_OK, "");
    ck_assert(result.changed);
    file_flip("d/" INNER, 1);
    result = repair(false, LX_ERR_CORRUPT, "checksum");
    ck_assert_uint_eq(result.missing, 1);
    result = repair(true, LX_ERR_UNSUPPORTED, "joined");
    ck_assert(!result.changed);
    joined_move("d", OUTER, "moved");
    ck_assert_int_eq(symlink("../../../moved", "d/" OUTER), 0);
    lx_status status = lx_dataset_recover("d", "new", NULL, &result, &error);
    expect_error(status, LX_ERR_CORRUPT, "symbolic links", "d/" OUTER);
    ck_assert(!file_exists("new"));
    ck_assert_int_eq(remove("d/" OUTER), 0);
    joined_move("d", "moved", OUTER);
    unit_ok(lx_dataset_recover("d", "new", NULL, &result, &error));
    ck_assert_uint_eq(result.missing, 1);
    file_flip("d/" INNER, 1);
    expect_dataset("d", RECORDS);
    lx_dataset *dataset = open_dataset("new");
    lx_storage_stats stats;
    unit_ok(lx_dataset_stat(dataset, &stats, NULL, &error));
    ck_assert_uint_eq(stats.parts, 0);
    lx_dataset_close(dataset);
    lx_writer *writer = records_reopen("new", NULL); /* it is an ordinary dataset */
    records_append(writer, 1);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/joined", reads_like_any_other, reads_it_elsewhere, nothing_changes_it,
          copies_have_the_same_folders, copying_it_fails_without_memory,
          follows_no_links_and_finds_damage, is_repaired_by_recovering_it)
