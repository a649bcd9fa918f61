/* SPDX-License-Identifier: MIT */
/* Preallocated zeros after the last frame: doc/zrecord-format.md, 8.1 and 10.4. */
#include <sys/wait.h>
#include <unistd.h>

#include "../change.h"

#define MOST (256u << 10)

/** The number of zeros between the last frame and the end of the file. */
static uint64_t zeros_of(const char *path)
{
    size_t size, frames;
    free(log_bytes(path, &frames));
    uint8_t *bytes = file_bytes(path, &size);
    for (size_t i = frames; i < size; i++)
        ck_assert_uint_eq(bytes[i], 0);
    free(bytes);
    return size - frames;
}

/** Leaves a dataset "d" of @p commits commits as after a kill. */
static void make_killed(int commits)
{
    pid_t child = fork();
    ck_assert_int_ne(child, -1);
    if (child == 0) {
        lx_writer *writer = records_create("d", NULL);
        for (int i = 0; i < commits; i++) {
            records_append(writer, 3);
            commit(writer);
        }
        _exit(0);
    }
    int how;
    ck_assert_int_eq(waitpid(child, &how, 0), child);
    ck_assert(WIFEXITED(how) && WEXITSTATUS(how) == 0);
}

START_TEST(doubles_the_log_and_is_removed_at_close)
{
    char *scratch = scratch_make();
    lx_writer *writer = records_create("d", NULL);
    uint64_t most = 0, size = 0;
    unsigned grown = 0;
    ck_assert_uint_eq(zeros_of("d/LOG"), 0);
    for (int i = 0; i < 60; i++) {
        records_append(writer, 10);
        commit(writer);
        uint64_t zeros = zeros_of("d/LOG"), now = file_size("d/LOG");
        ck_assert_uint_eq(now % 4096, 0);
        ck_assert_uint_le(zeros, log_size("d/LOG") + 2 * 4096);
        grown += now != size;
        size = now;
        most = zeros > most ? zeros : most;
    }
    ck_assert_uint_gt(most, 4096);
    ck_assert_uint_lt(grown, 10); /* most frames made the file no longer */
    close_writer(writer);
    ck_assert_uint_eq(zeros_of("d/LOG"), 0);
    expect_dataset("d", 600);
    scratch_remove(scratch);
}
END_TEST

START_TEST(continues_over_zeros_after_a_rollback)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    for (int i = 0; i < 20; i++) {
        records_append(writer, 7);
        commit(writer);
        records_append(writer, 300);
        unit_ok(lx_writer_rollback(writer, &error));
    }
    close_writer(writer);
    expect_dataset("d", 140);
    scratch_remove(scratch);
}
END_TEST

START_TEST(adds_no_zeros_after_a_large_frame)
{
    char *scratch = scratch_make();
    lx_writer *writer = records_create("d", NULL);
    for (int i = 0; i < 4; i++) {
        records_append(writer, 800); /* 160,000 bytes of updates */
        commit(writer);
        ck_assert_uint_eq(zeros_of("d/LOG"), 0);
    }
    records_append(writer, 1);
    commit(writer);
    ck_assert_uint_gt(zeros_of("d/LOG"), MOST - 4096);
    ck_assert_uint_le(zeros_of("d/LOG"), MOST + 4096);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(adds_no_zeros_unless_each_commit_is_synced)
{
    char *scratch = scratch_make();
    static const lx_durability durabilities[] = {LX_DURABILITY_PERIODIC, LX_DURABILITY_NONE};
    for (size_t i = 0; i < 2; i++) {
        const char *path = i == 0 ? "p" : "n";
        lx_writer *writer = records_create(path, writer_options(durabilities[i]));
        for (int k = 0; k < 5; k++) {
            records_append(writer, 2);
            commit(writer);
        }
        ck_assert_uint_eq(zeros_of(in(path, "LOG")), 0);
        close_writer(writer);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(readers_ignore_the_zeros)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    bool changed;
    lx_writer *writer = records_create("d", NULL);
    lx_dataset *dataset = open_dataset("d");
    for (uint64_t i = 1; i <= 40; i++) {
        records_append(writer, i % 5 * 20 + 1);
        commit(writer);
        unit_ok(lx_dataset_refresh(dataset, &changed, &error));
        ck_assert(changed);
        ck_assert_uint_eq(lx_dataset_get_length(dataset), lx_writer_get_length(writer));
        unit_ok(lx_dataset_refresh(dataset, &changed, &error));
        ck_assert(!changed);
    }
    uint64_t length = lx_writer_get_length(writer);
    close_writer(writer);
    unit_ok(lx_dataset_refresh(dataset, &changed, &error));
    ck_assert_uint_eq(lx_dataset_get_length(dataset), length);
    lx_dataset_close(dataset);
    expect_dataset("d", length);
    scratch_remove(scratch);
}
END_TEST

START_TEST(zeros_of_a_killed_writer_are_removed_at_the_next_opening)
{
    char *scratch = scratch_make();
    make_killed(5);
    uint64_t size = file_size("d/LOG"), frames = log_size("d/LOG");
    ck_assert_uint_gt(size, frames);
    expect_dataset("d", 15);
    ck_assert_uint_eq(file_size("d/LOG"), size); /* a reader changes nothing */
    lx_writer *writer = records_reopen("d", writer_options(LX_DURABILITY_NONE));
    ck_assert_uint_eq(file_size("d/LOG"), frames);
    close_writer(writer);
    expect_dataset("d", 15);
    scratch_remove(scratch);
}
END_TEST

/* A lost page of the log reads as zeros, too. */
START_TEST(a_zeroed_frame_is_damage_at_the_next_opening)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    const uint8_t zeros[EMPTY_FRAME] = {0};
    bool changed;
    lx_dataset *dataset, *other;
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, 3);
    commit(writer);
    uint64_t end = log_size("d/LOG");
    dataset = open_dataset("d");
    records_append(writer, 3);
    commit(writer);
    records_append(writer, 3);
    commit(writer);
    file_patch("d/LOG", end, zeros, sizeof zeros);
    lx_status status = lx_dataset_open("d", NULL, &other, &error);
    ck_assert_uint_eq(error.offset, end);
    expect_error(status, LX_ERR_CORRUPT, "WAL frame 2 is damaged", "d/LOG");
    unit_ok(lx_dataset_refresh(dataset, &changed, &error)); /* continues with the present zeros */
    ck_assert(!changed);
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 3);
    lx_dataset_close(dataset);
    (void)lx_writer_close(writer, NULL);
    scratch_remove(scratch);
}
END_TEST

START_TEST(commits_succeed_without_space_for_zeros)
{
    char *scratch = scratch_make();
    lx_writer *writer = records_create("d", NULL);
    for (int i = 0; i < 30; i++) {
        records_append(writer, 1);
        limit_files(i == 0 ? 2000 : log_size("d/LOG") + 500);
        commit(writer);
        unlimit_files();
        ck_assert_uint_eq(zeros_of("d/LOG"), 0);
    }
    records_append(writer, 1);
    commit(writer);
    ck_assert_uint_gt(zeros_of("d/LOG"), 0); /* there is room again */
    close_writer(writer);
    expect_dataset("d", 31);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_new_log_and_a_sealed_one_have_no_zeros)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, 25);
    unit_ok(lx_writer_checkpoint(writer, &error));
    unit_ok(lx_writer_truncate(writer, 3, &error));
    records_append(writer, 17);
    commit(writer);
    ck_assert_uint_gt(zeros_of("d/LOG"), 0);
    unit_ok(lx_writer_checkpoint(writer, &error));
    ck_assert_uint_eq(zeros_of("d/LOG.1"), 0);
    records_append(writer, 20);
    commit(writer);
    ck_assert_uint_gt(zeros_of("d/LOG.1"), 0);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    expect_dataset("d", 40);
    lx_dataset *dataset;
    unit_ok(lx_dataset_open("d", NULL, &dataset, &error));
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/preallocate", doubles_the_log_and_is_removed_at_close,
          continues_over_zeros_after_a_rollback, adds_no_zeros_after_a_large_frame,
          adds_no_zeros_unless_each_commit_is_synced, readers_ignore_the_zeros,
          zeros_of_a_killed_writer_are_removed_at_the_next_opening,
          a_zeroed_frame_is_damage_at_the_next_opening, commits_succeed_without_space_for_zeros,
          a_new_log_and_a_sealed_one_have_no_zeros)
