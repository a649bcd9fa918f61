/* SPDX-License-Identifier: MIT */
/* lx_dataset_recover() copies the readable data to a new directory, and does not change the old
 * one. */
#include <signal.h>
#include <sys/stat.h>

#include "../../scarce.h"
#include "repaired.h"
#include "zrecord/read/refresh.h"
#include "zrecord/read/row-digest.h"

#define RECORDS 40

static bool is_image_after_12(int field, uint64_t index)
{
    return field == IMAGE && index >= 12 && index < 20;
}

START_TEST(values_after_the_end_of_a_table_become_missing)
{
    char *scratch = scratch_make();
    static const char *const cuts[][2] = {{"d/image.offset", "16"}, {"d/image.check", "8"}};
    for (size_t i = 0; i < 2; i++) {
        lx_error error = LX_ERROR_INIT;
        struct found found;
        lx_repair_result result;
        records_make("d", 20, 5);
        file_cut(cuts[i][0], 12 * strtoull(cuts[i][1], NULL, 10) + 3);
        expect_refused("d", LX_ERR_CORRUPT, "committed", cuts[i][0]);
        uint64_t before = digest_of("d");
        lx_status status = repair(APPLY, &found, &result, &error);
        expect_error(status, LX_ERR_CORRUPT, "--into NEW", cuts[i][0]);
        unit_ok(repair(INTO, &found, &result, &error));
        ck_assert_uint_eq(digest_of("d"), before);
        ck_assert_int_eq(found.findings[0].action, LX_REPAIR_ACTION_DROP);
        ck_assert_uint_eq(found.findings[0].damage.record, 12);
        ck_assert_str_eq(found.findings[0].damage.field, "image");
        ck_assert_uint_eq(result.missing, 8); /* including those that were missing before */
        ck_assert(result.changed && result.copied_bytes == 0);
        expect_whole("new", 25, is_image_after_12);
        remove_tree("d");
        unit_ok(lx_dataset_remove("new", &error));
    }
    scratch_remove(scratch);
}
END_TEST

/** Truncates all tables to @p rows rows. */
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

START_TEST(makes_at_most_the_rows_of_the_longest_table)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct found found;
    lx_repair_result result;
    records_make("d", 20, 5);
    cut_tables(12);
    unit_ok(repair(INTO, &found, &result, &error));
    ck_assert_uint_eq(result.deleted, 13);
    ck_assert_uint_eq(file_size("new/image.offset.1"), 12 * LX__OFFSET_ROW);
    expect_whole("new", 12, NULL);
    scratch_remove(scratch);
}
END_TEST

/** Adds a frame to the log of "d" that names @p rows rows and as many records. */
static void add_frame(uint64_t rows)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = open_dataset("d");
    lx_dataset_identity identity;
    lx_dataset_get_identity(dataset, &identity);
    lx__snapshot *snapshot = lx__dataset_pin(dataset);
    lx__wal_identity log = identity_of(identity.uuid);
    log.generation = identity.generation;
    lx__frame_builder builder = {0};
    lx__frame frame = {.sequence = snapshot->state.position.sequence,
                       .length = rows,
                       .rows = rows,
                       .previous_crc = snapshot->state.position.crc,
                       .flags = LX__FRAME_SYNCED,
                       .table_generation = snapshot->state.table_generation,
                       .next_chunk = snapshot->state.next_chunk};
    unit_ok(lx__frame_begin(&builder, 0, 0, &error));
    lx__frame_finish(&builder, &frame, &log);
    file_patch("d/LOG", snapshot->state.position.offset, builder.data, builder.size);
    lx__frame_builder_free(&builder);
    lx__snapshot_unref(snapshot);
    lx_dataset_close(dataset);
}

START_TEST(omits_rows_that_the_log_names_and_no_table_has)
{
    static const uint64_t claims[] = {25, (uint64_t)1 << 32, (uint64_t)6800000000, LX__LENGTH_MAX};
    char *scratch = scratch_make();
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        lx_error error = LX_ERROR_INIT;
        struct found found;
        lx_repair_result result;
        records_make("d", 20, 5);
        add_frame(claims[i]);
        /* The frame moves the records of the log to the tables, which do not have their rows: these
         * are lost. */
        uint64_t left = 20;
        unit_fails(repair(APPLY, &found, &result, &error), LX_ERR_CORRUPT);
        unit_ok(repair(i % 2 ? INTO_DELETE : INTO, &found, &result, &error));
        ck_assert_uint_eq(result.deleted, claims[i] - left);
        ck_assert_uint_eq(result.records, left);
        ck_assert_uint_eq(file_size("new/image.offset.1"), left * LX__OFFSET_ROW);
        lx_dataset *dataset = open_dataset("new");
        ck_assert_uint_eq(lx_dataset_get_length(dataset), left);
        for (uint64_t index = 0; index < left; index++)
            expect_value(dataset, LABEL, index);
        lx_dataset_close(dataset);
        remove_tree("d");
        unit_ok(lx_dataset_remove("new", &error));
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(tables_and_chunks_may_be_absent)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct found found;
    lx_repair_result result;
    records_make("d", 20, 5);
    ck_assert_int_eq(remove("d/wave.check"), 0);
    ck_assert_int_eq(remove("d/chunk/0.zr"), 0);
    ck_assert_int_eq(rmdir("d/chunk"), 0);
    unit_ok(repair(INTO, &found, &result, &error));
    lx_dataset *dataset = open_dataset("new");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 25);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    for (uint64_t index = 0; index < 25; index++)
        expect_value(dataset, LABEL, index); /* they are in the tables */
    lx_dataset_close(dataset);
    lx_writer *writer = records_reopen("new", NULL);
    records_append(writer, 5);
    close_writer(writer);
    dataset = open_dataset("new");
    expect_value(dataset, IMAGE, 27);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(updates_in_the_log_replace_rows)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct found found;
    lx_repair_result result;
    records_make("d", 20, 0);
    lx_writer *writer = records_reopen("d", NULL);
    for (uint64_t i = 0; i < 20; i += 3) {
        const lx_value missing = {.size = LX_NONE};
        unit_ok(lx_writer_modify(writer, i, (const size_t[]){IMAGE}, &missing, 1, &error));
    }
    unit_ok(lx_writer_truncate(writer, 19, &error));
    close_writer(writer);
    file_cut("d/image.offset", 5 * LX__OFFSET_ROW);
    unit_ok(repair(INTO, &found, &result, &error));
    /* Also those of records 6, 9, 12, 15 and 18, which are in the log. */
    ck_assert_uint_eq(result.missing, 14);
    lx_dataset *dataset = open_dataset("new");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 19);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    for (uint64_t index = 0; index < 5; index++) {
        uint8_t value[VALUE_MAX];
        uint64_t size;
        bool there;
        unit_ok(read_value(dataset, IMAGE, index, value, &size, &there, &error));
        ck_assert(there == (index % 3 != 0 && record_value(IMAGE, index, value) != LX_NONE));
        expect_value(dataset, BLOB, index);
    }
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

/** Recovers "d", and returns whether digests of the old and the new rows can be compared. */
static bool recover_comparable(uint64_t length)
{
    lx_error error = LX_ERROR_INIT;
    struct found found;
    lx_repair_result result;
    lx__row_digest then, now;
    lx_dataset *dataset = open_dataset("d");
    unit_ok(lx__dataset_digest_rows(dataset, length, LX_NONE, &then, &error));
    lx_dataset_close(dataset);
    unit_ok(repair(INTO, &found, &result, &error));
    dataset = open_dataset("new");
    unit_ok(lx__dataset_digest_rows(dataset, length, then.rows, &now, &error));
    lx_dataset_close(dataset);
    bool comparable = then.table_generation == now.table_generation;
    lx__row_digest_free(&then);
    lx__row_digest_free(&now);
    return comparable;
}

START_TEST(new_tables_have_a_new_table_generation)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 20, 5);
    lx_writer *writer = records_reopen("d", NULL);
    const lx_value missing = {.size = LX_NONE};
    unit_ok(lx_writer_modify(writer, 3, (const size_t[]){CAPTION}, &missing, 1, &error));
    close_writer(writer);
    ck_assert(!recover_comparable(25)); /* an update in the log became a row */
    ck_assert(file_exists("new/image.offset.1") && !file_exists("new/image.offset"));
    /* The next recovery, of tables with a suffix, keeps all rows. */
    remove_tree("d");
    ck_assert_int_eq(rename("new", "d"), 0);
    file_cut("d/image.offset.1", 12 * LX__OFFSET_ROW);
    lx_repair_result result;
    struct found found;
    unit_ok(repair(INTO, &found, &result, &error));
    ck_assert(file_exists("new/image.offset.2") && !file_exists("new/image.offset.1"));
    lx_dataset *dataset = open_dataset("new");
    for (uint64_t index = 0; index < 25; index++)
        expect_value(dataset, LABEL, index);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(ignores_a_lock_that_is_not_a_file)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct found found;
    lx_repair_result result;
    for (int i = 0; i < 2; i++) {
        records_make("d", 10, 5);
        ck_assert_int_eq(remove("d/LOCK"), 0);
        ck_assert_int_eq(i == 0 ? mkfifo("d/LOCK", 0600) : symlink("elsewhere", "d/LOCK"), 0);
        unit_ok(repair(INTO, &found, &result, &error));
        expect_whole("new", 15, NULL);
        remove_tree("d");
        unit_ok(lx_dataset_remove("new", &error));
    }
    scratch_remove(scratch);
}
END_TEST

/* ---- sealed datasets */

/** Makes a sealed dataset "whole" with several commits and chunks. If @p changed, records were
 * modified and deleted, so that sealing makes new tables. */
static void make_sealed(bool changed)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_options_set_chunk_limits(options, 30, 1 << 20, &error));
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

static void renew(void)
{
    remove_tree("d");
    directory_copy("whole", "d");
}

/** Checks that the dataset "new" has the records of "whole", except the values that @p but
 * selects. */
static void expect_same(bool (*but)(int field, uint64_t index))
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *whole = open_dataset("whole"), *dataset = open_dataset("new");
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

/** Recovers "d" with all records. "d" itself does not change; the new dataset can be written and
 * sealed. */
static void expect_recovered(void)
{
    lx_error error = LX_ERROR_INIT;
    struct found found;
    lx_repair_result result;
    lx_dataset *dataset = open_dataset("whole");
    uint64_t length = lx_dataset_get_length(dataset);
    lx_dataset_close(dataset);
    uint64_t before = digest_of("d");
    lx_status status = repair(APPLY, &found, &result, &error);
    expect_error(status, LX_ERR_CORRUPT, "--into NEW", "d/");
    unit_ok(repair(INTO_DELETE, &found, &result, &error));
    ck_assert_uint_eq(digest_of("d"), before);
    ck_assert_uint_le(found.count, 1);
    ck_assert(found.count == 0 || strstr(found.findings[0].damage.path, "LOG") != NULL ||
              strcmp(found.findings[0].damage.path, "d") == 0);
    ck_assert_uint_eq(result.records, length);
    ck_assert(result.missing == 0 && result.deleted == 0 && result.changed);
    expect_same(NULL);
    lx_writer *writer = records_reopen("new", NULL);
    records_append(writer, 2);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    dataset = open_dataset("new");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), length + 2);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
    unit_ok(lx_dataset_remove("new", &error));
}

START_TEST(a_sealed_dataset_loses_nothing_with_its_log)
{
    char *scratch = scratch_make();
    make_sealed(false);
    uint64_t size = file_size("whole/LOG");
    for (uint64_t at = 3; at < size; at += size / 11) {
        renew();
        file_flip("d/LOG", 8 * at);
        expect_recovered();
        renew();
        file_cut("d/LOG", at);
        expect_recovered();
    }
    renew();
    file_flip("d/LOG", 8 * size - 3); /* in the last frame, which looks torn */
    expect_recovered();
    renew();
    ck_assert_int_eq(remove("d/LOG"), 0);
    expect_recovered();
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_sealed_dataset_with_new_tables_loses_nothing_with_its_log)
{
    char *scratch = scratch_make();
    make_sealed(true);
    ck_assert(file_exists("whole/LOG.1"));
    uint64_t size = file_size("whole/LOG.1");
    for (uint64_t at = 1; at < size; at += 41) {
        renew();
        file_flip("d/LOG.1", 8 * at);
        expect_recovered();
    }
    scratch_remove(scratch);
}
END_TEST

static bool is_bad(int field, uint64_t index)
{
    return (field == IMAGE && index == 4) || (field == WAVE && index >= 30);
}

START_TEST(a_seal_and_tables_are_used_as_far_as_they_are_valid)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct found found;
    lx_repair_result result;
    static const struct harm crc = {.crc = 1};
    make_sealed(false);
    renew();
    file_flip("d/LOG", 8 * 200);
    harm_entry("d", "image", 4, &crc);
    file_cut("d/wave.offset", 30 * 16);
    unit_ok(repair(INTO, &found, &result, &error));
    ck_assert_uint_eq(result.damages, 3); /* the log, the table, and the value */
    ck_assert_uint_eq(result.missing, 1 + 10);
    expect_same(is_bad);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_log_with_more_rows_comes_before_the_seal)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct found found;
    lx_repair_result result;
    make_sealed(false);
    /* Restores the meta.json of the sealed dataset. */
    renew();
    unit_ok(lx_dataset_unseal("d", &error));
    lx_writer *writer = records_reopen("d", NULL);
    records_append(writer, 7);
    close_writer(writer);
    size_t size;
    uint8_t *meta = file_bytes("whole/meta.json", &size);
    file_put("d/meta.json", meta, size);
    unit_ok(repair(INTO, &found, &result, &error));
    expect_dataset("new", RECORDS + 7);
    free(meta);
    /* A seal that contradicts itself is ignored. */
    renew();
    file_edit("d/meta.json", "\"tables\": {", "\"tables\": {\"x.check\": {}, ");
    ck_assert_int_eq(remove("d/LOG"), 0);
    unit_ok(lx_dataset_remove("new", &error));
    lx_status status = repair(INTO, &found, &result, &error);
    expect_error(status, LX_ERR_CORRUPT, "backup", "d/LOG");
    scratch_remove(scratch);
}
END_TEST

START_TEST(does_not_reuse_the_id_of_an_absent_chunk)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct found found;
    lx_repair_result result;
    char last[64];
    make_sealed(false);
    renew();
    unsigned id = 0;
    for (; snprintf(last, sizeof last, "d/chunk/%u.zr", id) > 0 && file_exists(last); id++)
        ;
    ck_assert_uint_gt(id, 2);
    ck_assert_int_eq(remove("d/chunk/1.zr"), 0);
    file_flip("d/LOG", 8 * 200);
    unit_ok(repair(INTO, &found, &result, &error));
    ck_assert_uint_gt(result.missing, 0);
    ck_assert_uint_lt(result.missing, 31);
    lx_writer *writer = records_reopen("new", NULL);
    records_append(writer, 3);
    close_writer(writer);
    ck_assert(!file_exists("new/chunk/1.zr"));
    snprintf(last, sizeof last, "new/chunk/%u.zr", id);
    ck_assert(file_exists(last));
    scratch_remove(scratch);
}
END_TEST

/* ---- failures and interruptions */

static void make_damaged(void)
{
    records_make("d", 20, 5);
    file_cut("d/image.offset", 12 * LX__OFFSET_ROW);
    lx__entry entry = entry_of("d", "caption", 3);
    file_flip("d/chunk/0.zr", 8 * entry.offset);
}

static bool is_damaged(int field, uint64_t index)
{
    return is_image_after_12(field, index) || (field == CAPTION && index == 3);
}

START_TEST(shares_chunk_files_and_never_writes_to_them)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct found found;
    lx_repair_result result;
    struct stat one, other;
    make_damaged();
    uint64_t before = digest_of("d");
    unit_ok(repair(INTO, &found, &result, &error));
    ck_assert(stat("d/chunk/0.zr", &one) == 0 && stat("new/chunk/0.zr", &other) == 0);
    ck_assert_uint_eq(one.st_ino, other.st_ino);
    expect_whole("new", 25, is_damaged);
    lx_writer *writer = records_reopen("new", NULL);
    lx_rebalance_result rebalanced;
    records_append(writer, 20);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    unit_ok(lx_dataset_unseal("new", &error));
    writer = records_reopen("new", NULL);
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, &rebalanced, &error));
    close_writer(writer);
    ck_assert_uint_eq(digest_of("d"), before);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_an_existing_path)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct found found;
    lx_repair_result result;
    make_damaged();
    file_put("new", "x", 1);
    lx_status status = repair(INTO, &found, &result, &error);
    expect_error(status, LX_ERR_EXISTS, "already exists", "new");
    ck_assert_int_eq(rename("new", "new.recovering"), 0);
    status = repair(INTO, &found, &result, &error);
    expect_error(status, LX_ERR_EXISTS, "remove it", "new.recovering");
    ck_assert_int_eq(remove("new.recovering"), 0);
    unit_fails(lx_dataset_recover("d", "d/chunk/new", NULL, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_dataset_recover("d", "no/where", NULL, NULL, &error), LX_ERR_NOT_FOUND);
    unit_ok(lx_dataset_recover("d", "new//", NULL, NULL, &error));
    expect_whole("new", 25, is_damaged);
    scratch_remove(scratch);
}
END_TEST

START_TEST(an_interrupted_copy_leaves_no_dataset)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct found found;
    lx_repair_result result;
    make_damaged();
    uint64_t before = digest_of("d");
    lx_status status = LX_ERR_NOMEM;
    for (int memory = 0; status != LX_OK; memory++) {
        ck_assert_int_lt(memory, 1000);
        scarce_begin(memory);
        status = repair(INTO, &found, &result, &error);
        scarce_begin(1000000);
        ck_assert_msg(status == LX_OK || status == LX_ERR_NOMEM, "%s", error.message);
        ck_assert(file_exists("new") == (status == LX_OK) && !file_exists("new.recovering"));
    }
    expect_whole("new", 25, is_damaged);
    /* A full disk, simulated by a limit on file sizes. */
    for (uint64_t limit = 16; limit < 1000; limit *= 2) {
        remove_tree("new");
        limit_files(limit);
        status = repair(INTO, &found, &result, &error);
        unlimit_files();
        ck_assert(file_exists("new") == (status == LX_OK) && !file_exists("new.recovering"));
    }
    /* A kill during the recovery. */
    for (unsigned ms = 0; ms < 8; ms++) {
        remove_tree("new");
        pid_t child = fork();
        if (child == 0) {
            (void)repair_with(INTO, NULL, NULL, NULL, NULL, &result, &error);
            _exit(0);
        }
        nap_ms(ms);
        kill(child, SIGKILL);
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
        remove_tree("new.recovering");
        if (!file_exists("new"))
            unit_ok(repair(INTO, &found, &result, &error));
        expect_whole("new", 25, is_damaged);
    }
    ck_assert_uint_eq(digest_of("d"), before);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/recover-into", values_after_the_end_of_a_table_become_missing,
          makes_at_most_the_rows_of_the_longest_table,
          omits_rows_that_the_log_names_and_no_table_has, tables_and_chunks_may_be_absent,
          updates_in_the_log_replace_rows, new_tables_have_a_new_table_generation,
          ignores_a_lock_that_is_not_a_file, a_sealed_dataset_loses_nothing_with_its_log,
          a_sealed_dataset_with_new_tables_loses_nothing_with_its_log,
          a_seal_and_tables_are_used_as_far_as_they_are_valid,
          a_log_with_more_rows_comes_before_the_seal, does_not_reuse_the_id_of_an_absent_chunk,
          shares_chunk_files_and_never_writes_to_them, rejects_an_existing_path,
          an_interrupted_copy_leaves_no_dataset)
