/* SPDX-License-Identifier: MIT */
/* lx_dataset_pull() copies a sealed dataset, and continues where an earlier call ended. */
#include "../../scarce.h"
#include "../goldens.h"
#include "../harm.h"

#define COUNT 60

static lx_dataset *open_sealed(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    unit_ok(open_as(path, LX_VERIFY_ALWAYS, false, &dataset, &error));
    return dataset;
}

/** Makes the sealed dataset d, and opens it. */
static lx_dataset *make(void)
{
    records_make_sealed("d", COUNT);
    return open_sealed("d");
}

static void expect_same(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *here = open_sealed("d"), *there = open_sealed(path);
    lx_dataset_identity a, b;
    lx_dataset_get_identity(here, &a);
    lx_dataset_get_identity(there, &b);
    ck_assert(memcmp(&a, &b, sizeof a) == 0);
    expect_records(there, COUNT);
    unit_ok(lx_dataset_verify(there, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(there);
    lx_dataset_close(here);
}

static void pull(lx_dataset *dataset, const char *path)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_dataset_pull(dataset, path, NULL, NULL, &error));
}

/** The progress, and the call at which to stop. */
struct progress {
    uint64_t done, total, calls, stop_at;
    bool kill;
};

static lx_status count(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    struct progress *progress = user;
    (void)error;
    ck_assert(done > progress->done && done <= total);
    progress->done = done;
    progress->total = total;
    if (++progress->calls != progress->stop_at)
        return LX_OK;
    if (progress->kill)
        _exit(0);
    return LX_ERR_CANCELED;
}

START_TEST(a_copy_is_the_same_dataset)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = make();
    struct progress progress = {0};
    unit_ok(lx_dataset_pull(dataset, "copy", count, &progress, &error));
    ck_assert_uint_eq(progress.done, progress.total);
    expect_same("copy");
    ck_assert(!file_exists("copy/meta.json.new"));
    ck_assert_int_eq(mkdir("empty", 0777), 0);
    pull(dataset, "empty");
    expect_same("empty");
    unit_fails(lx_dataset_pull(dataset, "copy", NULL, NULL, &error), LX_ERR_EXISTS);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(continues_after_a_failure_and_after_an_exit)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = make();
    struct progress whole = {0};
    unit_ok(lx_dataset_pull(dataset, "whole", count, &whole, &error));
    for (uint64_t stop = 1; stop <= whole.calls; stop++) {
        uint64_t made = stop; /* the number of steps */
        char name[20];
        snprintf(name, sizeof name, "stopped-%u", (unsigned)stop);
        struct progress progress = {.stop_at = stop};
        unit_fails(lx_dataset_pull(dataset, name, count, &progress, &error), LX_ERR_CANCELED);
        ck_assert_int_eq(access(name, F_OK), 0);
        if (stop + 1 < whole.calls) {
            pid_t child = fork();
            if (child == 0) {
                progress = (struct progress){.stop_at = 1, .kill = true};
                (void)lx_dataset_pull(dataset, name, count, &progress, NULL);
                _exit(1);
            }
            int how;
            ck_assert_int_eq(waitpid(child, &how, 0), child);
            ck_assert_int_eq(how, 0);
            made++;
        }
        /* Nothing is copied twice. */
        progress = (struct progress){0};
        unit_ok(lx_dataset_pull(dataset, name, count, &progress, &error));
        ck_assert_uint_eq(progress.calls, whole.calls - made);
        expect_same(name);
    }
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(keeps_the_bytes_that_are_there)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = make();
    struct progress progress = {.stop_at = 1};
    unit_fails(lx_dataset_pull(dataset, "copy", count, &progress, &error), LX_ERR_CANCELED);
    uint64_t size = file_size("copy/chunk/0.zr");
    ck_assert_uint_eq(size, file_size("d/chunk/0.zr"));
    /* A chunk that was copied in part is completed; one that is too long, shortened. */
    file_cut("copy/chunk/0.zr", 100);
    progress = (struct progress){.stop_at = 1};
    unit_fails(lx_dataset_pull(dataset, "copy", count, &progress, &error), LX_ERR_CANCELED);
    ck_assert_uint_eq(file_size("copy/chunk/0.zr"), size);
    FILE *longer = fopen("copy/chunk/0.zr", "ab");
    ck_assert(longer != NULL && fputs("more", longer) >= 0 && fclose(longer) == 0);
    pull(dataset, "copy");
    expect_same("copy");
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(copies_a_damaged_table_again)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = make();
    struct progress progress = {.stop_at = 1 + 2 * FIELDS};
    unit_fails(lx_dataset_pull(dataset, "copy", count, &progress, &error), LX_ERR_CANCELED);
    const char *table = "copy/image.offset";
    file_flip(table, 8 * 20);
    lx_status status = lx_dataset_pull(dataset, "copy", NULL, NULL, &error);
    expect_error(status, LX_ERR_CORRUPT, "checksum", table);
    pull(dataset, "copy");
    expect_same("copy");
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(overwrites_nothing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = make();
    records_make("open", 10, 0);
    records_make_sealed("other", 20);
    lx_dataset *other = open_sealed("other"), *unsealed = open_sealed("open");
    struct progress progress = {.stop_at = 1};
    unit_fails(lx_dataset_pull(other, "partial", count, &progress, &error), LX_ERR_CANCELED);
    ck_assert_int_eq(mkdir("full", 0777), 0);
    file_put("full/x", "x", 1);
    file_put("file", "x", 1);
    static const char *const taken[] = {"open", "other", "partial", "full", "file"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        unit_fails(lx_dataset_pull(dataset, taken[i], NULL, NULL, &error), LX_ERR_EXISTS);
    unit_fails(lx_dataset_pull(dataset, "no/where", NULL, NULL, &error), LX_ERR_NOT_FOUND);
    unit_fails(lx_dataset_pull(unsealed, "copy", NULL, NULL, &error), LX_ERR_STATE);
    unit_refuses_null(lx_dataset_pull(NULL, "x", NULL, NULL, &error), "dataset");
    unit_refuses_null(lx_dataset_pull(dataset, NULL, NULL, NULL, &error), "path");
    ck_assert(!file_exists("copy"));
    pull(other, "partial");
    lx_dataset_close(unsealed);
    lx_dataset_close(other);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(fails_without_memory_and_continues)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = make();
    lx_status status = LX_ERR_NOMEM;
    for (int memory = 0; status != LX_OK; memory++) {
        ck_assert_int_lt(memory, 400);
        scarce_begin(memory);
        lx_error_clear(&error);
        status = lx_dataset_pull(dataset, "copy", NULL, NULL, &error);
        scarce_begin(100000);
        ck_assert_msg(status == LX_OK || status == LX_ERR_NOMEM, "%s", error.message);
        ck_assert(file_exists("copy/meta.json") == (status == LX_OK));
    }
    expect_same("copy");
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/pull", a_copy_is_the_same_dataset, continues_after_a_failure_and_after_an_exit,
          keeps_the_bytes_that_are_there, copies_a_damaged_table_again, overwrites_nothing,
          fails_without_memory_and_continues)
