/* SPDX-License-Identifier: MIT */
#include "zrecord/writer.h"

#include <pthread.h>
#include <sys/mount.h>
#include <sched.h>

#include "records.h"

/* ---- options */

START_TEST(options_are_checked)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = lx_writer_options_new();
    unit_ok(lx_writer_options_set_durability(options, LX_DURABILITY_NONE, &error));
    unit_fails(lx_writer_options_set_durability(options, (lx_durability)3, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_writer_options_set_durability(options, (lx_durability)-1, &error), LX_ERR_ARGUMENT);
    unit_ok(lx_writer_options_set_level(options, 1, &error));
    unit_ok(lx_writer_options_set_level(options, 9, &error));
    unit_fails(lx_writer_options_set_level(options, 0, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_writer_options_set_level(options, 10, &error), LX_ERR_ARGUMENT);
    unit_ok(lx_writer_options_set_chunk(options, 1, 4096, &error));
    unit_ok(lx_writer_options_set_chunk(options, UINT32_MAX, 1ull << 40, &error));
    unit_fails(lx_writer_options_set_chunk(options, 0, 4096, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_writer_options_set_chunk(options, 1ull << 32, 4096, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_writer_options_set_chunk(options, 1, 4095, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_writer_options_set_chunk(options, 1, (1ull << 40) + 1, &error), LX_ERR_ARGUMENT);
    unit_ok(lx_writer_options_set_executor(options, NULL, &error));
    lx_writer_options_free(options);
    lx_writer_options_free(NULL);
}
END_TEST

START_TEST(what_was_chosen_at_creation_stays)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_options_set_chunk(options, 7, 5000, &error));
    close_writer(records_create("d", options));
    options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_options_set_chunk(options, 70, 50000, &error));
    lx_writer *writer = records_reopen("d", options);
    records_append(writer, 30);
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    lx_statistics totals;
    unit_ok(lx_dataset_stat(dataset, &totals, NULL, &error));
    ck_assert_uint_eq(totals.chunk_records, 7);
    ck_assert_uint_eq(totals.chunk_limit, 5000);
    ck_assert_uint_gt(totals.chunks, 5);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_level_counts)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint64_t sizes[2];
    for (int i = 0; i < 2; i++) {
        const char *path = i == 0 ? "fast" : "small";
        lx_schema *schema = lx_schema_new();
        lx_writer *writer;
        lx_writer_options *options = writer_options(LX_DURABILITY_NONE);
        static uint8_t text[200000];
        for (size_t k = 0; k < sizeof text; k++)
            text[k] = (uint8_t)("etaoin shrdlu"[mix(k / 3) % 13] + (mix(k) % 9 == 0));
        unit_ok(lx_schema_add_field(schema, "text", LX_BYTES, NULL, 0, LX_FLATE, &error));
        unit_ok(lx_writer_options_set_level(options, i == 0 ? 1 : 9, &error));
        unit_ok(lx_writer_create(path, schema, options, &writer, &error));
        lx_value value = {text, sizeof text};
        unit_ok(lx_writer_append(writer, &value, NULL, &error));
        close_writer(writer);
        lx_writer_options_free(options);
        lx_schema_free(schema);
        sizes[i] = file_size(in(path, "chunk/0.zr"));
    }
    ck_assert_uint_lt(sizes[1], sizes[0]);
    scratch_remove(scratch);
}
END_TEST

/* ---- opening */

START_TEST(what_cannot_be_opened_is_told)
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
    ck_assert(!file_exists("d/LOCK")); /* nothing is made where there is no dataset */
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

START_TEST(a_sealed_dataset_is_not_written_to)
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

START_TEST(a_writer_shows_its_schema_and_its_length)
{
    char *scratch = scratch_make();
    lx_writer *writer = records_create("d", NULL);
    const lx_schema *schema = lx_writer_get_schema(writer);
    ck_assert_uint_eq(lx_schema_get_count(schema), FIELDS);
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

START_TEST(closing_commits)
{
    char *scratch = scratch_make();
    static const lx_durability all[] = {LX_DURABILITY_FULL, LX_DURABILITY_PERIODIC, LX_DURABILITY_NONE};
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

/* ---- transactions */

START_TEST(a_transaction_is_one_commit)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, 3);
    unit_ok(lx_writer_begin(writer, &error)); /* commits the three */
    expect_dataset("d", 3);
    for (int i = 0; i < 10; i++) {
        records_append(writer, 1000);
        unit_fails(lx_writer_commit(writer, &error), LX_ERR_STATE);
        unit_fails(lx_writer_begin(writer, &error), LX_ERR_STATE);
        unit_fails(lx_writer_seal(writer, &error), LX_ERR_STATE);
        unit_ok(lx_writer_sync(writer, &error)); /* of what is committed */
    }
    expect_dataset("d", 3);
    unit_ok(lx_writer_end(writer, &error));
    lx_dataset *dataset = open_dataset("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 10003);
    for (uint64_t i = 0; i < 10003; i += 501)
        expect_value(dataset, BLOB, i);
    lx_dataset_close(dataset);
    unit_fails(lx_writer_end(writer, &error), LX_ERR_STATE);
    records_append(writer, 1);
    commit(writer);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_rollback_undoes_what_is_not_committed)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = writer_options(LX_DURABILITY_NONE);
    unit_ok(lx_writer_options_set_chunk(options, 100, 8192, &error));
    lx_writer *writer = records_create("d", options);
    uint64_t length = 0;
    for (uint64_t round = 0; round < 8; round++) {
        unit_ok(lx_writer_begin(writer, &error));
        records_append(writer, 1 + 400 * (round % 3));
        unit_ok(lx_writer_rollback(writer, &error)); /* ends the transaction */
        ck_assert_uint_eq(lx_writer_get_length(writer), length);
        unit_ok(lx_writer_rollback(writer, &error)); /* there is nothing to undo */
        records_append(writer, 700);
        unit_ok(lx_writer_rollback(writer, &error));
        records_append(writer, 17);
        commit(writer);
        length += 17;
        expect_dataset("d", length);
    }
    close_writer(writer);
    expect_dataset("d", length);
    close_writer(records_reopen("d", NULL));
    expect_dataset("d", length);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_transaction_that_is_open_at_close_is_undone)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, 3);
    unit_ok(lx_writer_begin(writer, &error));
    records_append(writer, 5);
    close_writer(writer);
    expect_dataset("d", 3);
    scratch_remove(scratch);
}
END_TEST

/* ---- limits of the system */

START_TEST(a_thousand_chunks_under_64_descriptors)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    limit_descriptors(64);
    lx_writer_options *options = writer_options(LX_DURABILITY_NONE);
    unit_ok(lx_writer_options_set_chunk(options, 1, 1 << 20, &error));
    lx_writer *writer = records_create("d", options);
    lx_statistics totals = {0};
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
    expect_dataset("d", length); /* reading, beside the writer */
    close_writer(writer);
    writer = records_reopen("d", NULL);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    expect_dataset("d", length);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_real_full_disk)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    ck_assert_int_eq(mkdir("disk", 0777), 0);
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "disk", "tmpfs", 0, "size=2m") != 0) {
        fprintf(stderr, "a_real_full_disk: skipped, no file system can be mounted here\n");
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

/* ---- fork and threads */

/** Calls everything in a child; each must say so, and none may hang. Check's own macros are not used:
 * they take locks that another thread of the parent may have held. */
static void use_in_child(lx_writer *writer)
{
    lx_error error = LX_ERROR_INIT;
    lx_values columns[FIELDS] = {{0}};
    signal(SIGALRM, SIG_DFL);
    alarm(20);
    if (record_append(writer, 0, &error) != LX_ERR_FORKED || error.status != LX_ERR_FORKED)
        _exit(1);
    if (lx_writer_extend(writer, 1, columns, NULL, NULL) != LX_ERR_FORKED)
        _exit(2);
    if (lx_writer_commit(writer, NULL) != LX_ERR_FORKED)
        _exit(3);
    if (lx_writer_sync(writer, NULL) != LX_ERR_FORKED)
        _exit(4);
    if (lx_writer_begin(writer, NULL) != LX_ERR_FORKED)
        _exit(5);
    if (lx_writer_end(writer, NULL) != LX_ERR_FORKED)
        _exit(6);
    if (lx_writer_rollback(writer, NULL) != LX_ERR_FORKED)
        _exit(7);
    if (lx_writer_seal(writer, NULL) != LX_ERR_FORKED)
        _exit(8);
    (void)lx_writer_get_length(writer);
    _exit(lx_writer_close(writer, NULL) != LX_ERR_FORKED ? 9 : 0);
}

START_TEST(a_child_is_told_that_it_is_one)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_PERIODIC)), *other;
    records_append(writer, 5000);
    commit(writer);
    records_append(writer, 5);
    pid_t child = fork();
    if (child == 0)
        use_in_child(writer);
    child_ends(child);
    /* The lock is still the parent's, and so is the dataset. */
    unit_fails(lx_writer_open("d", NULL, &other, &error), LX_ERR_BUSY);
    records_append(writer, 5);
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 5010);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

struct busy {
    lx_writer *writer;
    atomic_bool stop;
    pthread_t threads[2];
};

static void *append_for_ever(void *user)
{
    struct busy *busy = user;
    lx_error error = LX_ERROR_INIT;
    for (uint64_t i = 0; !atomic_load(&busy->stop); i++) {
        unit_ok(record_append(busy->writer, i, &error));
        if (i % 50 == 0)
            unit_ok(lx_writer_commit(busy->writer, &error));
    }
    return NULL;
}

START_TEST(a_child_of_a_busy_writer_does_not_hang)
{
    char *scratch = scratch_make();
    struct busy busy = {.writer = records_create("d", writer_options(LX_DURABILITY_PERIODIC))};
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&busy.threads[i], NULL, append_for_ever, &busy), 0);
    for (int i = 0; i < (SANITIZED ? 10 : 60); i++) {
        nap_ms(1 + (unsigned)i % 7);
        pid_t child = fork();
        if (child == 0)
            use_in_child(busy.writer);
        child_ends(child);
    }
    atomic_store(&busy.stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(busy.threads[i], NULL);
    close_writer(busy.writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(an_executor_of_ones_own_is_used)
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
    unit_ok(lx_executor_read_stats(executor, LX_QUEUE_WRITE, &stats, &error));
    ck_assert_uint_gt(stats.tasks, 0);
    lx_executor_close(executor);
    scratch_remove(scratch);
}
END_TEST

START_TEST(an_executor_closed_under_a_writer_is_no_hang)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor;
    unit_ok(lx_executor_open(NULL, &executor, &error));
    lx_writer_options *options = writer_options(LX_DURABILITY_PERIODIC);
    unit_ok(lx_writer_options_set_executor(options, executor, &error));
    lx_writer *writer = records_create("d", options);
    records_append(writer, 100);
    commit(writer);
    lx_executor_close(executor);
    lx_status status = LX_OK;
    for (uint64_t i = 0; i < 100000 && status == LX_OK; i++)
        status = record_append(writer, 100 + i, &error);
    expect_error(status, LX_ERR_STATE, "executor", "");
    unit_fails(lx_writer_commit(writer, &error), LX_ERR_STATE);
    unit_ok(lx_writer_rollback(writer, &error));
    records_append(writer, 100); /* a little can be placed by the caller */
    unit_ok(lx_writer_close(writer, &error));
    expect_dataset("d", 200);
    scratch_remove(scratch);
}
END_TEST

static lx_status append_in_a_task(void *user, size_t part, lx_error *error)
{
    lx_status status = LX_OK;
    (void)part;
    for (uint64_t i = 0; status == LX_OK && i < 9000; i++) /* more than one stage */
        status = record_append(user, lx_writer_get_length(user), error);
    return status == LX_OK ? lx_writer_commit(user, error) : status;
}

/** A task that appends waits for one of the same queue, whose only thread is its own. */
START_TEST(a_task_of_the_write_queue_may_append)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor;
    lx_ticket *ticket;
    unit_ok(lx_executor_open(NULL, &executor, &error));
    ck_assert_uint_eq(lx_executor_get_writers(executor), 1);
    lx_writer_options *options = writer_options(LX_DURABILITY_PERIODIC);
    unit_ok(lx_writer_options_set_executor(options, executor, &error));
    lx_writer *writer = records_create("d", options);
    unit_ok(lx_executor_submit(executor, LX_QUEUE_WRITE, append_in_a_task, writer, 1, &ticket,
                               &error));
    unit_ok(lx_ticket_wait(ticket, &error));
    lx_ticket_unref(ticket);
    close_writer(writer);
    lx_executor_close(executor);
    expect_dataset("d", 9000);
    scratch_remove(scratch);
}
END_TEST

START_TEST(null_is_refused_by_its_name)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = records_schema();
    lx_writer *writer;
    lx_values columns[FIELDS] = {{NULL, NULL, NULL}};
    unit_refuses_null(lx_writer_options_set_durability(NULL, LX_DURABILITY_FULL, &error),
                      "options");
    unit_refuses_null(lx_writer_options_set_chunk(NULL, 1, 4096, &error), "options");
    unit_refuses_null(lx_writer_options_set_level(NULL, 1, &error), "options");
    unit_refuses_null(lx_writer_options_set_executor(NULL, NULL, &error), "options");
    unit_refuses_null(lx_writer_create(NULL, schema, NULL, &writer, &error), "path");
    unit_refuses_null(lx_writer_create("d", NULL, NULL, &writer, &error), "schema");
    unit_refuses_null(lx_writer_create("d", schema, NULL, NULL, &error), "writer");
    unit_refuses_null(lx_writer_open(NULL, NULL, &writer, &error), "path");
    unit_refuses_null(lx_writer_open("d", NULL, NULL, &error), "writer");
    unit_refuses_null(lx_writer_append(NULL, (lx_value *)columns, NULL, &error), "writer");
    unit_refuses_null(lx_writer_extend(NULL, 0, columns, NULL, &error), "writer");
    unit_refuses_null(lx_writer_commit(NULL, &error), "writer");
    unit_refuses_null(lx_writer_sync(NULL, &error), "writer");
    unit_refuses_null(lx_writer_begin(NULL, &error), "writer");
    unit_refuses_null(lx_writer_end(NULL, &error), "writer");
    unit_refuses_null(lx_writer_rollback(NULL, &error), "writer");
    unit_refuses_null(lx_writer_seal(NULL, &error), "writer");
    unit_ok(lx_writer_close(NULL, &error));
    lx_writer_options_free(NULL);
    ck_assert(!file_exists("d"));
    writer = records_create("d", NULL);
    unit_refuses_null(lx_writer_append(writer, NULL, NULL, &error), "values");
    unit_refuses_null(lx_writer_extend(writer, 1, NULL, NULL, &error), "columns");
    records_append(writer, 3); /* none of this was a failed append */
    close_writer(writer);
    expect_dataset("d", 3);
    lx_schema_free(schema);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/writer", options_are_checked, what_was_chosen_at_creation_stays,
          the_level_counts, what_cannot_be_opened_is_told, a_sealed_dataset_is_not_written_to,
          a_writer_shows_its_schema_and_its_length, closing_commits, a_transaction_is_one_commit,
          a_rollback_undoes_what_is_not_committed, a_transaction_that_is_open_at_close_is_undone,
          a_thousand_chunks_under_64_descriptors, a_real_full_disk, a_child_is_told_that_it_is_one,
          a_child_of_a_busy_writer_does_not_hang, an_executor_of_ones_own_is_used,
          an_executor_closed_under_a_writer_is_no_hang, a_task_of_the_write_queue_may_append,
          null_is_refused_by_its_name)
