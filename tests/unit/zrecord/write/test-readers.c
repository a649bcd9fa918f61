/* SPDX-License-Identifier: MIT */
#include "zrecord/write/readers.h"

#include "../records.h"
#include "zrecord/format/meta-file.h"
#include "zrecord/snapshot/lock.h"

static void generations_are(lx__generations in, uint64_t first, uint64_t end)
{
    ck_assert_uint_eq(in.first, first);
    ck_assert_uint_eq(in.end, end);
}

START_TEST(generations_reach_to_added_fields)
{
    lx__generations in = {0, 0};
    lx__generations_add(&in, 5);
    generations_are(in, 5, 6);
    lx__generations_add(&in, 5);
    generations_are(in, 5, 6);
    lx__generations_add(&in, 9);
    generations_are(in, 5, 10);
    lx__generations_add(&in, 2);
    generations_are(in, 2, 10);
}
END_TEST

/** Checks for readers as the next writer does. */
static lx__readers find(void)
{
    lx_error error = LX_ERROR_INIT;
    lx__file directory, lock;
    lx__meta meta;
    lx__readers users;
    unit_ok(lx__directory_open(&directory, LX__CWD, "d", &error));
    unit_ok(lx__file_open(&lock, &directory, LX__LOCK_NAME, O_RDWR, &error));
    unit_ok(lx__meta_load(&meta, &directory, &error));
    lx__readers_find(&users, &directory, &lock, &meta);
    lx__meta_free(&meta);
    lx__file_close(&lock);
    lx__file_close(&directory);
    return users;
}

static void rebalance(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_reopen("d", NULL);
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
    close_writer(writer);
}

START_TEST(a_generation_with_readers_uses_what_its_log_names)
{
    char *scratch = scratch_make();
    records_make("d", 10, 3);
    lx__readers users = find();
    ck_assert(users.count == 0 && !users.unknown);
    generations_are(lx__readers_of_chunk(&users, 0), 0, 0);
    lx__readers_free(&users);
    lx_dataset *first = open_dataset("d"), *again = open_dataset("d");
    rebalance();
    rebalance();
    lx_dataset *second = open_dataset("d");
    rebalance();
    users = find();
    ck_assert(users.count == 2 && !users.unknown);
    generations_are(lx__readers_of_tables(&users, 0), 0, 1);
    generations_are(lx__readers_of_tables(&users, 1), 0, 0);
    generations_are(lx__readers_of_tables(&users, 2), 2, 3);
    generations_are(lx__readers_of_chunk(&users, 0), 0, 1);
    generations_are(lx__readers_of_chunk(&users, 1), 0, 0);
    generations_are(lx__readers_of_chunk(&users, 2), 2, 3);
    lx__readers_free(&users);
    lx_dataset_close(first);
    users = find();
    ck_assert_uint_eq(users.count, 2);
    lx__readers_free(&users);
    lx_dataset_close(again);
    users = find();
    ck_assert_uint_eq(users.count, 1);
    lx__readers_free(&users);
    file_cut("d/LOG.2", 10);
    users = find();
    ck_assert(users.unknown);
    generations_are(lx__readers_of_tables(&users, 1), 0, 3);
    generations_are(lx__readers_of_chunk(&users, 7), 0, 3);
    lx__readers_free(&users);
    lx_dataset_close(second);
    scratch_remove(scratch);
}
END_TEST

/** A lock on more bytes than any reader takes, or of another kind. */
START_TEST(foreign_locks_keep_all_files)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 3, 0);
    rebalance();
    rebalance();
    lx__file lock;
    unit_ok(lx__file_open(&lock, LX__CWD, "d/LOCK", O_RDWR, &error));
    unit_ok(lx__file_lock(&lock, false, LX__LOCK_READERS, 2, &error));
    lx__readers users = find();
    ck_assert(users.unknown);
    lx__readers_free(&users);
    lx__file_close(&lock);
    users = find();
    ck_assert(users.count == 0 && !users.unknown);
    lx__readers_free(&users);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/readers", generations_reach_to_added_fields,
          a_generation_with_readers_uses_what_its_log_names, foreign_locks_keep_all_files)
