/* SPDX-License-Identifier: MIT */
/* Log rotation, and its conditions: doc/zrecord-format.md, 11.2. */
#include "../change.h"
#include "zrecord/write/install.h"
#include "zrecord/write/rotate.h"

static struct shown make_changed(const char *path)
{
    struct shown shown = shown_all(80);
    records_make_sealed(path, 80);
    records_unseal(path);
    records_shuffle(path, &shown, 3);
    return shown;
}

/** As the calls that install a generation. */
static lx_status restart(lx_writer *writer, lx_error *error)
{
    lx_status status = lx__install_commit(writer, error);
    return status == LX_OK ? lx__writer_rotate(writer, error) : status;
}

START_TEST(the_new_log_is_one_frame_with_all_live_updates)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct shown shown = make_changed("d");
    uint64_t long_log = file_size("d/LOG");
    lx_storage_stats before, after;
    lx_dataset *dataset = open_dataset("d");
    unit_ok(lx_dataset_stat(dataset, &before, NULL, &error));
    lx_dataset_close(dataset);
    lx_writer *writer = records_reopen("d", NULL);
    unit_ok(restart(writer, &error));
    ck_assert_uint_lt(file_size("d/LOG.1"), long_log);
    ck_assert(!file_exists("d/LOG"));
    expect_shown("d", &shown);
    dataset = open_dataset("d");
    unit_ok(lx_dataset_stat(dataset, &after, NULL, &error));
    lx_dataset_identity identity;
    lx_dataset_get_identity(dataset, &identity);
    ck_assert_uint_eq(identity.generation, 1);
    ck_assert_uint_eq(identity.sequence, 0);
    lx_dataset_close(dataset);
    ck_assert_uint_eq(after.log_entries, before.log_entries);
    ck_assert_uint_eq(after.log_bytes, 72 + 16 * after.chunks + 40 * after.log_entries);
    ck_assert_uint_eq(after.chunks, before.chunks);
    ck_assert_uint_eq(after.table_bytes, before.table_bytes);
    shown_append(&shown, writer, 80, 20);
    commit(writer);
    expect_shown("d", &shown);
    unit_ok(restart(writer, &error));
    shown_append(&shown, writer, 100, 4);
    close_writer(writer);
    expect_shown("d", &shown);
    ck_assert_uint_eq(generation_of("d"), 2);
    ck_assert_uint_eq(names_with("d", "LOG"), 1);
    records_shuffle("d", &shown, 4); /* after the snapshot frame */
    writer = records_reopen("d", NULL);
    unit_ok(restart(writer, &error));
    close_writer(writer);
    expect_shown("d", &shown);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_reader_keeps_its_log)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct shown shown = make_changed("d"), before = shown;
    lx_dataset *dataset = open_dataset("d");
    lx_writer *writer = records_reopen("d", NULL);
    unit_ok(restart(writer, &error));
    shown_append(&shown, writer, 80, 2);
    unit_ok(restart(writer, &error));
    ck_assert(file_exists("d/LOG"));
    ck_assert(!file_exists("d/LOG.1")); /* of a generation without readers */
    expect_shown_by(dataset, &before);
    unit_ok(lx_dataset_refresh(dataset, NULL, &error));
    expect_shown_by(dataset, &shown);
    lx_dataset_close(dataset);
    unit_ok(restart(writer, &error));
    ck_assert_uint_eq(names_with("d", "LOG"), 1);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_failed_sync_loses_nothing)
{
    char *scratch = scratch_make();
    struct shown shown = make_changed("made");
    for (unsigned n = 1;; n++) {
        lx_error error = LX_ERROR_INIT;
        char path[16];
        snprintf(path, sizeof path, "d%u", n);
        directory_copy("made", path);
        lx_writer *writer = records_reopen(path, NULL);
        unit_ok(lx__install_commit(writer, &error));
        atomic_store(&sync_fails_at, atomic_load(&syncs) + n);
        lx_status status = lx__writer_rotate(writer, &error);
        atomic_store(&sync_fails_at, 0);
        lx_error_clear(&error);
        expect_shown(path, &shown);
        if (status == LX_OK) {
            ck_assert_uint_eq(n, 5); /* the log, the directory, meta.json.new, the directory */
            close_writer(writer);
            break;
        }
        ck_assert_int_eq(status, LX_ERR_POISONED);
        ck_assert_uint_eq(names_with(path, ".1"), n == 4);
        (void)lx_writer_close(writer, NULL);
        close_writer(records_reopen(path, NULL));
        expect_shown(path, &shown);
    }
    scratch_remove(scratch);
}
END_TEST

/* ---- conditions */

/** Commits a number of records of one number each, which go to the log. */
static void commit_numbers(lx_writer *writer, unsigned commits, uint64_t records)
{
    static const int64_t zeros[16384];
    lx_error error = LX_ERROR_INIT;
    for (unsigned i = 0; i < commits; i++) {
        unit_ok(lx_writer_extend(writer, records, &(lx_values){.data = zeros}, 1, NULL, &error));
        commit(writer);
    }
}

static lx_writer *create_numbers(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "label", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create(path, schema, NULL, &writer, &error));
    lx_schema_free(schema);
    return writer;
}

/** Commits until a new generation begins; returns the bytes of the log before that. */
static uint64_t commit_until_rotation(lx_writer *writer)
{
    uint64_t generation = writer->meta.generation, bytes = 0;
    while (writer->meta.generation == generation) {
        bytes = writer->committed.state.position.offset;
        ck_assert_uint_le(bytes, 40 << 20);
        commit_numbers(writer, 1, 16384);
    }
    return bytes;
}

START_TEST(rotates_a_long_log)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = create_numbers("d");
    uint64_t bytes = commit_until_rotation(writer);
    ck_assert_uint_gt(bytes, 15 << 20);
    ck_assert_uint_le(bytes, 16 << 20);
    ck_assert_uint_eq(file_size("d/LOG.1"), 72);
    ck_assert(!file_exists("d/LOG"));
    /* By the end of a transaction, and by a submitted commit. */
    while (writer->meta.generation == 1) {
        unit_ok(lx_writer_begin_transaction(writer, &error));
        static const int64_t zeros[16384];
        unit_ok(lx_writer_extend(writer, 16384, &(lx_values){.data = zeros}, 1, NULL, &error));
        unit_ok(lx_writer_end_transaction(writer, &error));
    }
    while (writer->meta.generation == 2) {
        lx_ticket *ticket;
        static const int64_t zeros[16384];
        unit_ok(lx_writer_extend(writer, 16384, &(lx_values){.data = zeros}, 1, NULL, &error));
        unit_ok(lx_writer_submit_commit(writer, &ticket, &error));
        unit_ok(lx_ticket_wait(ticket, &error));
        lx_ticket_unref(ticket);
    }
    commit_numbers(writer, 1, 100);
    uint64_t length = lx_writer_get_length(writer);
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), length);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_failed_rotation_keeps_the_commit_and_waits)
{
    char *scratch = scratch_make();
    lx_writer *writer = create_numbers("d");
    ck_assert_int_eq(mkdir("d/meta.json.new", 0777), 0);
    while (writer->wal.retry_at == 0)
        commit_numbers(writer, 1, 16384);
    uint64_t failed_at = writer->committed.state.position.offset;
    uint64_t length = lx_writer_get_length(writer);
    ck_assert_uint_gt(failed_at, 16 << 20);
    lx_dataset *dataset = open_dataset("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), length);
    lx_dataset_close(dataset);
    ck_assert_int_eq(rmdir("d/meta.json.new"), 0);
    ck_assert_uint_ge(commit_until_rotation(writer),
                      failed_at + (15 << 20)); /* not at each commit */
    length = lx_writer_get_length(writer);
    close_writer(writer);
    dataset = open_dataset("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), length);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

/** A commit that changes @p count records. */
static void change_numbers(const char *path, uint64_t count, uint64_t length)
{
    lx__update_item *updates = malloc(count * sizeof *updates);
    lx_dataset *dataset = open_dataset(path);
    for (uint64_t i = 0; i < count; i++) {
        bool row;
        lx__entry entry = entry_in(dataset->snapshot, 0, i, &row);
        updates[i] = (lx__update_item){.index = i, .entry = entry};
    }
    lx_dataset_close(dataset);
    log_extend(path, (struct frame){
                         .length = length, .updates = updates, .update_count = (uint32_t)count});
    free(updates);
}

START_TEST(checkpoints_many_updates)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = create_numbers("d");
    commit_numbers(writer, 40, 16384);
    unit_ok(lx_writer_seal(writer, &error)); /* all rows are in the tables */
    close_writer(writer);
    unit_ok(lx_dataset_unseal("d", &error));
    static const uint64_t counts[] = {65536, 81920, 81921}; /* an eighth of the rows is 81,920 */
    for (size_t i = 0; i < 3; i++) {
        change_numbers("d", counts[i], 40 * 16384);
        writer = records_reopen("d", NULL);
        lx__writer_maintain(writer);
        ck_assert_uint_eq(file_exists("d/label.offset.1"), i == 2);
        close_writer(writer);
    }
    lx_dataset *dataset = open_dataset("d");
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(any_failure_keeps_the_commit_before_it)
{
    char *scratch = scratch_make();
    unsigned after = 0;
    lx_writer *writer = create_numbers("made");
    commit_numbers(writer, 3, 16384);
    close_writer(writer);
    for (int i = 0; i < 14; i++)
        change_numbers("made", 30000, 3 * 16384); /* 1.2 MB of the log each */
    for (unsigned n = 1;; n++) {
        lx_error error = LX_ERROR_INIT;
        char path[16];
        snprintf(path, sizeof path, "d%u", n);
        directory_copy("made", path);
        writer = records_reopen(path, writer_options(LX_DURABILITY_FULL));
        static const int64_t zero;
        unit_ok(lx_writer_append(writer, &(lx_value){&zero, 8}, 1, NULL, &error));
        atomic_store(&sync_fails_at, atomic_load(&syncs) + n);
        lx_status status = lx_writer_commit(writer, &error);
        atomic_store(&sync_fails_at, 0);
        lx_status closed = lx_writer_close(writer, NULL);
        lx_dataset *dataset = open_dataset(path);
        uint64_t length = lx_dataset_get_length(dataset);
        lx_dataset_close(dataset);
        nftw(path, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
        if (status == LX_OK)
            ck_assert_uint_eq(length, 3 * 16384 + 1);
        else
            ck_assert_int_eq(status, LX_ERR_POISONED);
        ck_assert(closed == LX_OK || closed == LX_ERR_POISONED);
        after += status == LX_OK;
        if (status == LX_OK && closed == LX_OK && after > 3)
            break; /* no call failed, or none that affects the commit */
        ck_assert_uint_le(n, 30);
    }
    ck_assert_uint_ge(after, 4);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/rotate", the_new_log_is_one_frame_with_all_live_updates, a_reader_keeps_its_log,
          a_failed_sync_loses_nothing, rotates_a_long_log,
          a_failed_rotation_keeps_the_commit_and_waits, checkpoints_many_updates,
          any_failure_keeps_the_commit_before_it)
