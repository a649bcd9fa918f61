/* SPDX-License-Identifier: MIT */
/* lx_dataset_backup() copies the complete snapshot, also during writes. */
#include <signal.h>

#include "../../scarce.h"
#include "../goldens.h"
#include "../harm.h"

static lx_dataset *open_newest(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    unit_ok(open_as(path, LX_VERIFY_ALWAYS, false, &dataset, &error));
    return dataset;
}

static lx_dataset_identity identity_at(const char *path)
{
    lx_dataset_identity identity;
    lx_dataset *dataset = open_newest(path);
    lx_dataset_get_identity(dataset, &identity);
    lx_dataset_close(dataset);
    return identity;
}

static void back_up(lx_dataset *dataset, const char *path)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_dataset_backup(dataset, path, NULL, NULL, &error));
}

/** The path must not exist, or be the directory as it was before. */
static void expect_durable(const char *path, uint64_t length)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    unit_ok(open_as(path, LX_VERIFY_ALWAYS, true, &dataset, &error));
    expect_records(dataset, length);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
}

START_TEST(a_copy_is_the_same_dataset)
{
    char *scratch = scratch_make();
    static const uint64_t lengths[][2] = {{0, 0}, {20, 0}, {0, 20}, {25, 15}};
    for (size_t i = 0; i < 4; i++) {
        char name[] = {(char)('a' + i), '\0'}, copy[] = {(char)('A' + i), '\0'};
        records_make(name, lengths[i][0], lengths[i][1]);
        lx_dataset *dataset = open_newest(name);
        back_up(dataset, copy);
        lx_dataset_identity here, there = identity_at(copy);
        lx_dataset_get_identity(dataset, &here);
        ck_assert_str_eq(here.uuid, there.uuid);
        ck_assert(here.generation == there.generation && here.sequence == there.sequence &&
                  here.checksum == there.checksum);
        expect_durable(copy, lengths[i][0] + lengths[i][1]);
        lx_dataset_close(dataset);
        /* The copy can be written to. */
        lx_writer *writer = records_reopen(copy, NULL);
        records_append(writer, 7);
        close_writer(writer);
        expect_durable(copy, lengths[i][0] + lengths[i][1] + 7);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(sealed_stays_sealed)
{
    char *scratch = scratch_make();
    records_make_sealed("d", 30);
    lx_dataset *dataset = open_newest("d");
    /* A dataset that was unsealed and has grown since the opening is copied as it was. */
    lx_error error = LX_ERROR_INIT;
    file_edit("d/meta.json", "\"sealed\": true", "\"sealed\": false");
    lx_writer *writer = records_reopen("d", NULL);
    records_append(writer, 10);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    back_up(dataset, "copy");
    lx_dataset_close(dataset);
    ck_assert_uint_eq(identity_at("copy").sealed, 1);
    expect_durable("copy", 30);
    expect_durable("d", 40);
    scratch_remove(scratch);
}
END_TEST

START_TEST(commits_that_are_not_synced_count_in_the_copy)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    records_append(writer, 5);
    unit_ok(lx_writer_sync(writer, &error));
    records_append(writer, 3);
    commit(writer);
    lx_dataset *dataset = open_newest("d");
    lx_dataset_identity here, there;
    lx_dataset_get_identity(dataset, &here);
    back_up(dataset, "copy");
    ck_assert_uint_eq(file_size("copy/LOG"), file_size("d/LOG") + 72);
    there = identity_at("copy");
    ck_assert_str_eq(here.uuid, there.uuid);
    ck_assert_uint_eq(there.sequence, here.sequence + 1);
    expect_durable("copy", 8);
    /* The copy can be copied, too. */
    lx_dataset *again = open_newest("copy");
    back_up(again, "again");
    lx_dataset_close(again);
    ck_assert_uint_eq(identity_at("again").checksum, there.checksum);
    lx_dataset_close(dataset);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_writer_continues_meanwhile)
{
    char *scratch = scratch_make();
    close_writer(records_create("d", NULL));
    pid_t child = fork();
    if (child == 0) {
        lx_writer *writer; /* killed at any time: no assertions */
        if (lx_writer_open("d", NULL, &writer, NULL) != LX_OK)
            _exit(1);
        for (uint64_t index = 0;; index++) {
            if (record_append(writer, index, NULL) != LX_OK ||
                (index % 3 == 0 && lx_writer_commit(writer, NULL) != LX_OK))
                _exit(1);
            if (index % 3 == 0)
                nap_ms(1);
        }
    }
    for (int i = 0; i < 5; i++) {
        char name[] = {(char)('A' + i), '\0'};
        lx_dataset *dataset = open_newest("d");
        uint64_t length = lx_dataset_get_length(dataset);
        back_up(dataset, name);
        lx_dataset_close(dataset);
        expect_durable(name, length);
        nap_ms(5);
    }
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    scratch_remove(scratch);
}
END_TEST

/** The last reported progress, and the call at which to stop. */
struct progress {
    uint64_t done, total, calls, stop_at;
};

static lx_status record_progress(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    (void)error;
    struct progress *progress = user;
    ck_assert_uint_gt(done, progress->done);
    ck_assert_uint_le(done, total);
    progress->done = done;
    progress->total = total;
    return ++progress->calls == progress->stop_at ? LX_ERR_CANCELED : LX_OK;
}

START_TEST(reports_progress_in_bytes_and_can_be_stopped)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 50, 10);
    lx_dataset *dataset = open_newest("d");
    struct progress progress = {0};
    unit_ok(lx_dataset_backup(dataset, "copy", record_progress, &progress, &error));
    ck_assert_uint_eq(progress.done, progress.total);
    ck_assert_uint_gt(progress.total, 60 * FIELDS * 24);
    uint64_t calls = progress.calls;
    ck_assert_uint_eq(calls, 1 + 2 * FIELDS + 1); /* a chunk, tables, LOG */
    for (uint64_t stop = 1; stop <= calls; stop++) {
        progress = (struct progress){.stop_at = stop};
        ck_assert_int_eq(lx_dataset_backup(dataset, "other", record_progress, &progress, &error),
                         LX_ERR_CANCELED);
        ck_assert_int_eq(error.status, LX_ERR_CANCELED);
        lx_error_clear(&error);
        ck_assert(!file_exists("other"));
    }
    /* An existing directory stays. */
    ck_assert_int_eq(mkdir("other", 0777), 0);
    progress = (struct progress){.stop_at = 3};
    ck_assert_int_eq(lx_dataset_backup(dataset, "other", record_progress, &progress, &error),
                     LX_ERR_CANCELED);
    ck_assert_uint_eq(directory_count("other"), 0);
    back_up(dataset, "other");
    lx_dataset_close(dataset);
    expect_durable("other", 60);
    scratch_remove(scratch);
}
END_TEST

START_TEST(overwrites_nothing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 10, 0);
    records_make("e", 20, 0);
    lx_dataset *dataset = open_newest("d");
    ck_assert_int_eq(mkdir("full", 0777), 0);
    file_put("full/chunk", "x", 1);
    file_put("file", "x", 1);
    static const char *const taken[] = {"d", "e", "full", "file"};
    for (size_t i = 0; i < 4; i++)
        unit_fails(lx_dataset_backup(dataset, taken[i], NULL, NULL, &error), LX_ERR_EXISTS);
    unit_fails(lx_dataset_backup(dataset, "no/where", NULL, NULL, &error), LX_ERR_NOT_FOUND);
    ck_assert_uint_eq(file_size("full/chunk"), 1);
    unit_refuses_null(lx_dataset_backup(NULL, "x", NULL, NULL, &error), "dataset");
    unit_refuses_null(lx_dataset_backup(dataset, NULL, NULL, NULL, &error), "path");
    lx_dataset_close(dataset);
    expect_durable("d", 10);
    expect_durable("e", 20);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_failed_copy_is_reported_and_leaves_nothing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 50, 10);
    lx_dataset *dataset;
    unit_ok(open_as("d", LX_VERIFY_NEVER, false, &dataset, &error));
    limit_files(1000);
    lx_status status = lx_dataset_backup(dataset, "copy", NULL, NULL, &error);
    unlimit_files();
    expect_error(status, LX_ERR_IO, "", "copy/");
    ck_assert(!file_exists("copy"));
    for (int memory = 0; status != LX_OK; memory++) {
        ck_assert_int_lt(memory, 200);
        scarce_begin(memory);
        lx_error_clear(&error);
        status = lx_dataset_backup(dataset, "copy", NULL, NULL, &error);
        scarce_begin(100000);
        ck_assert_msg(status == LX_OK || status == LX_ERR_NOMEM, "%s", error.message);
        ck_assert(file_exists("copy/meta.json") == (status == LX_OK));
    }
    expect_durable("copy", 60);
    /* A truncated chunk, and an absent one. */
    file_cut("d/chunk/0.zr", 100);
    status = lx_dataset_backup(dataset, "other", NULL, NULL, &error);
    expect_error(status, LX_ERR_CORRUPT, "committed", "d/chunk/0.zr");
    ck_assert_int_eq(remove("d/chunk/0.zr"), 0);
    status = lx_dataset_backup(dataset, "other", NULL, NULL, &error);
    expect_error(status, LX_ERR_CORRUPT, "", "d/chunk/0.zr");
    ck_assert(!file_exists("other"));
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

/** A failed backup must remove what it made, and keep an existing directory. */
static void expect_nothing_made(lx_dataset *dataset, const char *path)
{
    ck_assert_msg(!file_exists(path), "%s is there", path);
    ck_assert_uint_eq(directory_count("empty"), 0);
    expect_records(dataset, 10);
}

START_TEST(removes_what_it_made_without_descriptors_or_space)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_status status = LX_ERR_IO;
    struct rlimit limit;
    records_make("d", 10, 0);
    ck_assert_int_eq(mkdir("empty", 0777), 0);
    lx_dataset *dataset = open_newest("d");
    expect_records(dataset, 10); /* opens its files */
    unsigned there = (unsigned)directory_count("/proc/self/fd") - 1;
    for (unsigned more = 0; status != LX_OK; more++) {
        ck_assert_uint_lt(more, 20);
        limit_descriptors(there + more);
        lx_error_clear(&error);
        status = lx_dataset_backup(dataset, "copy", NULL, NULL, &error);
        lx_status again = lx_dataset_backup(dataset, "empty", NULL, NULL, NULL);
        limit_descriptors(1024);
        ck_assert_int_eq(again, status);
        if (status == LX_OK)
            break;
        ck_assert_msg(status == LX_ERR_IO, "%s", error.message);
        expect_nothing_made(dataset, "copy");
    }
    expect_durable("copy", 10);
    expect_durable("empty", 10);
    /* LOCK can be created, but no process id written to it. An assertion would fail to write,
     * too. */
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, limit.rlim_max});
    status = lx_dataset_backup(dataset, "other", NULL, NULL, &error);
    setrlimit(RLIMIT_FSIZE, &limit);
    ck_assert_int_eq(status, LX_ERR_IO);
    ck_assert(!file_exists("other"));
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_a_snapshot_whose_files_are_removed)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 10, 5);
    lx_dataset *dataset = open_newest("d");
    file_flip("d/LOG", 8 * (file_size("d/LOG") - 20));
    lx_status status = lx_dataset_backup(dataset, "copy", NULL, NULL, &error);
    expect_error(status, LX_ERR_STATE, "refresh", "d");
    ck_assert(!file_exists("copy"));
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_dictionary_is_copied)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    golden_copy("zstd");
    lx_dataset *dataset = open_newest("zstd");
    back_up(dataset, "copy");
    lx_dataset_close(dataset);
    dataset = open_newest("copy");
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    ck_assert_uint_eq(file_size("copy/x.dict"), file_size("zstd/x.dict"));
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/backup", a_copy_is_the_same_dataset, sealed_stays_sealed,
          commits_that_are_not_synced_count_in_the_copy, a_writer_continues_meanwhile,
          reports_progress_in_bytes_and_can_be_stopped, overwrites_nothing,
          a_failed_copy_is_reported_and_leaves_nothing,
          removes_what_it_made_without_descriptors_or_space,
          rejects_a_snapshot_whose_files_are_removed, a_dictionary_is_copied)
