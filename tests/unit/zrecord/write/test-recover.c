/* SPDX-License-Identifier: MIT */
/* Opening for writing after another writer: doc/zrecord-format.md, 10.3 and 11.8. A copy of a
 * dataset during writes is the same as a kill leaves. */
#include <loaderx/hooks.h>

#include "../change.h"
#include "zrecord/write/writer.h"

START_TEST(a_kill_loses_no_commit)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const lx_durability all[] = {LX_DURABILITY_FULL, LX_DURABILITY_PERIODIC,
                                        LX_DURABILITY_NONE};
    for (size_t i = 0; i < 3; i++) {
        lx_writer_options *options = writer_options(all[i]);
        unit_ok(lx_writer_options_set_chunk_limits(options, 50, 8192, &error));
        lx_writer *writer = records_create("d", options);
        uint64_t committed = 0;
        for (uint64_t step = 0; step < 12; step++) {
            records_append(writer, mix(step) % 40);
            directory_copy("d", "killed"); /* with records that are not committed */
            expect_dataset("killed", committed);
            expect_usable("killed", committed);
            remove_all("killed");
            commit(writer);
            committed = lx_writer_get_length(writer);
            directory_copy("d", "killed");
            expect_dataset("killed", committed);
            expect_usable("killed", committed);
            remove_all("killed");
        }
        close_writer(writer);
        remove_all("d");
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(continues_with_entries_of_the_log)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    close_writer(records_create("d", NULL));
    for (uint64_t i = 0; i < 30; i++) {
        lx_writer *writer = records_reopen("d", NULL);
        ck_assert_uint_eq(lx_writer_get_length(writer), i * 3);
        records_append(writer, 3);
        close_writer(writer);
    }
    lx_writer *writer = records_reopen("d", NULL);
    unit_ok(lx_writer_seal(writer, &error)); /* they go to the tables with the others */
    close_writer(writer);
    expect_dataset("d", 90);
    scratch_remove(scratch);
}
END_TEST

START_TEST(makes_frames_of_a_crash_durable)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    for (int i = 0; i < 5; i++) {
        records_append(writer, i == 3 ? 4000 : 5);
        commit(writer);
    }
    directory_copy("d", "killed");
    close_writer(writer);
    lx_dataset *dataset;
    unit_ok(open_as("killed", LX_VERIFY_FIRST, true, &dataset, &error));
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 0);
    unsigned before = atomic_load(&syncs);
    writer = records_reopen("killed", writer_options(LX_DURABILITY_NONE));
    /* LOG, a chunk, ten tables, two directories, and the frame that records it. */
    ck_assert_uint_ge(atomic_load(&syncs) - before, 15);
    unit_ok(lx_dataset_refresh(dataset, NULL, &error));
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 4020);
    lx_dataset_close(dataset);
    close_writer(writer);
    expect_dataset("killed", 4020);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rewrites_a_synced_frame_whose_sync_may_have_failed)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_FULL)), *opened;
    records_append(writer, 5);
    commit(writer);
    directory_copy("d", "killed");
    close_writer(writer);
    unsigned before = atomic_load(&syncs);
    writer = records_reopen("killed", NULL);
    ck_assert_uint_eq(lx_writer_get_length(writer), 5);
    /* LOG, and both directories: the last writer may not have synced them. */
    ck_assert_uint_ge(atomic_load(&syncs) - before, 3);
    close_writer(writer);
    atomic_store(&sync_fails_at, atomic_load(&syncs) + 1);
    unit_fails(lx_writer_open("killed", NULL, &opened, &error), LX_ERR_IO);
    atomic_store(&sync_fails_at, 0);
    expect_usable("killed", 5);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_a_failed_sync)
{
    char *scratch = scratch_make();
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE)), *opened;
    records_append(writer, 5);
    commit(writer);
    directory_copy("d", "killed");
    close_writer(writer);
    for (unsigned n = 1;; n++) {
        lx_error error = LX_ERROR_INIT;
        directory_copy("killed", "again");
        atomic_store(&sync_fails_at, atomic_load(&syncs) + n);
        lx_status status = lx_writer_open("again", NULL, &opened, &error);
        atomic_store(&sync_fails_at, 0);
        if (status == LX_OK) {
            ck_assert_uint_ge(n, 4);
            close_writer(opened);
            break;
        }
        expect_error(status, LX_ERR_IO, "", "again");
        expect_usable("again", 5); /* by another attempt */
        remove_all("again");
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(truncates_a_log_torn_at_any_byte)
{
    char *scratch = scratch_make();
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    records_append(writer, 5);
    commit(writer);
    uint64_t whole = file_size("d/LOG");
    records_append(writer, 2);
    commit(writer);
    directory_copy("d", "killed");
    close_writer(writer);
    uint64_t size = file_size("killed/LOG");
    for (uint64_t cut = whole; cut < size; cut += 7 + 30 * SANITIZED) {
        directory_copy("killed", "torn");
        file_cut("torn/LOG", cut);
        expect_usable("torn", 5);
        remove_all("torn");
    }
    scratch_remove(scratch);
}
END_TEST

/** Warnings of the library's log, one after another. */
static char warnings[4096];

static void keep_warning(lx_log_level level, const char *message, void *user)
{
    size_t used = strlen(warnings);
    (void)user;
    if (level >= LX_LOG_WARNING)
        snprintf(warnings + used, sizeof warnings - used, "%s\n", message);
}

static void keep_warnings(void)
{
    warnings[0] = '\0';
    lx_set_log_hook(keep_warning, NULL);
}

static void expect_warning(const char *text)
{
    ck_assert_msg(strstr(warnings, text) != NULL, "'%s' is not in: %s", text, warnings);
}

START_TEST(reports_truncated_bytes)
{
    char *scratch = scratch_make();
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    records_append(writer, 5);
    commit(writer);
    uint64_t whole = file_size("d/LOG");
    records_append(writer, 2);
    commit(writer);
    directory_copy("d", "torn");
    directory_copy("d", "lost");
    close_writer(writer);
    file_cut("torn/LOG", whole + 100);
    keep_warnings();
    expect_usable("torn", boots_are_known() ? 5 : 0);
    expect_warning(" bytes: a commit was interrupted while it was being written");
    log_change_boot("lost", 72, 1);
    keep_warnings();
    expect_usable("lost", 0);
    expect_warning("lost: dropped 2 commits that were not synced before the machine stopped");
    lx_set_log_hook(NULL, NULL);
    scratch_remove(scratch);
}
END_TEST

/** The commit was acknowledged: truncating it would silently lose it. */
START_TEST(rejects_a_damaged_last_frame_of_this_boot)
{
    char *scratch = scratch_make();
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    records_append(writer, 5);
    commit(writer);
    uint64_t start = file_size("d/LOG");
    records_append(writer, 2);
    commit(writer);
    directory_copy("d", "killed");
    close_writer(writer);
    uint64_t size = file_size("killed/LOG");
    for (uint64_t bit = (start + 56) * 8; bit < size * 8; bit += 67 + 300 * SANITIZED) {
        lx_error error = LX_ERROR_INIT;
        directory_copy("killed", "rotten");
        file_flip("rotten/LOG", bit);
        if (boots_are_known()) {
            lx_status status = lx_writer_open("rotten", NULL, &writer, &error);
            ck_assert_uint_eq(error.offset, start);
            expect_error(status, LX_ERR_CORRUPT, "loaderx repair", "rotten/LOG");
            ck_assert_uint_eq(file_size("rotten/LOG"), size);
            expect_refused("rotten", LX_ERR_CORRUPT, "frame 2", "LOG");
        }
        remove_all("rotten");
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(truncates_frames_of_another_boot)
{
    char *scratch = scratch_make();
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    lx_error error = LX_ERROR_INIT;
    records_append(writer, 5);
    unit_ok(lx_writer_sync(writer, &error));
    uint64_t synced = file_size("d/LOG");
    for (int i = 0; i < 3; i++) {
        records_append(writer, 2);
        commit(writer);
    }
    static const uint64_t boots[] = {1, 0};
    for (size_t i = 0; i < 2; i++) {
        directory_copy("d", "lost");
        log_change_boot("lost", synced, boots[i]);
        expect_dataset("lost", 5); /* readers ignore them, too */
        expect_usable("lost", 5);
        remove_all("lost");
    }
    directory_copy("d", "kept");
    log_change_boot("kept", synced, lx__boot_id());
    expect_usable("kept", 11);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(removes_only_orphans)
{
    char *scratch = scratch_make();
    static const char *const leftovers[] = {
        "meta.json.new",         "LOG.1",      "LOG.77",      "image.offset.1",
        "blob.check.4294967295", "chunk/1.zr", "chunk/77.zr", "chunk/4294967294.zr"};
    static const char *const others[] = {"LOG.01",
                                         "LOG.x",
                                         "LOG.",
                                         "LOG.-1",
                                         "notes.txt",
                                         "x.offset.",
                                         "image.offsets.1",
                                         "image.offset.01",
                                         "chunk/01.zr",
                                         "chunk/x.zr",
                                         "chunk/1.zr.bak",
                                         "chunk/4294967295.zr",
                                         "chunk/99999999999999999999.zr",
                                         "meta.json.old",
                                         "image.dict.1"};
    records_make("d", 3, 2);
    for (size_t i = 0; i < sizeof leftovers / sizeof *leftovers; i++)
        file_put(in("d", leftovers[i]), "left", 4);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        file_put(in("d", others[i]), "mine", 4);
    expect_usable("d", 5);
    for (size_t i = 0; i < sizeof leftovers / sizeof *leftovers; i++)
        ck_assert_msg(!file_exists(in("d", leftovers[i])), "%s is there", leftovers[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(file_size(in("d", others[i])) == 4, "%s has changed", others[i]);
    scratch_remove(scratch);
}
END_TEST

START_TEST(overwrites_uncommitted_bytes)
{
    char *scratch = scratch_make();
    static uint8_t rubbish[5000];
    memset(rubbish, 0xdd, sizeof rubbish);
    records_make("d", 3, 2);
    file_patch("d/chunk/0.zr", file_size("d/chunk/0.zr"), rubbish, sizeof rubbish);
    file_patch("d/image.offset", file_size("d/image.offset"), rubbish, 160);
    file_patch("d/image.check", file_size("d/image.check"), rubbish, 50);
    expect_dataset("d", 5);
    expect_usable("d", 5);
    lx_writer *writer = records_reopen("d", NULL);
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_seal(writer, &error)); /* truncates them */
    close_writer(writer);
    ck_assert_uint_eq(file_size("d/image.check"), 12 * 8);
    expect_dataset("d", 12);
    scratch_remove(scratch);
}
END_TEST

START_TEST(accepts_absent_files_without_content)
{
    char *scratch = scratch_make();
    records_make_sealed("d", 0);
    records_unseal("d");
    ck_assert_int_eq(remove("d/image.offset"), 0);
    ck_assert_int_eq(remove("d/label.check"), 0);
    ck_assert_int_eq(remove("d/LOCK"), 0);
    expect_dataset("d", 0);
    expect_usable("d", 0);
    scratch_remove(scratch);
}
END_TEST

/* ---- what cannot be opened */

/** Damages a copy of the dataset "whole", which must then be rejected, and stay unchanged. */
static void expect_not_opened(const char *file, int64_t size, lx_status expected)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = NULL;
    directory_copy("whole", "d");
    if (size < 0)
        ck_assert_int_eq(remove(in("d", file)), 0);
    else
        file_cut(in("d", file), (uint64_t)size);
    uint64_t log = file_exists("d/LOG") ? file_size("d/LOG") : 0;
    lx_status status = lx_writer_open("d", NULL, &writer, &error);
    expect_error(status, expected, "", file);
    ck_assert_ptr_null(writer);
    ck_assert_uint_eq(file_exists("d/LOG") ? file_size("d/LOG") : 0, log);
    remove_all("d");
}

START_TEST(rejects_damage_and_leaves_it)
{
    char *scratch = scratch_make();
    records_make("whole", 20, 2);
    expect_not_opened("meta.json", -1, LX_ERR_NOT_FOUND);
    expect_not_opened("meta.json", 0, LX_ERR_CORRUPT);
    expect_not_opened("meta.json", 100, LX_ERR_CORRUPT);
    expect_not_opened("LOG", -1, LX_ERR_CORRUPT);
    expect_not_opened("LOG", 0, LX_ERR_CORRUPT);
    expect_not_opened("LOG", 71, LX_ERR_CORRUPT);
    expect_not_opened("image.offset", -1, LX_ERR_CORRUPT);
    expect_not_opened("image.offset", 20 * 16 - 1, LX_ERR_CORRUPT);
    expect_not_opened("blob.check", -1, LX_ERR_CORRUPT);
    expect_not_opened("blob.check", 0, LX_ERR_CORRUPT);
    scratch_remove(scratch);
}
END_TEST

/** The number of damaged values of the dataset. */
static uint64_t damaged_values(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_verify_result result;
    lx_dataset *dataset = open_dataset(path);
    lx_status status = lx_dataset_verify(dataset, NULL, NULL, NULL, &result, &error);
    ck_assert_int_eq(status, result.damages != 0 ? LX_ERR_CORRUPT : LX_OK);
    lx_dataset_close(dataset);
    return result.damages;
}

/** Damages a copy of "whole", commits of 4000 records that were never synced. They stay, and the
 * lost values, at least one and at most @p most, are reported; the dataset accepts more records. */
static void expect_damage(const char *file, int64_t size, uint64_t most)
{
    char text[128];
    directory_copy("whole", "d");
    if (size < 0)
        ck_assert_int_eq(remove(in("d", file)), 0);
    else if (size == 0)
        file_flip(in("d", file), 8 * 100);
    else
        file_cut(in("d", file), (uint64_t)size);
    keep_warnings();
    lx_writer *writer = records_reopen("d", NULL);
    ck_assert_uint_eq(lx_writer_get_length(writer), 4000);
    uint64_t damaged = damaged_values("d");
    ck_assert_uint_ge(damaged, 1);
    ck_assert_uint_le(damaged, most);
    snprintf(text, sizeof text, "d: %d values of commits that were not synced are damaged",
             (int)damaged);
    expect_warning(text);
    records_append(writer, 50);
    close_writer(writer);
    ck_assert_uint_eq(damaged_values("d"), damaged);
    lx_set_log_hook(NULL, NULL);
    remove_all("d");
}

START_TEST(keeps_commits_whose_values_are_lost)
{
    if (!boots_are_known())
        return;
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = writer_options(LX_DURABILITY_NONE);
    unit_ok(lx_writer_options_set_chunk_limits(options, 1000, 4096, &error));
    lx_writer *writer = records_create("d", options);
    records_append(writer, 3500); /* many chunks, and rows in the tables */
    commit(writer);
    records_append(writer, 400);
    commit(writer);
    records_append(writer, 100); /* and updates in the log */
    commit(writer);
    directory_copy("d", "whole");
    close_writer(writer);
    remove_all("d");
    directory_copy("whole", "d");
    expect_usable("d", 4000);
    remove_all("d");
    expect_damage("chunk/0.zr", -1, 1000);
    expect_damage("chunk/7.zr", 100, 1000);
    expect_damage("chunk/3.zr", 0, 1);
    expect_damage("wave.offset", 0, 1);
    directory_copy("whole", "d");
    char last[32];
    snprintf(last, sizeof last, "chunk/%zu.zr", directory_count("d/chunk") - 1);
    remove_all("d");
    expect_damage(last, (int64_t)file_size(in("whole", last)) - 1, 1);
    expect_damage(last, 0, 1);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_a_table_that_lost_rows)
{
    char *scratch = scratch_make();
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    records_append(writer, 4000);
    commit(writer);
    directory_copy("d", "whole");
    close_writer(writer);
    remove_all("d");
    /* They were synced before the frame. */
    if (boots_are_known()) {
        expect_not_opened("wave.offset", -1, LX_ERR_CORRUPT);
        expect_not_opened("wave.check", 31999, LX_ERR_CORRUPT);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_short_chunk_takes_no_more_payloads)
{
    char *scratch = scratch_make();
    records_make("whole", 20, 2);
    for (int64_t size = -1; size <= 50; size += 51) {
        directory_copy("whole", "d");
        if (size < 0)
            ck_assert_int_eq(remove("d/chunk/0.zr"), 0);
        else
            file_cut("d/chunk/0.zr", (uint64_t)size);
        keep_warnings();
        lx_writer *writer = records_reopen("d", NULL);
        expect_warning("d/chunk/0.zr: the file has");
        records_append(writer, 30);
        close_writer(writer);
        ck_assert_uint_eq(file_exists("d/chunk/0.zr"), size >= 0);
        ck_assert(size < 0 || file_size("d/chunk/0.zr") == (uint64_t)size);
        ck_assert(file_exists("d/chunk/1.zr"));
        lx_dataset *dataset = open_dataset("d");
        uint64_t length = lx_dataset_get_length(dataset);
        for (uint64_t index = length - 30; index < length; index++)
            for (int field = 0; field < FIELDS; field++)
                expect_value(dataset, field, index);
        lx_dataset_close(dataset);
        lx_set_log_hook(NULL, NULL);
        remove_all("d");
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_a_damaged_log_without_truncating_it)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    for (int i = 0; i < 5; i++) {
        records_append(writer, 2);
        commit(writer);
    }
    close_writer(writer);
    uint64_t size = file_size("d/LOG");
    file_flip("d/LOG", 100 * 8);
    lx_status status = lx_writer_open("d", NULL, &writer, &error);
    expect_error(status, LX_ERR_CORRUPT, "frame 1", "d/LOG");
    ck_assert_uint_eq(file_size("d/LOG"), size);
    file_flip("d/LOG", 100 * 8);
    expect_usable("d", 10);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_links_and_fifos_in_place_of_files)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    static const char *const names[] = {"meta.json",  "LOG",        "image.offset",
                                        "blob.check", "chunk/0.zr", "chunk"};
    records_make("d", 5, 2);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (enum disguise what = 0; what < DISGUISES; what++) {
            if (what == A_DIRECTORY && strcmp(names[i], "chunk") == 0)
                continue;
            char path[64];
            snprintf(path, sizeof path, "d/%s", names[i]);
            file_disguise(path, what);
            lx_status status = lx_writer_open("d", NULL, &writer, &error);
            expect_error(status, LX_ERR_CORRUPT, "", path);
            file_restore(path);
        }
    }
    ck_assert_int_eq(rename("d/chunk", "chunk"), 0);
    lx_status status = lx_writer_open("d", NULL, &writer, &error);
    expect_error(status, LX_ERR_CORRUPT, "", "d/chunk");
    ck_assert_int_eq(rename("chunk", "d/chunk"), 0);
    expect_usable("d", 7);
    scratch_remove(scratch);
}
END_TEST

/* ---- a killed writer */

/** Writes records, and reports the number of committed ones to @p out, until it is killed. */
static void write_for_ever(int out, lx_durability durability)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_reopen("d", writer_options(durability));
    for (uint64_t step = 0;; step++) {
        uint64_t count = mix(step) % 30;
        for (uint64_t i = 0; i < count; i++)
            if (record_append(writer, lx_writer_get_length(writer), &error) != LX_OK)
                _exit(1);
        if (lx_writer_commit(writer, &error) != LX_OK)
            _exit(2);
        uint64_t length = lx_writer_get_length(writer);
        if (write(out, &length, sizeof length) != sizeof length)
            _exit(3);
    }
}

START_TEST(a_writer_killed_at_any_time_leaves_its_commits)
{
    char *scratch = scratch_make();
    static const lx_durability all[] = {LX_DURABILITY_FULL, LX_DURABILITY_PERIODIC,
                                        LX_DURABILITY_NONE};
    close_writer(records_create("d", NULL));
    for (unsigned round = 0; round < (SANITIZED ? 6 : 15); round++) {
        int ends[2];
        uint64_t length = 0, reported;
        ck_assert_int_eq(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            close(ends[0]);
            write_for_ever(ends[1], all[round % 3]);
        }
        close(ends[1]);
        ck_assert_int_eq(read(ends[0], &length, sizeof length), sizeof length);
        nap_ms(5 + 13 * round % 90);
        kill(child, SIGKILL);
        int status;
        waitpid(child, &status, 0);
        ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        while (read(ends[0], &reported, sizeof reported) == sizeof reported)
            length = reported;
        close(ends[0]);
        lx_writer *writer = records_reopen("d", NULL);
        uint64_t there = lx_writer_get_length(writer);
        ck_assert_msg(there >= length, "%d of %d", (int)there, (int)length);
        close_writer(writer);
    }
    lx_dataset *dataset = open_dataset("d");
    expect_records(dataset, lx_dataset_get_length(dataset));
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/recover", a_kill_loses_no_commit, continues_with_entries_of_the_log,
          makes_frames_of_a_crash_durable, rewrites_a_synced_frame_whose_sync_may_have_failed,
          reports_a_failed_sync, truncates_a_log_torn_at_any_byte, reports_truncated_bytes,
          rejects_a_damaged_last_frame_of_this_boot, truncates_frames_of_another_boot,
          removes_only_orphans, overwrites_uncommitted_bytes, accepts_absent_files_without_content,
          rejects_damage_and_leaves_it, keeps_commits_whose_values_are_lost,
          rejects_a_table_that_lost_rows, a_short_chunk_takes_no_more_payloads,
          rejects_a_damaged_log_without_truncating_it, rejects_links_and_fifos_in_place_of_files,
          a_writer_killed_at_any_time_leaves_its_commits)
