/* SPDX-License-Identifier: MIT */
/* A sealed dataset whose log is damaged: meta.json tells what is in it, and nothing is lost. */
#include "../harm.h"
#include "zrecord/maintenance/rescue.h"

#define RECORDS 40

/** What was found. */
struct told {
    lx_finding first;
    uint64_t count, foreign;
};

static lx_status note(const lx_finding *finding, void *user)
{
    struct told *told = user;
    if (told->count++ == 0)
        told->first = *finding;
    told->foreign += finding->damage.status == LX_ERR_EXISTS;
    return LX_OK;
}

static lx_status repair(lx_repair mode, struct told *told, lx_repair_result *result,
                        lx_error *error)
{
    *told = (struct told){.count = 0};
    lx_error_clear(error);
    return lx_dataset_repair("d", mode, note, NULL, told, result, error);
}

static void renew(void)
{
    nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    directory_copy("whole", "d");
}

/** A sealed dataset "whole", of several commits and chunks; @p changed: also with records that were
 * modified and deleted, so that sealing folds. */
static void make(bool changed)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_options_set_chunk(options, 30, 1 << 20, &error));
    lx_writer *writer = records_create("whole", options);
    for (int i = 0; i < 8; i++) {
        records_append(writer, RECORDS / 8);
        commit(writer);
    }
    for (uint64_t i = 0; changed && i < 10; i++) {
        uint8_t memory[FIELDS][VALUE_MAX];
        lx_value values[FIELDS];
        static const size_t fields[] = {IMAGE, LABEL};
        record_values(100 + i, memory, values);
        unit_ok(lx_writer_modify(writer, i * 3, fields,
                                 (const lx_value[]){values[IMAGE], values[LABEL]}, 2, &error));
        commit(writer);
    }
    if (changed) {
        uint64_t moved;
        unit_ok(lx_writer_delete(writer, 5, &moved, &error));
    }
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
}

/** The dataset "d" has the records of "whole", all but those values that @p but names. */
static void expect_same(bool (*but)(int field, uint64_t index))
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *whole = open_dataset("whole"), *dataset = open_dataset("d");
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    ck_assert_uint_eq(lx_dataset_get_length(dataset), lx_dataset_get_length(whole));
    for (uint64_t index = 0; index < lx_dataset_get_length(whole); index++) {
        for (size_t field = 0; field < FIELDS; field++) {
            uint8_t right[VALUE_MAX] = {0}, got[VALUE_MAX] = {0};
            uint64_t wanted, size;
            bool there[2];
            unit_ok(read_value(whole, field, index, right, &wanted, &there[0], &error));
            unit_ok(read_value(dataset, field, index, got, &size, &there[1], &error));
            if (but != NULL && but((int)field, index)) {
                ck_assert(!there[1]);
                continue;
            }
            ck_assert(there[0] == there[1] && size == wanted);
            ck_assert(memcmp(right, got, sizeof right) == 0);
        }
    }
    lx_dataset_close(whole);
    lx_dataset_close(dataset);
}

/** It is told, repaired with all its records, and can be written to and sealed again. */
static void expect_kept(void)
{
    lx_error error = LX_ERROR_INIT;
    struct told told;
    lx_repair_result result;
    lx_dataset *dataset = open_dataset("whole");
    uint64_t length = lx_dataset_get_length(dataset);
    lx_dataset_close(dataset);
    lx_status status = repair(LX_REPAIR_REPORT, &told, &result, &error);
    expect_error(status, LX_ERR_CORRUPT, "which are kept", "LOG");
    ck_assert_int_eq(told.first.remedy, LX_REMEDY_FORGET);
    ck_assert_uint_eq(told.count, 1);
    ck_assert_uint_eq(result.records, length);
    unit_ok(repair(LX_REPAIR_RECORDS, &told, &result, &error));
    ck_assert_uint_eq(told.count, 1);
    ck_assert_uint_eq(result.changed, 1);
    ck_assert(result.missing == 0 && result.deleted == 0);
    expect_same(NULL);
    lx_writer *writer = records_reopen("d", NULL);
    records_append(writer, 2);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    dataset = open_dataset("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), length + 2);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
    nftw(result.aside, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

START_TEST(a_log_that_is_damaged_anywhere_takes_no_record)
{
    char *scratch = scratch_make();
    make(false);
    uint64_t size = file_size("whole/LOG");
    for (uint64_t at = 3; at < size; at += size / 11) {
        renew();
        file_flip("d/LOG", 8 * at);
        expect_kept();
        renew();
        file_cut("d/LOG", at);
        expect_kept();
    }
    renew();
    file_flip("d/LOG", 8 * size - 3); /* in the last frame: as if it were torn */
    expect_kept();
    renew();
    ck_assert_int_eq(remove("d/LOG"), 0);
    expect_kept();
    scratch_remove(scratch);
}
END_TEST

START_TEST(nor_where_sealing_has_folded)
{
    char *scratch = scratch_make();
    make(true);
    ck_assert(file_exists("whole/LOG.1"));
    uint64_t size = file_size("whole/LOG.1");
    for (uint64_t at = 1; at < size; at += 41) {
        renew();
        file_flip("d/LOG.1", 8 * at);
        expect_kept();
    }
    scratch_remove(scratch);
}
END_TEST

static bool is_bad(int field, uint64_t index)
{
    return (field == IMAGE && index == 4) || (field == WAVE && index >= 30);
}

START_TEST(tables_are_used_as_far_as_they_verify)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct told told;
    lx_repair_result result;
    static const struct harm crc = {.crc = 1};
    make(false);
    renew();
    file_flip("d/LOG", 8 * 200);
    harm_entry("d", "image", 4, &crc);
    file_cut("d/wave.offset", 30 * 16);
    unit_fails(repair(LX_REPAIR_REPORT, &told, &result, &error), LX_ERR_CORRUPT);
    ck_assert_uint_eq(result.damages, 4); /* the log, both tables, and the value */
    ck_assert_uint_eq(result.missing, 1 + 10);
    unit_ok(repair(LX_REPAIR_VALUES, &told, &result, &error));
    ck_assert_uint_eq(result.missing, 1 + 10);
    expect_same(is_bad);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_chunk_that_is_gone_leaves_its_number)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct told told;
    lx_repair_result result;
    char last[64];
    make(false);
    renew();
    unsigned id = 0;
    for (; snprintf(last, sizeof last, "d/chunk/%u.zr", id) > 0 && file_exists(last); id++)
        ;
    ck_assert_uint_gt(id, 2);
    snprintf(last, sizeof last, "d/chunk/%u.zr", id - 1);
    ck_assert_int_eq(remove(last), 0);
    file_flip("d/LOG", 8 * 200);
    unit_ok(repair(LX_REPAIR_VALUES, &told, &result, &error));
    ck_assert_uint_gt(result.missing, 0);
    ck_assert_uint_lt(result.missing, 31);
    lx_writer *writer = records_reopen("d", NULL);
    records_append(writer, 3);
    close_writer(writer);
    ck_assert(!file_exists(last));
    snprintf(last, sizeof last, "d/chunk/%u.zr", id);
    ck_assert(file_exists(last));
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_log_that_reaches_further_has_the_last_word)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct told told;
    lx_repair_result result;
    make(false);
    /* The meta.json of the sealed dataset takes the place of the one of today. */
    renew();
    unit_ok(lx_dataset_unseal("d", &error));
    lx_writer *writer = records_reopen("d", NULL);
    records_append(writer, 7);
    close_writer(writer);
    size_t size;
    uint8_t *meta = file_bytes("whole/meta.json", &size);
    file_put("d/meta.json", meta, size);
    unit_ok(repair(LX_REPAIR_VALUES, &told, &result, &error));
    expect_dataset("d", RECORDS + 7);
    /* And of one of which the log of that time is gone: nothing is known of what is today. */
    writer = records_reopen("d", NULL);
    records_append(writer, 7);
    close_writer(writer);
    file_put("d/meta.json", meta, size);
    ck_assert(!file_exists("d/LOG"));
    lx_status status = repair(LX_REPAIR_VALUES, &told, &result, &error);
    expect_error(status, LX_ERR_CORRUPT, "backup", "d/LOG");
    free(meta);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_seal_that_contradicts_itself_is_not_believed)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct told told;
    lx_repair_result result;
    make(false);
    renew();
    file_edit("d/meta.json", "\"length\": 40", "\"length\": 44");
    ck_assert_int_eq(remove("d/LOG"), 0);
    lx_status status = repair(LX_REPAIR_VALUES, &told, &result, &error);
    expect_error(status, LX_ERR_CORRUPT, "only a backup", "d/LOG");
    renew();
    ck_assert_int_eq(rename("d/LOG", "elsewhere"), 0);
    ck_assert_int_eq(symlink("../elsewhere", "d/LOG"), 0);
    unit_fails(repair(LX_REPAIR_VALUES, &told, &result, &error), LX_ERR_CORRUPT);
    ck_assert(!file_exists("d.damaged-1"));
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_wrong_uuid_costs_no_value)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct told told;
    lx_repair_result result;
    size_t size;
    make(false);
    renew();
    uint8_t *meta = file_bytes("d/meta.json", &size);
    meta = realloc(meta, size + 1);
    ck_assert_ptr_nonnull(meta);
    meta[size] = '\0';
    char *uuid = strstr((char *)meta, "\"uuid\": \"") + 9;
    *uuid = *uuid == '0' ? '1' : '0';
    file_put_meta("d/meta.json", (char *)meta);
    free(meta);
    lx_status status = repair(LX_REPAIR_VALUES, &told, &result, &error);
    expect_error(status, LX_ERR_CORRUPT, "agrees with it", "d/meta.json");
    ck_assert(!file_exists("d.damaged-1"));
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/rescue-seal", a_log_that_is_damaged_anywhere_takes_no_record,
          nor_where_sealing_has_folded, tables_are_used_as_far_as_they_verify,
          a_chunk_that_is_gone_leaves_its_number, a_log_that_reaches_further_has_the_last_word,
          a_seal_that_contradicts_itself_is_not_believed, a_wrong_uuid_costs_no_value)
