/* SPDX-License-Identifier: MIT */
/* Periodic durability: a synced frame follows within about a second of unsynced ones. */
#include "../../skip-clock.h"
#include "../frames.h"
#include "../records.h"
#include "zrecord/write/sync-timer.h"
#include "zrecord/write/writer.h"

/** Skips time, and lets threads do what is due; that they do nothing can only be noticed then. */
static void skip(uint64_t nanoseconds)
{
    clock_skip((int64_t)nanoseconds);
    nap_ms(50);
}

/** Counts the synced frames in the log, and all frames. */
static void count_frames(const char *path, unsigned *synced, unsigned *all)
{
    size_t size;
    lx__frame frame;
    uint8_t *bytes = file_bytes(in(path, "LOG"), &size);
    *synced = *all = 0;
    for (size_t at = 0; at < size; at += frame.bytes, ++*all) {
        ck_assert(lx__frame_load(&frame, bytes + at));
        *synced += (frame.flags & SYNCED) != 0;
    }
    free(bytes);
}

/** Lets time pass until so many frames are synced. */
static void await_synced(const char *path, unsigned wanted)
{
    unsigned synced, all;
    for (int tries = 0;; tries++) {
        count_frames(path, &synced, &all);
        if (synced >= wanted)
            return;
        ck_assert_msg(tries < 5000, "there is no synced frame");
        clock_skip(LX__SYNC_INTERVAL / 10);
        nap_ms(10);
    }
}

static uint64_t durable_length(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    unit_ok(open_as(path, LX_VERIFY_FIRST, true, &dataset, &error));
    uint64_t length = lx_dataset_get_length(dataset);
    lx_dataset_close(dataset);
    return length;
}

START_TEST(a_commit_is_synced_after_a_second)
{
    char *scratch = scratch_make();
    unsigned synced, all;
    clock_stop();
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_PERIODIC));
    for (int round = 0; round < 2; round++) {
        records_append(writer, 5);
        commit(writer);
        skip(LX__SYNC_INTERVAL - 1);
        count_frames("d", &synced, &all);
        ck_assert_uint_eq(synced, 1 + (unsigned)round);
        ck_assert_uint_eq(durable_length("d"), 5 * (uint64_t)round);
        await_synced("d", 2 + (unsigned)round);
        ck_assert_uint_eq(durable_length("d"), 5 * (uint64_t)round + 5);
    }
    /* Without new frames, no further sync follows. */
    skip(2 * LX__SYNC_INTERVAL);
    count_frames("d", &synced, &all);
    ck_assert_uint_eq(all, 5);
    close_writer(writer);
    count_frames("d", &synced, &all);
    ck_assert_uint_eq(all, 5);
    scratch_remove(scratch);
}
END_TEST

START_TEST(none_has_no_timer)
{
    char *scratch = scratch_make();
    unsigned synced, all;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    records_append(writer, 5);
    commit(writer);
    skip(2 * LX__SYNC_INTERVAL);
    count_frames("d", &synced, &all);
    ck_assert(synced == 1 && all == 2);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(syncs_a_busy_writer)
{
    char *scratch = scratch_make();
    unsigned synced, all;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_PERIODIC));
    clock_stop();
    synced = 1;
    for (unsigned round = 1; synced < 4; round++) {
        records_append(writer, 3);
        commit(writer);
        clock_skip(LX__SYNC_INTERVAL / 100);
        usleep(300);
        if (round % 50 != 0)
            continue;
        count_frames("d", &synced, &all);
        ck_assert_msg(synced <= 1 + round / 100, "%u of %u", synced, all);
        ck_assert_msg(round < 4000, "%u of %u", synced, all); /* later, the log is rotated */
    }
    uint64_t length = lx_writer_get_length(writer);
    close_writer(writer);
    ck_assert_uint_eq(durable_length("d"), length);
    scratch_remove(scratch);
}
END_TEST

START_TEST(does_not_commit_pending_calls)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_PERIODIC));
    records_append(writer, 5);
    unit_ok(lx_writer_begin_transaction(writer, &error)); /* commits the five */
    records_append(writer, 7);
    await_synced("d", 2);
    ck_assert_uint_eq(durable_length("d"), 5);
    expect_dataset("d", 5);
    records_append(writer, 1);
    unit_ok(lx_writer_end_transaction(writer, &error));
    expect_dataset("d", 13);
    await_synced("d", 3);
    ck_assert_uint_eq(durable_length("d"), 13);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(skips_a_writer_that_needs_a_rollback)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_PERIODIC));
    records_append(writer, 5);
    commit(writer);
    limit_files(100); /* less than the size of each of its files */
    records_append(writer, 5);
    unit_fails(lx_writer_commit(writer, &error), LX_ERR_IO);
    unlimit_files();
    skip(2 * LX__SYNC_INTERVAL);
    unit_ok(lx_writer_rollback(writer, &error));
    records_append(writer, 5);
    commit(writer);
    await_synced("d", 2);
    close_writer(writer);
    expect_dataset("d", 10);
    scratch_remove(scratch);
}
END_TEST

START_TEST(close_does_not_wait_for_the_timer)
{
    char *scratch = scratch_make();
    clock_stop(); /* so the timer never fires */
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_PERIODIC));
    records_append(writer, 5);
    commit(writer);
    close_writer(writer);
    ck_assert_uint_eq(durable_length("d"), 5);
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_next_call_reports_a_failed_background_sync)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_PERIODIC));
    records_append(writer, 5);
    commit(writer);
    atomic_store(&sync_fails_at, 1);
    unsigned before = atomic_load(&syncs);
    clock_skip(LX__SYNC_INTERVAL);
    for (int tries = 0; atomic_load(&syncs) == before; tries++) {
        ck_assert_msg(tries < 5000, "there is no sync");
        nap_ms(10);
    }
    atomic_store(&sync_fails_at, 0);
    lx_status status = LX_OK; /* until the thread that failed has said so */
    for (int tries = 0; status == LX_OK && tries < 5000; tries++) {
        status = record_append(writer, 5, &error);
        nap_ms(10);
    }
    ck_assert_int_eq(status, LX_ERR_POISONED);
    lx_error_clear(&error);
    unit_fails(lx_writer_close(writer, &error), LX_ERR_POISONED);
    expect_dataset("d", 5); /* a kill would not have lost it either */
    scratch_remove(scratch);
}
END_TEST

START_TEST(syncs_each_commit_without_a_timer)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    unsigned synced, all;
    lx_executor *executor;
    unit_ok(lx_executor_open(NULL, &executor, &error));
    lx_writer_options *options = writer_options(LX_DURABILITY_PERIODIC);
    unit_ok(lx_writer_options_set_executor(options, executor, &error));
    lx_writer *writer = records_create("d", options);
    records_append(writer, 5);
    commit(writer);
    lx_executor_close(executor); /* stops the timer, too */
    for (int i = 0; i < 3; i++) {
        records_append(writer, 5);
        commit(writer);
        count_frames("d", &synced, &all);
        ck_assert_uint_eq(synced, 2 + (unsigned)i);
    }
    close_writer(writer);
    expect_dataset("d", 20);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/sync-timer", a_commit_is_synced_after_a_second, none_has_no_timer,
          syncs_a_busy_writer, does_not_commit_pending_calls, skips_a_writer_that_needs_a_rollback,
          close_does_not_wait_for_the_timer, the_next_call_reports_a_failed_background_sync,
          syncs_each_commit_without_a_timer)
