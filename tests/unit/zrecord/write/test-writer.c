/* SPDX-License-Identifier: MIT */
#include "zrecord/write/writer.h"

#include <pthread.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sched.h>

#include "../records.h"

/* ---- opening */

START_TEST(reports_why_opening_fails)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = NULL;
    unit_fails(lx_writer_open(NULL, NULL, &writer, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_writer_open("d", NULL, NULL, &error), LX_ERR_ARGUMENT);
    lx_status status = lx_writer_open("d", NULL, &writer, &error);
    expect_error(status, LX_ERR_NOT_FOUND, "", "d");
    ck_assert_int_eq(mkdir("d", 0777), 0);
    status = lx_writer_open("d", NULL, &writer, &error);
    expect_error(status, LX_ERR_NOT_FOUND, "", "d/meta.json");
    ck_assert(!file_exists("d/LOCK")); /* nothing is created without a dataset */
    file_put("file", "mine", 4);
    status = lx_writer_open("file", NULL, &writer, &error);
    expect_error(status, LX_ERR_NOT_FOUND, "", "file");
    ck_assert_int_eq(remove("d"), 0);
    records_make("d", 3, 2);
    file_edit("d/meta.json", "\"must\": []", "\"must\": [\"tiles\"]");
    status = lx_writer_open("d", NULL, &writer, &error);
    expect_error(status, LX_ERR_UNSUPPORTED, "tiles", "d/meta.json");
    ck_assert_ptr_null(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_a_sealed_dataset)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = NULL;
    records_make_sealed("d", 5);
    lx_status status = lx_writer_open("d", NULL, &writer, &error);
    expect_error(status, LX_ERR_STATE, "sealed", "d");
    ck_assert_ptr_null(writer);
    expect_dataset("d", 5);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_its_schema_and_length)
{
    char *scratch = scratch_make();
    lx_writer *writer = records_create("d", NULL);
    const lx_schema *schema = lx_writer_get_schema(writer);
    ck_assert_uint_eq(lx_schema_get_field_count(schema), FIELDS);
    ck_assert_str_eq(lx_schema_get_field(schema, BLOB)->name, "blob");
    ck_assert_uint_eq(lx_writer_get_length(writer), 0);
    records_append(writer, 7);
    ck_assert_uint_eq(lx_writer_get_length(writer), 7);
    close_writer(writer);
    writer = records_reopen("d", NULL);
    ck_assert_uint_eq(lx_writer_get_length(writer), 7);
    ck_assert_str_eq(lx_schema_get_field(lx_writer_get_schema(writer), WAVE)->name, "wave");
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(close_commits)
{
    char *scratch = scratch_make();
    static const lx_durability all[] = {LX_DURABILITY_FULL, LX_DURABILITY_PERIODIC,
                                        LX_DURABILITY_NONE};
    for (size_t i = 0; i < 3; i++) {
        char path[] = {(char)('a' + i), '\0'};
        lx_writer *writer = records_create(path, writer_options(all[i]));
        records_append(writer, 20);
        close_writer(writer);
        expect_dataset(path, 20);
    }
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_close(NULL, &error));
    scratch_remove(scratch);
}
END_TEST

/* ---- limits of the system */

START_TEST(writes_a_thousand_chunks_with_64_descriptors)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    limit_descriptors(64);
    lx_writer_options *options = writer_options(LX_DURABILITY_NONE);
    unit_ok(lx_writer_options_set_chunk_limits(options, 1, 1 << 20, &error));
    lx_writer *writer = records_create("d", options);
    lx_storage_stats totals = {0};
    for (int i = 0; totals.chunks < 1000; i++) {
        records_append(writer, 60);
        if (i % 2 == 0)
            commit(writer);
        else
            unit_ok(lx_writer_sync(writer, &error));
        lx_dataset *dataset = open_dataset("d");
        unit_ok(lx_dataset_stat(dataset, &totals, NULL, &error));
        lx_dataset_close(dataset);
    }
    uint64_t length = lx_writer_get_length(writer);
    expect_dataset("d", length); /* reading, while the writer writes */
    close_writer(writer);
    writer = records_reopen("d", NULL);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    expect_dataset("d", length);
    scratch_remove(scratch);
}
END_TEST

/** Mounts a small file system at the folder disk. */
static bool make_disk(const char *size)
{
    ck_assert_int_eq(mkdir("disk", 0777), 0);
    if (unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
        mount("none", "disk", "tmpfs", 0, size) == 0)
        return true;
    fprintf(stderr, "skipped: no file system can be mounted here\n");
    return false;
}

START_TEST(survives_a_full_disk)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    if (!make_disk("size=2m")) {
        scratch_remove(scratch);
        return;
    }
    lx_writer *writer = records_create("disk/d", writer_options(LX_DURABILITY_NONE));
    records_append(writer, 50);
    commit(writer);
    lx_status status = LX_OK;
    for (int i = 0; i < 100 && status == LX_OK; i++) {
        for (int k = 0; k < 500 && status == LX_OK; k++)
            status = record_append(writer, lx_writer_get_length(writer), &error);
        if (status == LX_OK)
            status = lx_writer_commit(writer, &error);
    }
    ck_assert_int_eq(status, LX_ERR_IO);
    ck_assert_int_eq(error.errnum, ENOSPC);
    lx_error_clear(&error);
    unit_ok(lx_writer_rollback(writer, &error));
    uint64_t length = lx_writer_get_length(writer);
    ck_assert_uint_ge(length, 50);
    expect_dataset("disk/d", length);
    ck_assert_int_eq(mount("none", "disk", "tmpfs", MS_REMOUNT, "size=8m"), 0);
    records_append(writer, 500);
    close_writer(writer);
    expect_dataset("disk/d", length + 500);
    ck_assert_int_eq(umount("disk"), 0);
    scratch_remove(scratch);
}
END_TEST

/* Calls that write to chunks and tables, until one fails. */

static lx_status append_many(lx_writer *writer, lx_error *error)
{
    lx_status status = LX_OK;
    for (int i = 0; i < 100000 && status == LX_OK; i++)
        status = record_append(writer, lx_writer_get_length(writer), error);
    return status;
}

static lx_status modify_many(lx_writer *writer, lx_error *error)
{
    uint8_t memory[FIELDS][VALUE_MAX];
    static const size_t fields[] = {IMAGE, LABEL, WAVE, CAPTION, BLOB};
    lx_value values[FIELDS];
    lx_status status = LX_OK;
    for (int i = 0; i < 100000 && status == LX_OK; i++) {
        record_values((uint64_t)i, memory, values);
        status = lx_writer_modify(writer, (uint64_t)i % 2000, fields, values, FIELDS, error);
    }
    return status;
}

static lx_status add_field(lx_writer *writer, lx_error *error)
{
    const int64_t seven = 7;
    const lx_value value = {.data = &seven, .size = sizeof seven};
    return lx_writer_add_field_default(writer, "new", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, &value,
                                       error);
}

static lx_status rebalance(lx_writer *writer, lx_error *error)
{
    return lx_writer_rebalance(writer, NULL, NULL, NULL, error);
}

static lx_status (*const filling[])(lx_writer *, lx_error *) = {append_many, modify_many, add_field,
                                                                rebalance, lx_writer_checkpoint};

static uint64_t free_bytes(void)
{
    struct statvfs about;
    ck_assert_int_eq(statvfs("disk", &about), 0);
    return about.f_bavail * about.f_bsize;
}

/** Fills the disk but for @p left bytes. */
static void fill_disk(uint64_t left)
{
    FILE *file = fopen("disk/other", "wb");
    static const char block[4096];
    ck_assert_ptr_nonnull(file);
    while (free_bytes() > left && fwrite(block, sizeof block, 1, file) == 1)
        fflush(file);
    fclose(file);
}

/** Runs the call in a child, which rolls it back or, if @p killed, ends at once. */
static void fill(size_t which, bool killed)
{
    if (!unit_in_child())
        return;
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_status status = lx_writer_open("disk/d", NULL, &writer, &error);
    if (status == LX_OK)
        status = filling[which](writer, &error);
    if (status == LX_OK)
        status = lx_writer_commit(writer, &error);
    if (!killed && lx_writer_rollback(writer, NULL) == LX_OK)
        (void)lx_writer_close(writer, NULL);
    _exit(status == LX_ERR_IO && error.errnum == ENOSPC ? 0 : 1);
}

static uint64_t leftovers(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_storage_stats totals;
    lx_dataset *dataset = open_dataset("disk/d");
    unit_ok(lx_dataset_stat(dataset, &totals, NULL, &error));
    lx_dataset_close(dataset);
    return totals.leftover_bytes;
}

static void check_fill(size_t which, bool killed)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("disk/d", writer_options(LX_DURABILITY_NONE));
    records_append(writer, 2000);
    close_writer(writer);
    fill_disk(40 << 10);
    uint64_t before = free_bytes();
    fill(which, killed);
    if (killed)
        ck_assert_uint_gt(leftovers(), 0);
    writer = records_reopen("disk/d", NULL);
    ck_assert_uint_ge(free_bytes() + 4096, before);
    ck_assert_uint_eq(leftovers(), 0);
    unit_ok(lx_writer_truncate(writer, 1990, &error)); /* deleting and appending work again */
    unit_ok(lx_writer_delete(writer, 1989, NULL, &error));
    records_append(writer, 1);
    close_writer(writer);
    expect_dataset("disk/d", 1990);
    remove_all("disk/d");
    ck_assert_int_eq(remove("disk/other"), 0);
}

START_TEST(a_full_disk_gets_back_what_was_not_committed)
{
    char *scratch = scratch_make();
    if (make_disk("size=4m")) {
        for (size_t which = 0; which < sizeof filling / sizeof *filling; which++) {
            check_fill(which, false);
            check_fill(which, true);
        }
        ck_assert_int_eq(umount("disk"), 0);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_file_with_two_names_keeps_its_bytes)
{
    char *scratch = scratch_make();
    records_make("d", 3, 2);
    uint64_t size = file_size("d/chunk/0.zr");
    FILE *file = fopen("d/chunk/0.zr", "ab");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fwrite("more", 4, 1, file), 1);
    fclose(file);
    ck_assert_int_eq(link("d/chunk/0.zr", "other"), 0);
    close_writer(records_reopen("d", NULL));
    ck_assert_uint_eq(file_size("other"), size + 4);
    ck_assert_int_eq(unlink("other"), 0);
    close_writer(records_reopen("d", NULL));
    ck_assert_uint_eq(file_size("d/chunk/0.zr"), size);
    expect_dataset("d", 5);
    scratch_remove(scratch);
}
END_TEST

START_TEST(uses_the_given_executor)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor;
    lx_queue_stats stats;
    unit_ok(lx_executor_open(NULL, &executor, &error));
    lx_writer_options *options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_options_set_executor(options, executor, &error));
    lx_writer *writer = records_create("d", options); /* and the options are gone */
    records_append(writer, 20000);
    close_writer(writer);
    unit_ok(lx_executor_get_stats(executor, LX_QUEUE_WRITE, &stats, &error));
    ck_assert_uint_gt(stats.tasks, 0);
    lx_executor_close(executor);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_null_by_name)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = records_schema();
    lx_writer *writer;
    lx_values columns[FIELDS] = {{NULL, NULL, NULL}};
    unit_refuses_null(lx_writer_options_set_durability(NULL, LX_DURABILITY_FULL, &error),
                      "options");
    unit_refuses_null(lx_writer_options_set_chunk_limits(NULL, 1, 4096, &error), "options");
    unit_refuses_null(lx_writer_options_set_compression_level(NULL, 1, &error), "options");
    unit_refuses_null(lx_writer_options_set_executor(NULL, NULL, &error), "options");
    unit_refuses_null(lx_writer_create(NULL, schema, NULL, &writer, &error), "path");
    unit_refuses_null(lx_writer_create("d", NULL, NULL, &writer, &error), "schema");
    unit_refuses_null(lx_writer_create("d", schema, NULL, NULL, &error), "writer");
    unit_refuses_null(lx_writer_open(NULL, NULL, &writer, &error), "path");
    unit_refuses_null(lx_writer_open("d", NULL, NULL, &error), "writer");
    unit_refuses_null(lx_writer_append(NULL, (lx_value *)columns, FIELDS, NULL, &error), "writer");
    unit_refuses_null(lx_writer_extend(NULL, 0, columns, FIELDS, NULL, &error), "writer");
    unit_refuses_null(lx_writer_commit(NULL, &error), "writer");
    unit_refuses_null(lx_writer_sync(NULL, &error), "writer");
    unit_refuses_null(lx_writer_begin_transaction(NULL, &error), "writer");
    unit_refuses_null(lx_writer_end_transaction(NULL, &error), "writer");
    unit_refuses_null(lx_writer_rollback(NULL, &error), "writer");
    unit_refuses_null(lx_writer_seal(NULL, &error), "writer");
    unit_ok(lx_writer_close(NULL, &error));
    lx_writer_options_free(NULL);
    ck_assert(!file_exists("d"));
    writer = records_create("d", NULL);
    unit_refuses_null(lx_writer_append(writer, NULL, FIELDS, NULL, &error), "values");
    unit_refuses_null(lx_writer_extend(writer, 1, NULL, FIELDS, NULL, &error), "columns");
    records_append(writer, 3); /* none of this was a failed append */
    close_writer(writer);
    expect_dataset("d", 3);
    lx_schema_free(schema);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/writer", reports_why_opening_fails, rejects_a_sealed_dataset,
          reports_its_schema_and_length, close_commits,
          writes_a_thousand_chunks_with_64_descriptors, survives_a_full_disk,
          a_full_disk_gets_back_what_was_not_committed, a_file_with_two_names_keeps_its_bytes,
          uses_the_given_executor, rejects_null_by_name)
