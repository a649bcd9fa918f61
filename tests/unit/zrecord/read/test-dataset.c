/* SPDX-License-Identifier: MIT */
#include "zrecord/read/dataset.h"

#include <pthread.h>
#include <sched.h>

#include "../frames.h"
#include "../records.h"

/* ---- opening */

START_TEST(reports_why_opening_fails)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = NULL;
    unit_fails(lx_dataset_open(NULL, NULL, &dataset, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_dataset_open("d", NULL, NULL, &error), LX_ERR_ARGUMENT);
    expect_refused("d", LX_ERR_NOT_FOUND, "", "d");
    expect_refused("", LX_ERR_NOT_FOUND, "", "");
    ck_assert_int_eq(mkdir("d", 0777), 0);
    expect_refused("d", LX_ERR_NOT_FOUND, "not a dataset", "d/meta.json");
    file_put("file", "mine", 4);
    expect_refused("file", LX_ERR_NOT_FOUND, "", "file");
    expect_refused("file/d", LX_ERR_NOT_FOUND, "", "file/d");
    file_put("d/meta.json", "{}", 2);
    expect_refused("d", LX_ERR_CORRUPT, "checksum", "d/meta.json");
    ck_assert_int_eq(lx_dataset_open("d", NULL, &dataset, NULL), LX_ERR_CORRUPT);
    lx_dataset_close(NULL);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_newer_formats_by_name)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 3, 2);
    size_t size;
    uint8_t *meta = file_bytes("d/meta.json", &size);
    file_edit("d/meta.json", "\"must\": []", "\"must\": [\"tiles\"]");
    expect_refused("d", LX_ERR_UNSUPPORTED, "tiles", "d/meta.json");
    file_put("d/meta.json", meta, size);
    file_edit("d/meta.json", "\"flate\"", "\"lz9\"");
    expect_refused("d", LX_ERR_UNSUPPORTED, "lz9", "d/meta.json");
    file_put("d/meta.json", meta, size);
    file_edit("d/meta.json", "\"int64\"", "\"int65\"");
    expect_refused("d", LX_ERR_UNSUPPORTED, "int65", "d/meta.json");
    free(meta);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_links_and_fifos_in_place_of_files)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const char *const names[] = {"d/meta.json", "d/LOG",          "d/LOCK",
                                        "d/chunk",     "d/image.offset", "d/blob.check"};
    records_make("d", 5, 2);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (enum disguise what = 0; what < DISGUISES; what++) {
            if (what == A_DIRECTORY && i == 3)
                continue;
            file_disguise(names[i], what);
            expect_refused("d", LX_ERR_CORRUPT, "", names[i]);
            file_restore(names[i]);
        }
    }
    ck_assert_int_eq(rename("d/chunk", "elsewhere"), 0);
    expect_refused("d", LX_ERR_CORRUPT, "", "d/chunk");
    ck_assert_int_eq(rename("elsewhere", "d/chunk"), 0);
    expect_dataset("d", 7);
    scratch_remove(scratch);
}
END_TEST

START_TEST(follows_links_in_the_path)
{
    char *scratch = scratch_make();
    records_make("d", 5, 2);
    ck_assert_int_eq(symlink("d", "link"), 0);
    expect_dataset("link", 7);
    expect_dataset("link/../d/", 7);
    lx_dataset *dataset = open_dataset("link");
    ck_assert_str_eq(lx_dataset_get_path(dataset), "link");
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_invalid_options)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset_options *options = lx_dataset_options_new();
    unit_ok(lx_dataset_options_set_verify_policy(options, LX_VERIFY_NEVER, &error));
    unit_fails(lx_dataset_options_set_verify_policy(options, (lx_verify_policy)3, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_dataset_options_set_verify_policy(options, (lx_verify_policy)-1, &error),
               LX_ERR_ARGUMENT);
    unit_ok(lx_dataset_options_set_durable(options, true, &error));
    unit_ok(lx_dataset_options_set_live(options, true, &error));
    lx_dataset_options_free(options);
    lx_dataset_options_free(NULL);
}
END_TEST

START_TEST(reports_its_properties)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    size_t position;
    lx_dataset_identity first, second;
    records_make("d", 5, 2);
    lx_dataset *dataset = open_dataset("d");
    const lx_schema *schema = lx_dataset_get_schema(dataset);
    ck_assert_uint_eq(lx_schema_get_field_count(schema), FIELDS);
    unit_ok(lx_schema_find_field(schema, "caption", &position, &error));
    ck_assert_uint_eq(position, CAPTION);
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 7);
    memset(&first, 0xff, sizeof first);
    lx_dataset_get_identity(dataset, &first);
    ck_assert_uint_eq(strlen(first.uuid), 36);
    ck_assert_uint_eq(first.generation, 0);
    ck_assert_uint_eq(first.sealed, 0);
    /* The crc is that of the last frame. */
    size_t size;
    uint8_t *log = file_bytes("d/LOG", &size);
    ck_assert_uint_eq(first.checksum, lx__load_le32(log + size - 4));
    free(log);
    lx_writer *writer = records_reopen("d", NULL);
    records_append(writer, 1);
    close_writer(writer);
    unit_ok(lx_dataset_refresh(dataset, NULL, &error));
    lx_dataset_get_identity(dataset, &second);
    ck_assert_str_eq(second.uuid, first.uuid);
    ck_assert_uint_eq(second.sequence,
                      first.sequence + 2); /* and the writer's last, which repeats it */
    ck_assert_uint_ne(second.checksum, first.checksum);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

/* ---- refreshing */

START_TEST(a_snapshot_is_constant_until_a_refresh)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    bool changed;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    lx_dataset *dataset = open_dataset("d");
    uint64_t length = 0;
    static const uint64_t counts[] = {3, 1, 5000, 2, 100, 4000, 1};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        records_append(writer, counts[i]);
        unit_ok(lx_dataset_refresh(dataset, &changed, &error));
        ck_assert(!changed); /* it is not committed */
        commit(writer);
        ck_assert_uint_eq(lx_dataset_get_length(dataset), length);
        uint64_t beyond = length;
        uint8_t label[8];
        unit_fails(lx_dataset_gather(dataset, LABEL, &beyond, 1, label, 8, &error), LX_ERR_RANGE);
        unit_ok(lx_dataset_refresh(dataset, &changed, &error));
        ck_assert(changed);
        length += counts[i];
        ck_assert_uint_eq(lx_dataset_get_length(dataset), length);
        for (uint64_t index = 0; index < length; index += 1 + length / 100)
            for (int field = 0; field < FIELDS; field++)
                expect_value(dataset, field, index);
    }
    lx_dataset_close(dataset);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(sees_commits_of_another_process)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    int to_child[2], to_parent[2];
    char byte = 0;
    close_writer(records_create("d", NULL));
    ck_assert_int_eq(pipe(to_child), 0);
    ck_assert_int_eq(pipe(to_parent), 0);
    pid_t child = fork();
    if (child == 0) {
        lx_writer *writer = records_reopen("d", writer_options(LX_DURABILITY_NONE));
        for (int i = 0; i < 20; i++) {
            if (read(to_child[0], &byte, 1) != 1)
                _exit(1);
            records_append(writer, 4);
            commit(writer);
            if (write(to_parent[1], &byte, 1) != 1)
                _exit(2);
        }
        close_writer(writer);
        _exit(0);
    }
    lx_dataset *dataset = open_dataset("d");
    for (uint64_t i = 1; i <= 20; i++) {
        ck_assert_int_eq(write(to_child[1], &byte, 1), 1);
        ck_assert_int_eq(read(to_parent[0], &byte, 1), 1);
        unit_ok(lx_dataset_refresh(dataset, NULL, &error));
        expect_records(dataset, i * 4);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(durable_shows_only_data_that_survives_a_power_loss)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_dataset *durable;
    bool changed;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    records_append(writer, 3);
    unit_ok(lx_writer_sync(writer, &error));
    records_append(writer, 3);
    commit(writer);
    unit_ok(open_as("d", LX_VERIFY_ALWAYS, true, &durable, &error));
    lx_dataset *newest = open_dataset("d");
    expect_records(durable, 3);
    expect_records(newest, 6);
    unit_ok(lx_dataset_refresh(durable, &changed, &error));
    ck_assert(!changed);
    unit_ok(lx_writer_sync(writer, &error));
    unit_ok(lx_dataset_refresh(durable, &changed, &error));
    ck_assert(changed);
    expect_records(durable, 6);
    lx_dataset_close(durable);
    lx_dataset_close(newest);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

/** File systems that only allow reading may not support the call. */
START_TEST(durable_works_on_file_systems_without_sync)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_dataset *durable = NULL;
    static const int refusals[] = {EINVAL, EROFS, EIO};
    records_make("d", 5, 2);
    for (size_t i = 0; i < 3; i++) {
        atomic_store(&sync_errno, refusals[i]);
        atomic_store(&sync_fails_at, 1);
        lx_status status = open_as("d", LX_VERIFY_FIRST, true, &durable, &error);
        atomic_store(&sync_fails_at, 0);
        atomic_store(&sync_errno, EIO);
        if (refusals[i] == EIO) {
            expect_error(status, LX_ERR_IO, "sync", "d/LOG");
            break;
        }
        ck_assert_int_eq(status, LX_OK);
        expect_records(durable, 7);
        lx_dataset_close(durable);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_a_meta_json_of_another_dataset)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    bool changed;
    records_make("d", 5, 2);
    records_make("other", 3, 2);
    lx_dataset *dataset = open_dataset("d");
    ck_assert_int_eq(rename("other/meta.json", "d/meta.json"), 0);
    lx_status status = lx_dataset_refresh(dataset, &changed, &error);
    expect_error(status, LX_ERR_STATE, "different dataset", "d");
    expect_records(dataset, 7); /* the old state stays */
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_failed_refresh_keeps_the_old_snapshot)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 5, 2);
    lx_dataset *dataset = open_dataset("d");
    lx_writer *writer = records_reopen("d", NULL);
    records_append(writer, 5000); /* into the tables */
    close_writer(writer);
    uint64_t size = file_size("d/image.offset");
    file_cut("d/image.offset", size - 1);
    lx_status status = lx_dataset_refresh(dataset, NULL, &error);
    expect_error(status, LX_ERR_CORRUPT, "committed", "d/image.offset");
    expect_records(dataset, 7);
    file_cut("d/image.offset", size);
    static const uint8_t last[1]; /* the truncated byte: part of an offset below 2^56 */
    file_patch("d/image.offset", size - 1, last, 1);
    unit_ok(lx_dataset_refresh(dataset, NULL, &error));
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 5007);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    ck_assert_int_eq(rename("d/meta.json", "d/meta.json.was"), 0);
    ck_assert_int_ne(lx_dataset_refresh(dataset, NULL, &error), LX_OK);
    expect_value(dataset, CAPTION, 4321);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

/** Adds a frame to the log of d that a later version would write. */
static void add_frame(const struct frame *frame)
{
    lx_dataset_identity identity;
    size_t size;
    lx_dataset *dataset = open_dataset("d");
    lx_dataset_get_identity(dataset, &identity);
    lx_dataset_close(dataset);
    struct log log = {.identity = identity_of(identity.uuid),
                      .sequence = identity.sequence + 1,
                      .crc = identity.checksum};
    log.bytes = file_bytes("d/LOG", &size);
    log.size = size;
    log_add(&log, frame);
    file_put("d/LOG", log.bytes, log.size);
    log_free(&log);
}

START_TEST(reads_changes_and_deletes_of_later_versions)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make_sealed("d", 4);
    records_unseal("d");
    lx_dataset *dataset = open_dataset("d");
    /* Record 1 is changed: its label becomes missing. Then record 3, the last one, is deleted, and
     * a record of missing values appended at its index. */
    static const lx__update_item change = {LABEL, 1, {0}};
    static const lx__update_item appended[] = {
        {IMAGE, 3, {0}}, {LABEL, 3, {0}}, {WAVE, 3, {0}}, {CAPTION, 3, {0}}, {BLOB, 3, {0}}};
    const struct frame frames[] = {
        {.length = 4,
         .rows = 4,
         .next_chunk = 1,
         .flags = SYNCED,
         .updates = &change,
         .update_count = 1},
        {.length = 3, .rows = 4, .next_chunk = 1, .flags = SYNCED},
        {.length = 4,
         .rows = 4,
         .next_chunk = 1,
         .flags = SYNCED,
         .updates = appended,
         .update_count = 5},
    };
    for (size_t i = 0; i < 3; i++) {
        uint64_t index = 1, label = 7;
        uint8_t image[12];
        add_frame(&frames[i]);
        unit_ok(lx_dataset_refresh(dataset, NULL, &error));
        ck_assert_uint_eq(lx_dataset_get_length(dataset), i == 1 ? 3 : 4);
        unit_ok(lx_dataset_gather(dataset, LABEL, &index, 1, &label, 8, &error));
        ck_assert_uint_eq(label, 0);
        expect_value(dataset, IMAGE, 1);
        expect_value(dataset, LABEL, 2);
        index = 3;
        if (i == 1)
            unit_fails(lx_dataset_gather(dataset, IMAGE, &index, 1, image, 12, &error),
                       LX_ERR_RANGE);
        else
            unit_ok(lx_dataset_gather(dataset, IMAGE, &index, 1, image, 12, &error));
        if (i == 2)
            for (size_t k = 0; k < 12; k++)
                ck_assert_uint_eq(image[k], 0); /* no old value remains visible */
    }
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(skips_updates_of_unknown_fields)
{
    char *scratch = scratch_make();
    static const lx__update_item update = {77, 1, {1, 2, 3, 4, 5}};
    records_make("d", 5, 2);
    lx_dataset *dataset = open_dataset("d");
    add_frame(&(struct frame){.length = 7,
                              .rows = 5,
                              .next_chunk = 1,
                              .flags = SYNCED,
                              .updates = &update,
                              .update_count = 1});
    expect_dataset("d", 7);
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_dataset_refresh(dataset, NULL, &error));
    expect_records(dataset, 7);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

static size_t descriptors(void)
{
    return directory_count("/proc/self/fd");
}

START_TEST(leaves_no_descriptor_open)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 5, 2);
    records_make_sealed("s", 5);
    size_t before = descriptors();
    for (int i = 0; i < 20; i++) {
        lx_dataset *dataset = open_dataset(i % 2 == 0 ? "d" : "s");
        expect_records(dataset, i % 2 == 0 ? 7 : 5);
        unit_ok(lx_dataset_refresh(dataset, NULL, &error));
        lx_dataset_close(dataset);
        file_edit("d/meta.json", "[", "[x");
        expect_refused("d", LX_ERR_CORRUPT, "", "");
        file_edit("d/meta.json", "[x", "[");
        close_writer(records_reopen("d", NULL));
    }
    ck_assert_uint_eq(descriptors(), before);
    scratch_remove(scratch);
}
END_TEST

/** Opens a dataset that shows @p length records. */
static lx_status open_first(uint64_t length, bool live, lx_dataset **dataset, lx_error *failure)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset_options *options = lx_dataset_options_new();
    unit_ok(lx_dataset_options_set_length(options, length, &error));
    unit_ok(lx_dataset_options_set_live(options, live, &error));
    lx_status status = lx_dataset_open("d", options, dataset, failure);
    lx_dataset_options_free(options);
    return status;
}

START_TEST(shows_only_the_first_records)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_dataset *dataset, *live, *pinned;
    uint64_t label, index = 8;
    records_make("d", 10, 5);
    ck_assert_int_eq(open_first(16, false, &dataset, &error), LX_ERR_MISMATCH);
    ck_assert_str_eq(error.message, "length is 16, but the dataset has only 15 records");
    error = (lx_error)LX_ERROR_INIT;
    unit_ok(open_first(LX_NONE, false, &dataset, &error));
    expect_records(dataset, 15);
    lx_dataset_close(dataset);
    unit_ok(open_first(8, false, &dataset, &error));
    unit_ok(open_first(15, true, &live, &error));
    expect_records(dataset, 8);
    unit_fails(lx_dataset_gather(dataset, LABEL, &index, 1, &label, 8, &error), LX_ERR_RANGE);
    error = (lx_error)LX_ERROR_INIT;

    lx_writer *writer = records_reopen("d", NULL);
    records_append(writer, 3);
    commit(writer);
    unit_ok(lx_dataset_refresh(dataset, NULL, &error));
    unit_ok(lx_dataset_pin(dataset, &pinned, &error));
    unit_ok(lx_dataset_wait(dataset, 8, 0, &error));
    unit_fails(lx_dataset_wait(dataset, 9, 0, &error), LX_ERR_ARGUMENT);
    expect_records(dataset, 8);
    expect_records(pinned, 8);
    expect_records(live, 15);
    unit_ok(lx_writer_truncate(writer, 12, &error));
    close_writer(writer);
    expect_records(live, 12);
    expect_records(dataset, 8);
    lx_dataset_close(pinned);
    lx_dataset_close(live);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_null_by_name)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_storage_stats totals;
    unit_refuses_null(lx_dataset_options_set_verify_policy(NULL, LX_VERIFY_FIRST, &error),
                      "options");
    unit_refuses_null(lx_dataset_options_set_durable(NULL, true, &error), "options");
    unit_refuses_null(lx_dataset_options_set_live(NULL, true, &error), "options");
    unit_refuses_null(lx_dataset_options_set_length(NULL, 1, &error), "options");
    unit_refuses_null(lx_dataset_pin(NULL, &dataset, &error), "dataset");
    unit_refuses_null(lx_dataset_wait(NULL, 0, 0, &error), "dataset");
    unit_refuses_null(lx_dataset_open(NULL, NULL, &dataset, &error), "path");
    unit_refuses_null(lx_dataset_open("d", NULL, NULL, &error), "dataset");
    unit_refuses_null(lx_dataset_refresh(NULL, NULL, &error), "dataset");
    unit_refuses_null(lx_dataset_verify(NULL, NULL, NULL, NULL, NULL, &error), "dataset");
    unit_refuses_null(lx_dataset_stat(NULL, &totals, NULL, &error), "dataset");
    lx_dataset_options_free(NULL);
    lx_dataset_close(NULL);
    char *scratch = scratch_make();
    records_make("d", 5, 2);
    dataset = open_dataset("d");
    unit_refuses_null(lx_dataset_stat(dataset, NULL, NULL, &error), "totals");
    unit_refuses_null(lx_dataset_pin(dataset, NULL, &error), "pinned");
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/dataset", reports_why_opening_fails, rejects_newer_formats_by_name,
          rejects_links_and_fifos_in_place_of_files, follows_links_in_the_path,
          rejects_invalid_options, reports_its_properties, a_snapshot_is_constant_until_a_refresh,
          sees_commits_of_another_process, durable_shows_only_data_that_survives_a_power_loss,
          durable_works_on_file_systems_without_sync, reports_a_meta_json_of_another_dataset,
          a_failed_refresh_keeps_the_old_snapshot, reads_changes_and_deletes_of_later_versions,
          skips_updates_of_unknown_fields, leaves_no_descriptor_open, shows_only_the_first_records,
          rejects_null_by_name)
