/* SPDX-License-Identifier: MIT */
/* Sealing: doc/zrecord-format.md, 11.6. */
#include <jansson.h>

#include "../change.h"
#include "base/crc32c.h"
#include "zrecord/write/writer.h"

static void seal(lx_writer *writer)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_seal(writer, &error));
}

static json_t *read_meta(const char *path)
{
    json_error_t error;
    json_t *meta = json_load_file(in(path, "meta.json"), 0, &error);
    ck_assert_msg(meta != NULL, "%s", error.text);
    return meta;
}

static json_int_t number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    ck_assert(json_is_integer(value));
    return json_integer_value(value);
}

/** Checks everything that section 9.6 requires, without the library. */
static void expect_sealed(const char *path, uint64_t length)
{
    static const char *const names[FIELDS] = {"image", "label", "wave", "caption", "blob"};
    json_t *meta = read_meta(path), *tables = json_object_get(meta, "tables");
    ck_assert(json_is_true(json_object_get(meta, "sealed")));
    ck_assert_uint_eq((uint64_t)number(meta, "length"), length);
    ck_assert_uint_eq(json_object_size(tables), 2 * FIELDS);
    for (size_t i = 0; i < 2 * FIELDS; i++) {
        char name[64];
        size_t size;
        snprintf(name, sizeof name, "%s.%s", names[i / 2], i % 2 == 0 ? "offset" : "check");
        const json_t *table = json_object_get(tables, name);
        uint8_t *bytes = file_bytes(in(path, name), &size);
        ck_assert_uint_eq(size, length * (i % 2 == 0 ? 16 : 8));
        ck_assert_uint_eq((uint64_t)number(table, "bytes"), size);
        ck_assert_uint_eq((uint64_t)number(table, "crc"), lx__crc32c(0, bytes, size));
        free(bytes);
    }
    lx_dataset *dataset = open_dataset(path);
    lx_dataset_identity identity;
    lx_chunk_stats chunk;
    size_t chunks = 0;
    lx_dataset_get_identity(dataset, &identity);
    ck_assert_uint_eq(identity.sealed, 1);
    for (; chunk_at(dataset, chunks, &chunk); chunks++) {
        char name[64];
        snprintf(name, sizeof name, "chunk/%u.zr", chunk.id);
        ck_assert_uint_eq(file_size(in(path, name)), chunk.bytes);
    }
    ck_assert_uint_eq((uint64_t)number(json_object_get(meta, "chunks"), "num"), chunks);
    lx_dataset_close(dataset);
    json_decref(meta);
    expect_dataset(path, length);
}

START_TEST(a_sealed_dataset_is_a_plain_directory)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const uint64_t lengths[] = {0, 1, 7, 100, 4000};
    static const lx_durability all[] = {LX_DURABILITY_FULL, LX_DURABILITY_PERIODIC,
                                        LX_DURABILITY_NONE};
    for (size_t i = 0; i < 15; i++) {
        char path[] = {(char)('a' + i), '\0'};
        lx_writer_options *options = writer_options(all[i % 3]);
        unit_ok(lx_writer_options_set_chunk_limits(options, 300, 50000, &error));
        lx_writer *writer = records_create(path, options);
        records_append(writer, lengths[i / 3] / 2);
        commit(writer);
        records_append(writer, lengths[i / 3] - lengths[i / 3] / 2);
        seal(writer);
        close_writer(writer);
        expect_sealed(path, lengths[i / 3]);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(records_which_chunks_are_not_full)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_options_set_chunk_limits(options, 10, 1 << 20, &error));
    lx_writer *writer = records_create("d", options);
    records_append(writer, 12);
    seal(writer);
    close_writer(writer);
    json_t *meta = read_meta("d");
    const json_t *unfull = json_object_get(json_object_get(meta, "chunks"), "unfull");
    lx_dataset *dataset = open_dataset("d");
    lx_chunk_stats chunk;
    size_t expected = 0;
    for (size_t i = 0; chunk_at(dataset, i, &chunk); i++) {
        if (chunk.payloads >= 10)
            continue;
        const json_t *item = json_array_get(unfull, expected++);
        ck_assert_uint_eq((uint64_t)json_integer_value(json_array_get(item, 0)), chunk.id);
        ck_assert_uint_eq((uint64_t)json_integer_value(json_array_get(item, 1)), chunk.bytes);
        ck_assert_uint_eq((uint64_t)json_integer_value(json_array_get(item, 2)), chunk.payloads);
    }
    ck_assert_uint_eq(json_array_size(unfull), expected);
    lx_dataset_close(dataset);
    json_decref(meta);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_appends_afterwards)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, 5);
    seal(writer);
    lx_status status = record_append(writer, 5, &error);
    expect_error(status, LX_ERR_STATE, "sealed", "d");
    unit_fails(lx_writer_commit(writer, &error), LX_ERR_STATE);
    unit_fails(lx_writer_sync(writer, &error), LX_ERR_STATE);
    unit_fails(lx_writer_seal(writer, &error), LX_ERR_STATE);
    unit_fails(lx_writer_begin_transaction(writer, &error), LX_ERR_STATE);
    ck_assert_uint_eq(lx_writer_get_length(writer), 5);
    close_writer(writer);
    expect_sealed("d", 5);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_an_open_transaction)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    unit_ok(lx_writer_begin_transaction(writer, &error));
    records_append(writer, 5);
    unit_fails(lx_writer_seal(writer, &error), LX_ERR_STATE);
    unit_ok(lx_writer_end_transaction(writer, &error));
    seal(writer);
    close_writer(writer);
    expect_sealed("d", 5);
    scratch_remove(scratch);
}
END_TEST

START_TEST(readers_follow_a_seal)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, 5);
    commit(writer);
    lx_dataset *dataset = open_dataset("d");
    uint64_t index = 0;
    lx_slice slice;
    lx_view *view;
    unit_ok(lx_dataset_view(dataset, IMAGE, &index, 1, &slice, &view, &error));
    records_append(writer, 5);
    seal(writer);
    close_writer(writer);
    expect_records(dataset, 5); /* until it is allowed to continue */
    bool changed;
    unit_ok(lx_dataset_refresh(dataset, &changed, &error));
    ck_assert(changed);
    expect_records(dataset, 10);
    lx_dataset_identity identity;
    lx_dataset_get_identity(dataset, &identity);
    ck_assert_uint_eq(identity.sealed, 1);
    unit_ok(lx_dataset_refresh(dataset, &changed, &error));
    ck_assert(!changed);
    uint8_t value[VALUE_MAX];
    record_value(IMAGE, 0, value);
    ck_assert_mem_eq(slice.data, value, 12);
    lx_view_free(view);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(undoes_and_reports_a_full_disk)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    records_append(writer, 100);
    commit(writer);
    limit_files(1000); /* too little for the tables */
    unit_fails(lx_writer_seal(writer, &error), LX_ERR_IO);
    unlimit_files();
    expect_dataset("d", 100);
    unit_ok(lx_writer_rollback(writer, &error));
    records_append(writer, 10);
    seal(writer);
    close_writer(writer);
    expect_sealed("d", 110);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_meta_json_that_cannot_be_replaced_changes_nothing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, 10);
    commit(writer);
    ck_assert_int_eq(mkdir("d/meta.json.new", 0777), 0);
    lx_status status = lx_writer_seal(writer, &error);
    expect_error(status, LX_ERR_IO, "", "d/meta.json.new");
    expect_dataset("d", 10);
    unit_ok(lx_writer_rollback(writer, &error));
    records_append(writer, 5); /* it is not sealed */
    commit(writer);
    expect_dataset("d", 15);
    unit_fails(lx_writer_seal(writer, &error), LX_ERR_IO);
    ck_assert_int_eq(rmdir("d/meta.json.new"), 0);
    unit_ok(lx_writer_rollback(writer, &error));
    seal(writer);
    close_writer(writer);
    expect_sealed("d", 15);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_failed_sync_leaves_it_sealed_or_unsealed)
{
    char *scratch = scratch_make();
    unsigned poisoned = 0;
    for (unsigned n = 1;; n++) {
        lx_error error = LX_ERROR_INIT;
        char path[16];
        snprintf(path, sizeof path, "d%u", n);
        lx_writer *writer = records_create(path, writer_options(LX_DURABILITY_NONE));
        records_append(writer, 20);
        commit(writer);
        atomic_store(&sync_fails_at, atomic_load(&syncs) + n);
        lx_status status = lx_writer_seal(writer, &error);
        atomic_store(&sync_fails_at, 0);
        if (status == LX_OK) {
            ck_assert_uint_gt(n, 10);
            ck_assert_uint_eq(poisoned, n - 1);
            close_writer(writer);
            expect_sealed(path, 20);
            break;
        }
        lx_error_clear(&error);
        ck_assert_int_eq(status, LX_ERR_POISONED);
        expect_dataset(path, 20);
        ck_assert_int_eq(lx_writer_rollback(writer, &error), LX_ERR_POISONED);
        poisoned++;
        lx_error_clear(&error);
        json_t *meta = read_meta(path);
        bool sealed = json_is_true(json_object_get(meta, "sealed"));
        json_decref(meta);
        /* Later writes must not reach a dataset whose meta.json is sealed. */
        lx_status appended = record_append(writer, 20, &error);
        ck_assert(!sealed || appended != LX_OK);
        lx_error_clear(&error);
        (void)lx_writer_close(writer, &error);
        expect_dataset(path, appended == LX_OK ? 21 : 20);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(does_not_extend_a_truncated_chunk)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_options_set_chunk_limits(options, 10, 1 << 20, &error));
    close_writer(records_create("d", options));
    lx_writer *writer = records_reopen("d", NULL);
    records_append(writer, 20);
    commit(writer);
    off_t size = (off_t)file_size("d/chunk/0.zr");
    ck_assert_int_eq(truncate("d/chunk/0.zr", size - 1), 0);
    lx_status status = lx_writer_seal(writer, &error);
    expect_error(status, LX_ERR_CORRUPT, "committed", "d/chunk/0.zr");
    ck_assert_int_eq((off_t)file_size("d/chunk/0.zr"), size - 1);
    unit_ok(lx_writer_rollback(writer, &error));
    close_writer(writer);
    json_t *meta = read_meta("d");
    ck_assert(json_is_false(json_object_get(meta, "sealed")));
    json_decref(meta);
    ck_assert_int_eq(remove("d/chunk/0.zr"), 0);
    writer = records_reopen("d", NULL);
    status = lx_writer_seal(writer, &error);
    expect_error(status, LX_ERR_CORRUPT, "file not found", "d/chunk/0.zr");
    unit_ok(lx_writer_rollback(writer, &error));
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

/* ---- with changes in the log */

/** A dataset of 60 records with changes of old ones, and more rows than records. */
static struct shown make_changed(const char *path)
{
    struct shown shown = shown_all(60);
    records_make(path, 50, 10);
    records_shuffle(path, &shown, 9);
    for (uint64_t i = 0; i < 20; i++)
        records_delete(path, &shown, mix(i) % shown.length);
    return shown;
}

static bool says_sealed(const char *path)
{
    json_t *meta = read_meta(path);
    bool sealed = json_is_true(json_object_get(meta, "sealed"));
    json_decref(meta);
    return sealed;
}

START_TEST(checkpoints_updates_in_the_same_install)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct shown shown = make_changed("d");
    lx_dataset *before = open_dataset("d");
    lx_writer *writer = records_reopen("d", NULL);
    shown_append(&shown, writer, 60, 3);
    seal(writer);
    close_writer(writer);
    expect_shown("d", &shown);
    ck_assert(says_sealed("d"));
    ck_assert_uint_eq(generation_of("d"), 1);
    ck_assert_uint_eq(file_size("d/wave.offset.1"), shown.length * 16);
    ck_assert(file_exists("d/wave.offset")); /* a reader uses it */
    unit_ok(lx_dataset_refresh(before, NULL, &error));
    expect_shown_by(before, &shown);
    lx_dataset_close(before);
    /* It can be unsealed, changed, and sealed again. */
    for (uint64_t i = 0; i < 3; i++) {
        unit_ok(lx_dataset_unseal("d", &error));
        records_delete("d", &shown, 5);
        writer = records_reopen("d", NULL);
        seal(writer);
        close_writer(writer);
        expect_shown("d", &shown);
    }
    ck_assert_uint_eq(generation_of("d"), 4);
    ck_assert_uint_eq(directory_count("d"), 4 + 2 * FIELDS);
    scratch_remove(scratch);
}
END_TEST

START_TEST(keeps_the_generation_without_updates)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct shown shown = make_changed("d");
    lx_writer *writer = records_reopen("d", NULL);
    unit_ok(lx_writer_checkpoint(writer, &error));
    shown_append(&shown, writer, 60, 3);
    seal(writer);
    close_writer(writer);
    expect_shown("d", &shown);
    ck_assert(says_sealed("d"));
    ck_assert_uint_eq(generation_of("d"), 1);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_failure_changes_nothing_or_poisons_the_writer)
{
    char *scratch = scratch_make();
    struct shown shown = make_changed("made");
    for (unsigned n = 1;; n++) {
        lx_error error = LX_ERROR_INIT;
        char path[16];
        snprintf(path, sizeof path, "d%u", n);
        directory_copy("made", path);
        lx_writer *writer = records_reopen(path, NULL);
        atomic_store(&sync_fails_at, atomic_load(&syncs) + n);
        lx_status status = lx_writer_seal(writer, &error);
        atomic_store(&sync_fails_at, 0);
        expect_shown(path, &shown);
        if (status == LX_OK) {
            ck_assert_uint_gt(n, 4 * FIELDS);
            close_writer(writer);
            break;
        }
        ck_assert_int_eq(status, LX_ERR_POISONED);
        lx_error_clear(&error);
        (void)lx_writer_close(writer, NULL);
        unit_ok(lx_dataset_unseal(path, &error));
        writer = records_reopen(path, NULL);
        seal(writer);
        close_writer(writer);
        ck_assert(says_sealed(path));
        expect_shown(path, &shown);
    }
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_reopen("made", NULL);
    commit(writer);
    static const uint64_t limits[] = {0, 50, 300, 630};
    for (size_t i = 0; i < 4; i++) {
        limit_files(limits[i]);
        lx_status status = lx_writer_seal(writer, &error);
        unlimit_files();
        expect_error(status, LX_ERR_IO, "", "made");
        ck_assert_uint_eq(names_with("made", ".1"), 0);
        unit_ok(lx_writer_rollback(writer, &error));
    }
    close_writer(writer);
    expect_shown("made", &shown);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/seal", a_sealed_dataset_is_a_plain_directory, records_which_chunks_are_not_full,
          rejects_appends_afterwards, rejects_an_open_transaction, readers_follow_a_seal,
          undoes_and_reports_a_full_disk, a_meta_json_that_cannot_be_replaced_changes_nothing,
          a_failed_sync_leaves_it_sealed_or_unsealed, does_not_extend_a_truncated_chunk,
          checkpoints_updates_in_the_same_install, keeps_the_generation_without_updates,
          a_failure_changes_nothing_or_poisons_the_writer)
