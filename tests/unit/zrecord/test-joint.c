/* SPDX-License-Identifier: MIT */
/* Joint frames, from the commit that writes one to whoever finds it in another boot:
 * doc/zrecord-format.md, 8.10 and 10.4. */
#include <sys/time.h>

#include "change.h"

#define FIRST 5 /* records of the first commit, whose chunk is new, */
#define LENGTH 9 /* and with those of the second, whose frame is joint */
#define OTHER_BOOT 1

/** The last frame of the log of @p path, and where it starts. */
static lx__frame last_frame(const char *path, size_t *start)
{
    size_t size, at = 0;
    lx__frame frame = {0};
    uint8_t *bytes = log_bytes(in(path, "LOG"), &size);
    for (; at < size; at += frame.bytes) {
        ck_assert(lx__frame_load(&frame, bytes + at));
        *start = at;
    }
    free(bytes);
    return frame;
}

static uint32_t last_flags(const char *path)
{
    size_t start;
    return last_frame(path, &start).flags;
}

/** A dataset as its writer leaves it that is killed behind the second commit, in @p path. */
static void make_killed(const char *path)
{
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, FIRST);
    commit(writer);
    records_append(writer, LENGTH - FIRST);
    commit(writer);
    directory_copy("d", path);
    close_writer(writer);
    remove_all("d");
}

/** The same, seen from another boot. */
static void make_lost(const char *path)
{
    size_t start;
    make_killed(path);
    last_frame(path, &start);
    log_change_boot(path, start, OTHER_BOOT);
}

/** What readers of all kinds show, none of which changes anything, and then a writer. */
static void expect_found(const char *path, uint64_t length)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    expect_dataset(path, length);
    unit_ok(open_as(path, LX_VERIFY_ALWAYS, true, &dataset, &error));
    expect_records(dataset, length);
    lx_dataset_close(dataset);
    expect_usable(path, length);
}

START_TEST(a_small_commit_syncs_data_and_log_at_once)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    static const struct {
        unsigned records;
        uint32_t flags;
    } commits[] = {{1, SYNCED}, {1, JOINT}, {100, JOINT}, {5000, SYNCED}, {3, JOINT}};
    uint64_t length = 0;
    for (size_t i = 0; i < sizeof commits / sizeof *commits; i++) {
        records_append(writer, commits[i].records);
        length += commits[i].records;
        commit(writer);
        ck_assert_uint_eq(last_flags("d"), commits[i].flags);
        expect_dataset("d", length);
    }
    unsigned before = atomic_load(&syncs);
    unit_ok(lx_writer_truncate(writer, 90, &error)); /* of nothing but the log */
    commit(writer);
    ck_assert_uint_eq(last_flags("d"), SYNCED);
    ck_assert_uint_eq(atomic_load(&syncs), before + 1);
    close_writer(writer);
    ck_assert_uint_eq(last_flags("d"), SYNCED);
    expect_dataset("d", 90);
    scratch_remove(scratch);
}
END_TEST

START_TEST(frames_that_are_not_synced_come_before_none)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    for (int i = 0; i < 3; i++) {
        records_append(writer, 2);
        unit_ok(lx_writer_sync(writer, &error));
        ck_assert_uint_eq(last_flags("d"), i == 0 ? SYNCED : JOINT);
        records_append(writer, 2);
        commit(writer);
        ck_assert_uint_eq(last_flags("d"), 0);
        records_append(writer, 2);
        unit_ok(lx_writer_sync(writer, &error));
        ck_assert_uint_eq(last_flags("d"), SYNCED);
    }
    close_writer(writer);
    expect_dataset("d", 18);
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_log_of_a_sealed_dataset_ends_with_none)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, FIRST);
    unit_ok(lx_writer_fold(writer, &error)); /* its rows are in the tables */
    records_append(writer, 1);
    commit(writer);
    ck_assert_uint_eq(last_flags("d"), JOINT);
    unit_ok(lx_writer_truncate(writer, FIRST, &error));
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    expect_dataset("d", FIRST);
    records_unseal("d");
    expect_dataset("d", FIRST);
    scratch_remove(scratch);
}
END_TEST

START_TEST(in_another_boot_one_counts_that_is_intact)
{
    if (!boots_are_known())
        return;
    char *scratch = scratch_make();
    make_lost("lost");
    ck_assert_uint_eq(last_flags("lost"), JOINT);
    expect_found("lost", LENGTH);
    scratch_remove(scratch);
}
END_TEST

START_TEST(one_that_lost_a_payload_does_not)
{
    if (!boots_are_known())
        return;
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_chunk_info before, after;
    static const uint8_t zeros[4096];
    make_lost("lost");
    lx_dataset *dataset = open_dataset("lost");
    unit_ok(lx_dataset_get_chunk(dataset, 0, &after));
    lx_dataset_close(dataset);
    directory_copy("lost", "first");
    size_t start;
    last_frame("first", &start);
    file_cut("first/LOG", start);
    dataset = open_dataset("first");
    unit_ok(lx_dataset_get_chunk(dataset, 0, &before));
    lx_dataset_close(dataset);
    ck_assert_uint_lt(before.bytes, after.bytes);
    for (int how = 0; how < 4; how++) {
        directory_copy("lost", "harmed");
        const char *chunk = "harmed/chunk/0.zr";
        if (how == 0)
            file_patch(chunk, before.bytes, zeros, after.bytes - before.bytes);
        else if (how == 1)
            file_cut(chunk, after.bytes - 1);
        else if (how == 2)
            file_cut(chunk, before.bytes);
        else
            file_flip(chunk, 8 * after.bytes - 1);
        /* Nor is it damage: a loss of power came before its commit was over. */
        lx_repair_result result;
        unit_ok(lx_dataset_repair("harmed", LX_REPAIR_REPORT, NULL, NULL, NULL, &result, &error));
        ck_assert_uint_eq(result.damages, 0);
        expect_found("harmed", FIRST);
        remove_all("harmed");
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_payload_of_before_is_not_looked_at)
{
    if (!boots_are_known())
        return;
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    size_t start, image = IMAGE;
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, 10);
    commit(writer);
    /* The last record takes a place, and one more value is new. */
    uint8_t pixels[12] = {1, 2, 3};
    lx_value value = {pixels, sizeof pixels};
    unit_ok(lx_writer_delete(writer, 1, NULL, &error));
    unit_ok(lx_writer_modify(writer, 0, &image, &value, 1, &error));
    commit(writer);
    directory_copy("d", "lost");
    close_writer(writer);
    ck_assert_uint_eq(last_frame("lost", &start).flags, JOINT);
    log_change_boot("lost", start, OTHER_BOOT);
    for (uint64_t bit = 3; bit < 8 * 100; bit += 8) /* all of the first records */
        file_flip("lost/chunk/0.zr", bit);
    lx_dataset *dataset;
    unit_ok(open_as("lost", LX_VERIFY_NEVER, false, &dataset, &error));
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 9);
    lx_dataset_close(dataset);
    writer = records_reopen("lost", NULL);
    ck_assert_uint_eq(lx_writer_get_length(writer), 9);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(frames_behind_one_of_another_boot_do_not_count)
{
    if (!boots_are_known())
        return;
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    size_t start;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    records_append(writer, FIRST);
    unit_ok(lx_writer_sync(writer, &error));
    records_append(writer, LENGTH - FIRST);
    unit_ok(lx_writer_sync(writer, &error));
    last_frame("d", &start);
    records_append(writer, 7);
    commit(writer);
    directory_copy("d", "lost");
    close_writer(writer);
    log_change_boot("lost", start, OTHER_BOOT);
    expect_found("lost", LENGTH);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_durable_reader_syncs_what_it_finds)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    bool changed;
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, FIRST);
    commit(writer);
    unit_ok(open_as("d", LX_VERIFY_ALWAYS, true, &dataset, &error));
    for (int i = 0; i < 3; i++) {
        records_append(writer, 2);
        commit(writer);
        ck_assert_uint_eq(last_flags("d"), JOINT);
        unsigned before = atomic_load(&syncs);
        unit_ok(lx_dataset_refresh(dataset, &changed, &error));
        ck_assert(changed);
        ck_assert_uint_eq(atomic_load(&syncs), before + 2); /* the chunk and the log */
        ck_assert_uint_eq(lx_dataset_get_length(dataset), lx_writer_get_length(writer));
        unit_ok(lx_dataset_refresh(dataset, &changed, &error));
        ck_assert(!changed);
        ck_assert_uint_eq(atomic_load(&syncs), before + 2);
    }
    records_append(writer, 2);
    commit(writer);
    static const struct timeval long_ago[2];
    ck_assert_int_eq(utimes("d/LOG", long_ago), 0); /* so that a change of it would show */
    atomic_store(&sync_fails_at, 1);
    unit_fails(lx_dataset_refresh(dataset, &changed, &error), LX_ERR_IO);
    unit_fails(lx_dataset_refresh(dataset, &changed, &error), LX_ERR_IO);
    ck_assert_uint_eq(lx_dataset_get_length(dataset), FIRST + 6);
    atomic_store(&sync_fails_at, 0);
    unit_ok(lx_dataset_refresh(dataset, &changed, &error));
    expect_records(dataset, FIRST + 8);
    lx_dataset_close(dataset);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_sync_of_either_that_fails_ends_the_writer)
{
    char *scratch = scratch_make();
    for (unsigned fails_at = 1; fails_at <= 2; fails_at++) {
        lx_error error = LX_ERROR_INIT;
        lx_writer *writer = records_create("d", NULL);
        records_append(writer, FIRST);
        commit(writer);
        records_append(writer, LENGTH - FIRST);
        atomic_store(&sync_fails_at, atomic_load(&syncs) + fails_at);
        unit_fails(lx_writer_commit(writer, &error), LX_ERR_POISONED);
        atomic_store(&sync_fails_at, 0);
        unit_fails(lx_writer_commit(writer, &error), LX_ERR_POISONED);
        (void)lx_writer_close(writer, NULL);
        /* Its outcome was not known; here the cache has all of it. */
        expect_usable("d", lx__boot_id() != 0 ? LENGTH : FIRST);
        remove_all("d");
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_backup_counts_anywhere)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    make_killed("killed");
    lx_dataset *dataset = open_dataset("killed");
    unit_ok(lx_dataset_backup(dataset, "b", NULL, NULL, &error));
    lx_dataset_close(dataset);
    ck_assert_uint_eq(last_flags("b"), SYNCED);
    expect_found("b", LENGTH);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/joint", a_small_commit_syncs_data_and_log_at_once,
          frames_that_are_not_synced_come_before_none,
          the_log_of_a_sealed_dataset_ends_with_none, in_another_boot_one_counts_that_is_intact,
          one_that_lost_a_payload_does_not, a_payload_of_before_is_not_looked_at,
          frames_behind_one_of_another_boot_do_not_count, a_durable_reader_syncs_what_it_finds,
          a_sync_of_either_that_fails_ends_the_writer, a_backup_counts_anywhere)
