/* SPDX-License-Identifier: MIT */
/* New tables with all updates applied: doc/zrecord-format.md, 11.1 and 11.3. */
#include "../change.h"
#include "zrecord/write/install.h"

/** A dataset of 120 records, 100 of them in tables, with changes of old ones and deletions. */
static struct shown make_changed(const char *path)
{
    struct shown shown = shown_all(120);
    records_make(path, 100, 20);
    records_shuffle(path, &shown, 1);
    for (uint64_t i = 0; i < 30; i++)
        records_delete(path, &shown, mix(i) % shown.length);
    expect_shown(path, &shown);
    return shown;
}

static uint64_t log_entries(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_storage_stats totals;
    lx_dataset *dataset = open_dataset(path);
    unit_ok(lx_dataset_stat(dataset, &totals, NULL, &error));
    lx_dataset_close(dataset);
    return totals.log_entries;
}

static lx_status open_and_checkpoint(const char *path, lx_error *error)
{
    lx_writer *writer = records_reopen(path, NULL);
    lx_status status = lx_writer_checkpoint(writer, error);
    close_writer(writer);
    return status;
}

START_TEST(writes_all_updates_into_the_tables)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct shown shown = make_changed("d");
    ck_assert_uint_gt(log_entries("d"), 0);
    unit_ok(open_and_checkpoint("d", &error));
    expect_shown("d", &shown);
    ck_assert_uint_eq(log_entries("d"), 0);
    ck_assert_uint_eq(generation_of("d"), 1);
    ck_assert_uint_eq(file_size("d/image.offset.1"), shown.length * 16);
    ck_assert_uint_eq(file_size("d/blob.check.1"), shown.length * 8);
    ck_assert(!file_exists("d/LOG"));
    ck_assert(!file_exists("d/image.offset"));
    ck_assert(!file_exists("d/blob.check"));
    ck_assert_uint_eq(directory_count("d"), 4 + 2 * FIELDS); /* chunk, LOCK, LOG.1, meta.json */
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_writer_continues_afterwards)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct shown shown = make_changed("d");
    lx_writer *writer = records_reopen("d", NULL);
    shown_append(&shown, writer, 120, 5); /* not committed yet */
    unit_ok(lx_writer_checkpoint(writer, &error));
    expect_shown("d", &shown);
    ck_assert_uint_eq(lx_writer_get_length(writer), shown.length);
    shown_append(&shown, writer, 125, 40);
    commit(writer);
    expect_shown("d", &shown);
    unit_ok(lx_writer_rollback(writer, &error));
    expect_shown("d", &shown);
    close_writer(writer);
    for (uint64_t i = 0; i < 10; i++)
        records_delete("d", &shown, 3 * i);
    writer = records_reopen("d", NULL);
    unit_ok(lx_writer_checkpoint(writer, &error));
    shown_append(&shown, writer, 165, 3);
    close_writer(writer);
    expect_shown("d", &shown);
    ck_assert_uint_eq(generation_of("d"), 2);
    scratch_remove(scratch);
}
END_TEST

START_TEST(does_nothing_without_updates)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 10, 5);
    unit_ok(open_and_checkpoint("d", &error));
    ck_assert_uint_eq(generation_of("d"), 0);
    expect_dataset("d", 15);
    scratch_remove(scratch);
}
END_TEST

START_TEST(removes_rows_beyond_the_length)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct shown shown = shown_all(50);
    records_make_sealed("d", 50);
    records_unseal("d");
    records_move("d", &shown, NULL, 0, 20); /* a truncation */
    unit_ok(open_and_checkpoint("d", &error));
    ck_assert_uint_eq(file_size("d/label.offset.1"), 20 * 16);
    expect_dataset("d", 20);
    records_move("d", &shown, NULL, 0, 0);
    unit_ok(open_and_checkpoint("d", &error));
    expect_dataset("d", 0);
    lx_writer *writer = records_reopen("d", NULL);
    records_append(writer, 7);
    close_writer(writer);
    expect_dataset("d", 7);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_open_transactions_and_sealed_datasets)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    unit_ok(lx_writer_begin_transaction(writer, &error));
    records_append(writer, 5);
    unit_fails(lx_writer_checkpoint(writer, &error), LX_ERR_STATE);
    unit_ok(lx_writer_end_transaction(writer, &error));
    unit_ok(lx_writer_seal(writer, &error));
    lx_status status = lx_writer_checkpoint(writer, &error);
    expect_error(status, LX_ERR_STATE, "sealed", "d");
    unit_refuses_null(lx_writer_checkpoint(NULL, &error), "writer");
    close_writer(writer);
    expect_dataset("d", 5);
    scratch_remove(scratch);
}
END_TEST

START_TEST(checkpoints_large_tables_in_pieces)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    enum { ROWS = 1100000 };
    int64_t *labels = malloc(ROWS * sizeof *labels);
    lx_schema *schema = lx_schema_new();
    lx_writer *writer;
    for (int64_t i = 0; i < ROWS; i++)
        labels[i] = 3 * i;
    unit_ok(lx_schema_add_field(schema, "label", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
    unit_ok(lx_writer_extend(writer, ROWS, &(lx_values){.data = labels}, 1, NULL, &error));
    close_writer(writer);
    /* At the ends, where pieces meet, and in between. */
    static const uint64_t at[] = {0, 1, 524286, 524287, 524288, 700000, 1048575, 1048576, ROWS - 1};
    size_t count = sizeof at / sizeof *at;
    lx__update_item updates[16];
    lx_dataset *dataset = open_dataset("d");
    for (size_t i = 0; i < count; i++) {
        bool row;
        lx__entry entry = entry_in(dataset->snapshot, 0, 77, &row);
        entry.crc ^= lx__index_crc(77) ^ lx__index_crc(at[i]);
        updates[i] = (lx__update_item){.index = at[i], .entry = entry};
        labels[at[i]] = 3 * 77;
    }
    lx_dataset_close(dataset);
    log_extend("d",
               (struct frame){.length = ROWS, .updates = updates, .update_count = (uint32_t)count});
    unit_ok(open_and_checkpoint("d", &error));
    dataset = open_dataset("d");
    uint64_t *indices = malloc(ROWS * sizeof *indices);
    int64_t *got = malloc(ROWS * sizeof *got);
    for (uint64_t i = 0; i < ROWS; i++)
        indices[i] = i;
    unit_ok(lx_dataset_gather(dataset, 0, indices, ROWS, got, 8, &error));
    ck_assert_mem_eq(got, labels, ROWS * sizeof *got);
    lx_dataset_close(dataset);
    lx_schema_free(schema);
    free(indices);
    free(labels);
    free(got);
    scratch_remove(scratch);
}
END_TEST

/* ---- readers */

START_TEST(a_reader_keeps_its_files)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct shown shown = make_changed("d"), before = shown;
    lx_dataset *dataset = open_dataset("d"), *fresh;
    lx_writer *writer = records_reopen("d", NULL);
    shown_append(&shown, writer, 120, 7);
    unit_ok(lx_writer_checkpoint(writer, &error));
    ck_assert(file_exists("d/LOG"));
    ck_assert(file_exists("d/image.offset"));
    expect_shown_by(dataset, &before);
    unit_ok(lx_dataset_open("d", NULL, &fresh, &error));
    expect_shown_by(fresh, &shown);
    close_writer(writer); /* which checks for readers again */
    ck_assert(file_exists("d/LOG"));
    expect_shown_by(dataset, &before);
    unit_ok(lx_dataset_refresh(dataset, NULL, &error));
    expect_shown_by(dataset, &shown);
    close_writer(records_reopen("d", NULL)); /* removes the unused files */
    ck_assert(!file_exists("d/LOG"));
    ck_assert(!file_exists("d/image.offset"));
    expect_shown_by(dataset, &shown);
    lx_dataset_close(dataset);
    lx_dataset_close(fresh);
    expect_shown("d", &shown);
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_writer_removes_obsolete_files_after_the_last_reader)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct shown shown = make_changed("d");
    lx_dataset *dataset = open_dataset("d");
    lx_writer *writer = records_reopen("d", NULL);
    unit_ok(lx_writer_checkpoint(writer, &error));
    ck_assert(file_exists("d/LOG"));
    lx_dataset_close(dataset);
    close_writer(writer);
    ck_assert(!file_exists("d/LOG"));
    ck_assert(!file_exists("d/wave.check"));
    expect_shown("d", &shown);
    scratch_remove(scratch);
}
END_TEST

/* ---- failures */

START_TEST(a_failed_sync_poisons_the_writer_and_loses_nothing)
{
    char *scratch = scratch_make();
    struct shown shown = make_changed("made");
    unsigned before = 0;
    for (unsigned n = 1;; n++) {
        lx_error error = LX_ERROR_INIT;
        char path[16];
        snprintf(path, sizeof path, "d%u", n);
        directory_copy("made", path);
        lx_writer *writer = records_reopen(path, NULL);
        atomic_store(&sync_fails_at, atomic_load(&syncs) + n);
        lx_status status = lx_writer_checkpoint(writer, &error);
        atomic_store(&sync_fails_at, 0);
        expect_shown(path, &shown);
        if (status == LX_OK) {
            ck_assert_uint_eq(before, n - 2); /* all except that after the rename */
            ck_assert_uint_gt(n, 2 * FIELDS + 3);
            close_writer(writer);
            break;
        }
        expect_error(status, LX_ERR_POISONED, "sync", "");
        before += generation_of(path) == 0;
        ck_assert_uint_eq(names_with(path, ".1"), generation_of(path) == 0 ? 0 : 2 * FIELDS + 1);
        ck_assert_int_eq(record_append(writer, 120, NULL), LX_ERR_POISONED);
        ck_assert_int_eq(lx_writer_close(writer, NULL), LX_ERR_POISONED);
        unit_ok(open_and_checkpoint(path, &error));
        expect_shown(path, &shown);
        ck_assert_uint_eq(names_with(path, ".1"), 2 * FIELDS + 1);
        ck_assert(!file_exists(in(path, "LOG")));
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_full_disk_changes_nothing)
{
    char *scratch = scratch_make();
    struct shown shown = make_changed("d");
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_reopen("d", NULL);
    unsigned refused = 0;
    commit(writer);
    for (uint64_t limit = 0; limit < 1500; limit += 100) {
        limit_files(limit);
        lx_status status = lx_writer_checkpoint(writer, &error);
        unlimit_files();
        if (status == LX_OK)
            break;
        expect_error(status, LX_ERR_IO, "", "d");
        refused++;
        ck_assert_uint_eq(names_with("d", ".1"), 0);
        ck_assert(!file_exists("d/meta.json.new"));
        unit_ok(lx_writer_rollback(writer, &error));
    }
    ck_assert_uint_eq(refused, 15);
    expect_shown("d", &shown);
    shown_append(&shown, writer, 120, 3);
    unit_ok(lx_writer_checkpoint(writer, &error));
    close_writer(writer);
    expect_shown("d", &shown);
    scratch_remove(scratch);
}
END_TEST

START_TEST(ignores_files_of_an_interrupted_attempt)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct shown shown = make_changed("d");
    static const char *const left[] = {"d/LOG.1", "d/image.offset.1", "d/blob.check.1",
                                       "d/meta.json.new", "d/chunk/9.zr"};
    lx_writer *writer = records_reopen("d", NULL);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        file_put(left[i], "left by a try that failed", 25);
    unit_ok(lx_writer_checkpoint(writer, &error));
    expect_shown("d", &shown);
    ck_assert(!file_exists("d/chunk/9.zr"));
    ck_assert(!file_exists("d/meta.json.new"));
    close_writer(writer);
    expect_shown("d", &shown);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/checkpoint", writes_all_updates_into_the_tables, the_writer_continues_afterwards,
          does_nothing_without_updates, removes_rows_beyond_the_length,
          rejects_open_transactions_and_sealed_datasets, checkpoints_large_tables_in_pieces,
          a_reader_keeps_its_files, the_writer_removes_obsolete_files_after_the_last_reader,
          a_failed_sync_poisons_the_writer_and_loses_nothing, a_full_disk_changes_nothing,
          ignores_files_of_an_interrupted_attempt)
