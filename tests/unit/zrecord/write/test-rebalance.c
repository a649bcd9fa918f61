/* SPDX-License-Identifier: MIT */
/* New chunks with the payloads in the order of the records: doc/zrecord-format.md, 11.4. */
#include <sys/wait.h>

#include "../change.h"
#include "../harm.h"
#include "zrecord/write/install.h"

/** A dataset of 200 records in small chunks, with changes of old ones and deletions. */
static struct shown make_changed(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    struct shown shown = shown_all(200);
    lx_writer_options *options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_options_set_chunk_limits(options, 60, 4096, &error));
    lx_writer *writer = records_create(path, options);
    records_append(writer, 200);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    records_unseal(path);
    records_shuffle(path, &shown, 5);
    for (uint64_t i = 0; i < 80; i++)
        records_delete(path, &shown, mix(i) % shown.length);
    return shown;
}

static lx_status rebalance(const char *path, lx_rebalance_result *result, lx_error *error)
{
    lx_writer *writer = records_reopen(path, NULL);
    lx_status status = lx_writer_rebalance(writer, NULL, NULL, result, error);
    close_writer(writer);
    return status;
}

/** Each stored payload must begin where the one before ends, by the records' order. */
static void expect_in_order(const char *path)
{
    lx_dataset *dataset = open_dataset(path);
    const lx__state *state = &dataset->snapshot->state;
    const lx_schema *schema = lx_dataset_get_schema(dataset);
    uint64_t end = 0;
    uint32_t chunk = 0, records = 0;
    for (uint64_t i = 0; i < lx_dataset_get_length(dataset) * FIELDS; i++) {
        bool row;
        lx__entry entry = entry_in(dataset->snapshot, i % FIELDS, i / FIELDS, &row);
        ck_assert(row);
        if (lx__entry_is_missing(&entry) || lx__entry_is_inline(&entry))
            continue;
        uint32_t align = lx_schema_get_field(schema, i % FIELDS)->align;
        if (records == 0)
            chunk = entry.chunk;
        if (entry.chunk != chunk) {
            const lx__chunk_item *full = lx__state_find_chunk(state, chunk);
            ck_assert_uint_eq(full->bytes, end);
            ck_assert_uint_eq(full->records, records);
            ck_assert_uint_eq(entry.chunk, chunk + 1);
            chunk = entry.chunk;
            end = records = 0;
        }
        ck_assert_uint_eq(entry.offset, (end + align - 1) / align * align);
        end = entry.offset + entry.physical;
        records++;
    }
    lx_dataset_close(dataset);
}

START_TEST(keeps_only_live_values)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct shown shown = make_changed("d");
    lx_storage_stats before, after;
    lx_rebalance_result result;
    lx_dataset *dataset = open_dataset("d");
    unit_ok(lx_dataset_stat(dataset, &before, NULL, &error));
    lx_dataset_close(dataset);
    unit_ok(rebalance("d", &result, &error));
    expect_shown("d", &shown);
    expect_in_order("d");
    dataset = open_dataset("d");
    unit_ok(lx_dataset_stat(dataset, &after, NULL, &error));
    lx_dataset_close(dataset);
    ck_assert_uint_eq(result.records, shown.length);
    ck_assert_uint_eq(result.bytes, before.live_bytes);
    ck_assert_uint_eq(after.live_bytes, before.live_bytes);
    ck_assert_uint_eq(result.payloads, after.payloads);
    ck_assert_uint_eq(result.chunks_before, before.chunks);
    ck_assert_uint_eq(result.chunks_after, after.chunks);
    ck_assert_uint_eq(result.bytes_before, before.chunk_bytes);
    ck_assert_uint_eq(result.bytes_after, after.chunk_bytes);
    ck_assert_double_eq(result.utilisation_before, before.utilisation);
    ck_assert_double_eq(result.utilisation_after, after.utilisation);
    ck_assert_double_eq(result.live_ratio_before, before.live_ratio);
    ck_assert_double_eq(result.live_ratio_after, after.live_ratio);
    ck_assert_uint_lt(after.chunks, before.chunks);
    ck_assert_double_gt(after.live_ratio, .9);
    ck_assert_uint_eq(after.log_entries, 0);
    ck_assert_uint_eq(directory_count("d/chunk"), after.chunks);
    ck_assert_uint_eq(names_with("d", "LOG"), 1);
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_writer_continues_afterwards)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct shown shown = make_changed("d");
    lx_writer *writer = records_reopen("d", NULL);
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
    uint64_t chunks = directory_count("d/chunk");
    shown_append(&shown, writer, 200, 1);
    commit(writer);
    ck_assert_uint_eq(directory_count("d/chunk"), chunks); /* the last one had room */
    shown_append(&shown, writer, 201, 60);
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
    expect_shown("d", &shown);
    expect_in_order("d");
    shown_append(&shown, writer, 261, 5);
    close_writer(writer);
    expect_shown("d", &shown);
    unit_ok(rebalance("d", NULL, &error));
    expect_shown("d", &shown);
    ck_assert_uint_eq(generation_of("d"), 3);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rebalances_datasets_without_payloads)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_rebalance_result result;
    struct shown shown = shown_all(20);
    records_make("d", 0, 0);
    unit_ok(rebalance("d", &result, &error));
    ck_assert_uint_eq(result.records + result.payloads + result.chunks_after, 0);
    ck_assert_double_eq(result.live_ratio_after, 1);
    ck_assert_double_eq(result.utilisation_after, 0);
    records_make("e", 20, 0);
    records_move("e", &shown, NULL, 0, 0);
    unit_ok(rebalance("e", &result, &error));
    ck_assert_uint_eq(result.chunks_before, 1);
    ck_assert_uint_eq(result.chunks_after, 0);
    ck_assert_double_eq(result.live_ratio_before, 0);
    ck_assert_uint_eq(directory_count("e/chunk"), 0);
    expect_dataset("e", 0);
    lx_writer *writer = records_reopen("e", NULL);
    records_append(writer, 5);
    close_writer(writer);
    expect_dataset("e", 5);
    ck_assert(!file_exists("e/chunk/0.zr")); /* its id is never used again */
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_reader_keeps_its_files)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct shown shown = make_changed("d");
    lx_dataset *dataset = open_dataset("d");
    lx_writer *writer = records_reopen("d", NULL);
    size_t chunks = directory_count("d/chunk");
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
    ck_assert_uint_gt(directory_count("d/chunk"), chunks);
    expect_shown_by(dataset, &shown);
    close_writer(writer);
    expect_shown_by(dataset, &shown);
    lx_dataset_close(dataset);
    close_writer(records_reopen("d", NULL));
    ck_assert_uint_lt(directory_count("d/chunk"), chunks);
    expect_shown("d", &shown);
    scratch_remove(scratch);
}
END_TEST

/* ---- progress */

struct progress {
    uint64_t calls, last, total;
    lx_status returned;
    uint64_t when;
};

static lx_status record_progress(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    (void)error;
    struct progress *progress = user;
    ck_assert_uint_ge(done, progress->last);
    ck_assert_uint_le(done, total);
    progress->last = done;
    progress->total = total;
    return progress->calls++ == progress->when ? progress->returned : LX_OK;
}

START_TEST(reports_progress_and_can_be_canceled)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct shown shown = make_changed("d");
    static const lx_status answers[] = {LX_ERR_CANCELED, LX_END, LX_ERR_POISONED};
    lx_writer *writer = records_reopen("d", NULL);
    size_t chunks = directory_count("d/chunk"), files = directory_count("d");
    for (size_t i = 0; i < 3; i++) {
        struct progress progress = {.returned = answers[i]};
        lx_status expected = answers[i] == LX_END ? LX_ERR_CALLBACK : answers[i];
        ck_assert_int_eq(lx_writer_rebalance(writer, record_progress, &progress, NULL, &error),
                         expected);
        ck_assert_int_eq(error.status, expected);
        lx_error_clear(&error);
        ck_assert_uint_eq(progress.calls, 1);
        ck_assert_uint_eq(directory_count("d/chunk"), chunks);
        ck_assert_uint_eq(directory_count("d"), files);
        expect_shown("d", &shown);
    }
    struct progress progress = {.returned = LX_OK};
    unit_ok(lx_writer_rebalance(writer, record_progress, &progress, NULL, &error));
    ck_assert_uint_eq(progress.last, shown.length);
    ck_assert_uint_eq(progress.total, shown.length);
    close_writer(writer);
    expect_shown("d", &shown);
    scratch_remove(scratch);
}
END_TEST

static pid_t parent;

/** Continues in a child of fork(), too, whose end the parent awaits. */
static lx_status fork_once(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    (void)error;
    pid_t *child = user;
    (void)done, (void)total;
    if (*child != 0)
        return LX_OK;
    *child = fork();
    ck_assert_int_ne(*child, -1);
    int how = 0;
    if (*child != 0)
        ck_assert_int_eq(waitpid(*child, &how, 0), *child);
    ck_assert_int_eq(how, 0);
    return LX_OK;
}

START_TEST(a_child_of_a_callback_leaves_the_rebalance_to_its_parent)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct shown shown = make_changed("d");
    lx_writer *writer = records_reopen("d", NULL);
    pid_t child = 0;
    parent = getpid();
    lx_status status = lx_writer_rebalance(writer, fork_once, &child, NULL, &error);
    if (getpid() != parent)
        _exit(status == LX_ERR_FORKED && lx_writer_close(writer, NULL) == LX_ERR_FORKED ? 0 : 1);
    unit_ok(status);
    close_writer(writer);
    expect_shown("d", &shown);
    scratch_remove(scratch);
}
END_TEST

/* ---- damage */

START_TEST(stops_at_a_damaged_value_and_names_it)
{
    char *scratch = scratch_make();
    records_make("whole", 30, 0);
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        lx_error error = LX_ERROR_INIT;
        directory_copy("whole", "d");
        harm_entry("d", "image", 11, &harms[i]);
        lx_status status = rebalance("d", NULL, &error);
        ck_assert_msg(status == LX_ERR_CORRUPT, "%s", harms[i].name);
        ck_assert_str_eq(error.field, "image");
        ck_assert_uint_eq(error.record, 11);
        ck_assert_msg(strstr(error.path, harms[i].where) != NULL, "%s", error.path);
        ck_assert_uint_ne(error.offset, LX_NONE);
        ck_assert_uint_eq(names_with("d", ".1"), 0);
        ck_assert_uint_eq(directory_count("d/chunk"), 1);
        ck_assert_uint_eq(generation_of("d"), 0);
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    lx_error error = LX_ERROR_INIT;
    directory_copy("whole", "d");
    file_flip("d/label.offset", 8 * (7 * 16 + 9));
    lx_status status = rebalance("d", NULL, &error);
    ck_assert_uint_eq(error.record, 7);
    ck_assert_str_eq(error.field, "label");
    ck_assert_uint_eq(error.offset, 7 * 16);
    expect_error(status, LX_ERR_CORRUPT, "checksum", "d/label.offset");
    lx_writer *writer = records_reopen("d", NULL);
    unit_fails(lx_writer_rebalance(writer, NULL, NULL, NULL, &error), LX_ERR_CORRUPT);
    ck_assert_int_eq(record_append(writer, 30, &error), LX_OK); /* the writer can be used */
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(stops_at_an_absent_or_truncated_chunk)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct shown shown = make_changed("whole");
    for (int i = 0; i < 2; i++) {
        directory_copy("whole", "d");
        lx_writer *writer = records_reopen("d", NULL);
        size_t chunks = directory_count("d/chunk");
        ck_assert_int_eq(i == 0 ? remove("d/chunk/2.zr") : truncate("d/chunk/2.zr", 99), 0);
        lx_status status = lx_writer_rebalance(writer, NULL, NULL, NULL, &error);
        ck_assert_str_ne(error.field, "");
        ck_assert_uint_lt(error.record, shown.length);
        expect_error(status, LX_ERR_CORRUPT, "", "chunk/2.zr");
        ck_assert_uint_eq(directory_count("d/chunk"), chunks - (i == 0));
        close_writer(writer);
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_overlapping_values)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 100, 0);
    for (uint64_t i = 0; i < 100; i++) {
        lx__entry entry = entry_of("d", "blob", i);
        entry.chunk = 0;
        entry.offset = 0;
        entry.physical = entry.logical = 300;
        entry_put("d", "blob", i, &entry);
        entry_reseal("d", "blob", i);
    }
    lx_status status = rebalance("d", NULL, &error);
    expect_error(status, LX_ERR_CORRUPT, "overlap", "");
    ck_assert_uint_eq(directory_count("d/chunk"), 1);
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
        size_t chunks = directory_count(in(path, "chunk"));
        lx_writer *writer = records_reopen(path, NULL);
        unit_ok(lx__install_commit(writer, &error));
        atomic_store(&sync_fails_at, atomic_load(&syncs) + n);
        lx_status status = lx_writer_rebalance(writer, NULL, NULL, NULL, &error);
        atomic_store(&sync_fails_at, 0);
        lx_error_clear(&error);
        expect_shown(path, &shown);
        if (status == LX_OK) {
            close_writer(writer);
            break;
        }
        ck_assert_int_eq(status, LX_ERR_POISONED);
        if (generation_of(path) == 0) {
            before++;
            ck_assert_uint_eq(names_with(path, ".1"), 0);
            ck_assert_uint_eq(directory_count(in(path, "chunk")), chunks);
        }
        ck_assert_int_eq(lx_writer_close(writer, NULL), LX_ERR_POISONED);
        unit_ok(rebalance(path, NULL, &error));
        expect_shown(path, &shown);
        expect_in_order(path);
    }
    /* New chunks, ten tables, the log, two directories, meta.json.new. */
    ck_assert_uint_ge(before, 15);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_full_disk_changes_nothing)
{
    char *scratch = scratch_make();
    struct shown shown = make_changed("d");
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_reopen("d", NULL);
    size_t chunks = directory_count("d/chunk");
    static const uint64_t limits[] = {0, 50, 500, 1000, 1900, 2500};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        limit_files(limits[i]);
        lx_status status = lx_writer_rebalance(writer, NULL, NULL, NULL, &error);
        unlimit_files();
        expect_error(status, LX_ERR_IO, "", "d");
        ck_assert_uint_eq(names_with("d", ".1"), 0);
        ck_assert_uint_eq(directory_count("d/chunk"), chunks);
    }
    expect_shown("d", &shown);
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
    close_writer(writer);
    expect_shown("d", &shown);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rebalances_many_chunks_with_few_descriptors)
{
    char *scratch = scratch_make();
    struct shown shown = make_changed("d");
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_reopen("d", NULL);
    ck_assert_uint_gt(directory_count("d/chunk"), 5);
    limit_descriptors(64);
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
    close_writer(writer);
    expect_shown("d", &shown);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_invalid_states)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    unit_refuses_null(lx_writer_rebalance(NULL, NULL, NULL, NULL, &error), "writer");
    unit_ok(lx_writer_begin_transaction(writer, &error));
    unit_fails(lx_writer_rebalance(writer, NULL, NULL, NULL, &error), LX_ERR_STATE);
    unit_ok(lx_writer_end_transaction(writer, &error));
    unit_ok(lx_writer_seal(writer, &error));
    unit_fails(lx_writer_rebalance(writer, NULL, NULL, NULL, &error), LX_ERR_STATE);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/rebalance", keeps_only_live_values, the_writer_continues_afterwards,
          rebalances_datasets_without_payloads, a_reader_keeps_its_files,
          reports_progress_and_can_be_canceled,
          a_child_of_a_callback_leaves_the_rebalance_to_its_parent,
          stops_at_a_damaged_value_and_names_it, stops_at_an_absent_or_truncated_chunk,
          rejects_overlapping_values, a_failed_sync_poisons_the_writer_and_loses_nothing,
          a_full_disk_changes_nothing, rebalances_many_chunks_with_few_descriptors,
          rejects_invalid_states)
