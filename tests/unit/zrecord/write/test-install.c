/* SPDX-License-Identifier: MIT */
/* The common part of all installations of generations: doc/zrecord-format.md, 11.1. */
#include "../../scarce.h"
#include "../change.h"
#include "zrecord/write/install.h"
#include "zrecord/write/rotate.h"

static lx_status do_fold(lx_writer *writer, lx_error *error)
{
    return lx_writer_checkpoint(writer, error);
}

static lx_status do_rebalance(lx_writer *writer, lx_error *error)
{
    return lx_writer_rebalance(writer, NULL, NULL, NULL, error);
}

static lx_status do_add(lx_writer *writer, lx_error *error)
{
    return lx_writer_add_field(writer, "score", LX_UINT64, NULL, 0, LX_COMPRESSION_RAW, error);
}

static lx_status rotate_job(lx_writer *writer, void *user, lx_error *error)
{
    (void)user;
    return lx__writer_rotate(writer, error);
}

static lx_status do_rotate(lx_writer *writer, lx_error *error)
{
    return lx__install_call(writer, rotate_job, NULL, error);
}

static lx_status (*const switches[])(lx_writer *, lx_error *) = {do_fold, do_rebalance, do_add,
                                                                 do_rotate, lx_writer_seal};
#define SWITCHES (sizeof switches / sizeof *switches)

static struct shown make_changed(const char *path)
{
    struct shown shown = shown_all(50);
    records_make(path, 40, 10);
    records_shuffle(path, &shown, 8);
    for (uint64_t i = 0; i < 10; i++)
        records_delete(path, &shown, 2 * i);
    return shown;
}

START_TEST(all_installs_can_follow_each_other)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    for (size_t first = 0; first < SWITCHES; first++) {
        for (size_t second = 0; second < SWITCHES; second++) {
            if (first == 2 && second == 2)
                continue;
            struct shown shown = make_changed("d");
            lx_writer *writer = records_reopen("d", NULL);
            for (int i = 0; i < 2; i++) {
                unit_ok(switches[i == 0 ? first : second](writer, &error));
                lx_dataset *dataset = open_dataset("d");
                expect_shown_by(dataset, &shown);
                lx_dataset_close(dataset);
                if (writer->meta.sealed) {
                    close_writer(writer);
                    unit_ok(lx_dataset_unseal("d", &error));
                    writer = records_reopen("d", NULL);
                }
                /* The last record takes the place of another. */
                unit_ok(lx_writer_delete(writer, 3, NULL, &error));
                shown.shown[3] = shown.shown[--shown.length];
                if (i == 0)
                    commit(writer);
            }
            close_writer(writer);
            lx_dataset *dataset = open_dataset("d");
            expect_shown_by(dataset, &shown);
            unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
            lx_dataset_close(dataset);
            nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
        }
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(changes_nothing_after_a_failed_allocation)
{
    char *scratch = scratch_make();
    struct shown shown = make_changed("made");
    for (size_t which = 0; which < SWITCHES; which++) {
        lx_error error = LX_ERROR_INIT;
        directory_copy("made", "d");
        lx_writer *writer = records_reopen("d", NULL);
        unit_ok(lx__install_commit(writer, &error));
        uint64_t generation = writer->meta.generation;
        for (int left = 0;; left++) {
            scarce_begin(left);
            lx_status status = switches[which](writer, &error);
            scarce_left = 1 << 30;
            if (status == LX_OK)
                break;
            ck_assert_int_eq(status, LX_ERR_NOMEM);
            lx_error_clear(&error);
            ck_assert_uint_eq(writer->meta.generation, generation);
            ck_assert(!file_exists("d/LOG.1") && !file_exists("d/image.offset.1"));
            ck_assert_int_le(left, 2000);
        }
        ck_assert_int_eq(lx_set_allocator(NULL, NULL), LX_OK);
        close_writer(writer);
        lx_dataset *dataset = open_dataset("d");
        expect_shown_by(dataset, &shown);
        lx_dataset_close(dataset);
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(keeps_unknown_keys)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct shown shown = make_changed("d");
    file_edit("d/meta.json", "\"uuid\"", "\"colour\": \"red\", \"uuid\"");
    lx_writer *writer = records_reopen("d", NULL);
    unit_ok(lx_writer_checkpoint(writer, &error));
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
    close_writer(writer);
    size_t size;
    char *text = (char *)file_bytes("d/meta.json", &size);
    ck_assert_ptr_nonnull(strstr(text, "\"colour\": \"red\""));
    ck_assert_ptr_nonnull(strstr(text, "\"length\": 40"));
    free(text);
    expect_shown("d", &shown);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_the_last_generation)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct shown shown = make_changed("d");
    lx_writer *writer = records_reopen("d", NULL);
    uint64_t generation = writer->meta.generation;
    writer->meta.generation = (uint64_t)1 << 62;
    lx_status status = do_rotate(writer, &error);
    expect_error(status, LX_ERR_LIMIT, "generations", "");
    writer->meta.generation = generation;
    uint32_t tables = writer->committed.state.table_generation;
    writer->committed.state.table_generation = UINT32_MAX;
    status = do_fold(writer, &error);
    expect_error(status, LX_ERR_LIMIT, "table generations have been used", "");
    writer->committed.state.table_generation = tables;
    uint32_t next = writer->committed.state.next_chunk;
    writer->flush.pool.next_id = writer->committed.state.next_chunk = 0xffffffff;
    status = do_rebalance(writer, &error);
    expect_error(status, LX_ERR_LIMIT, "chunk ids", "");
    writer->flush.pool.next_id = writer->committed.state.next_chunk = next;
    unit_ok(do_rebalance(writer, &error));
    close_writer(writer);
    expect_shown("d", &shown);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_failed_commit_before_it_changes_nothing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct shown shown = make_changed("d");
    lx_writer *writer = records_reopen("d", NULL);
    for (uint64_t i = 0; i < 5; i++)
        unit_ok(record_append(writer, 50 + i, &error));
    limit_files(500); /* the tables are longer */
    lx_status status = lx_writer_checkpoint(writer, &error);
    unlimit_files();
    ck_assert_int_eq(status, LX_ERR_IO);
    lx_error_clear(&error);
    unit_fails(lx_writer_checkpoint(writer, &error), LX_ERR_IO); /* until a rollback */
    unit_ok(lx_writer_rollback(writer, &error));
    unit_ok(lx_writer_checkpoint(writer, &error));
    close_writer(writer);
    expect_shown("d", &shown);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_a_child_of_fork)
{
    char *scratch = scratch_make();
    lx_writer *writer = records_create("d", NULL);
    if (unit_in_child()) {
        for (size_t i = 0; i < 3; i++)
            if (switches[i](writer, NULL) != LX_ERR_FORKED)
                _exit(1);
        _exit(0);
    }
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

/* ---- with other threads */

struct shared {
    lx_writer *writer;
    atomic_bool stop;
    atomic_uint done;
};

/** Appends records of records.h, as the only thread, and commits. */
static void *append_meanwhile(void *user)
{
    struct shared *shared = user;
    lx_error error = LX_ERROR_INIT;
    for (uint64_t i = 0; !atomic_load(&shared->stop); i++) {
        unit_ok(record_append(shared->writer, i, &error));
        if (i % 7 == 0)
            commit(shared->writer);
        atomic_fetch_add(&shared->done, 1);
    }
    return NULL;
}

static void *read_meanwhile(void *user)
{
    struct shared *shared = user;
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = open_dataset("d");
    while (!atomic_load(&shared->stop)) {
        uint64_t length = lx_dataset_get_length(dataset);
        for (uint64_t i = 0; i < 20 && length != 0; i++)
            expect_value(dataset, IMAGE, mix(i + length) % length);
        unit_ok(lx_dataset_refresh(dataset, NULL, &error));
    }
    lx_dataset_close(dataset);
    return NULL;
}

START_TEST(other_threads_write_and_read_meanwhile)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct shared shared = {.writer = records_create("d", writer_options(LX_DURABILITY_NONE))};
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, append_meanwhile, &shared);
    pthread_create(&threads[1], NULL, read_meanwhile, &shared);
    for (unsigned i = 0; i < 12; i++) {
        unsigned before = atomic_load(&shared.done);
        while (atomic_load(&shared.done) < before + 20)
            nap_ms(1);
        unit_ok(i % 2 == 0 ? do_rotate(shared.writer, &error)
                           : do_rebalance(shared.writer, &error));
    }
    atomic_store(&shared.stop, true);
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    uint64_t length = lx_writer_get_length(shared.writer);
    close_writer(shared.writer);
    ck_assert_uint_eq(length, atomic_load(&shared.done));
    expect_dataset("d", length);
    ck_assert_uint_eq(names_with("d", "LOG"), 1);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/install", all_installs_can_follow_each_other,
          changes_nothing_after_a_failed_allocation, keeps_unknown_keys,
          reports_the_last_generation, a_failed_commit_before_it_changes_nothing,
          rejects_a_child_of_fork, other_threads_write_and_read_meanwhile)
