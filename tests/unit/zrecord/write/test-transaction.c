/* SPDX-License-Identifier: MIT */
#include "zrecord/write/writer.h"

#include <pthread.h>
#include <sys/mount.h>
#include <sched.h>

#include "../records.h"

START_TEST(a_transaction_is_one_commit)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, 3);
    unit_ok(lx_writer_begin_transaction(writer, &error)); /* commits the three */
    expect_dataset("d", 3);
    for (int i = 0; i < 10; i++) {
        records_append(writer, 1000);
        unit_fails(lx_writer_commit(writer, &error), LX_ERR_STATE);
        unit_fails(lx_writer_begin_transaction(writer, &error), LX_ERR_STATE);
        unit_fails(lx_writer_seal(writer, &error), LX_ERR_STATE);
        unit_ok(lx_writer_sync(writer, &error)); /* of what is committed */
    }
    expect_dataset("d", 3);
    unit_ok(lx_writer_end_transaction(writer, &error));
    lx_dataset *dataset = open_dataset("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 10003);
    for (uint64_t i = 0; i < 10003; i += 501)
        expect_value(dataset, BLOB, i);
    lx_dataset_close(dataset);
    unit_fails(lx_writer_end_transaction(writer, &error), LX_ERR_STATE);
    records_append(writer, 1);
    commit(writer);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_rollback_undoes_uncommitted_operations)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = writer_options(LX_DURABILITY_NONE);
    unit_ok(lx_writer_options_set_chunk_limits(options, 100, 8192, &error));
    lx_writer *writer = records_create("d", options);
    uint64_t length = 0;
    for (uint64_t round = 0; round < 8; round++) {
        unit_ok(lx_writer_begin_transaction(writer, &error));
        records_append(writer, 1 + 400 * (round % 3));
        unit_ok(lx_writer_rollback(writer, &error)); /* ends the transaction */
        ck_assert_uint_eq(lx_writer_get_length(writer), length);
        unit_ok(lx_writer_rollback(writer, &error)); /* there is nothing to roll back */
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

START_TEST(close_undoes_an_open_transaction)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, 3);
    unit_ok(lx_writer_begin_transaction(writer, &error));
    records_append(writer, 5);
    close_writer(writer);
    expect_dataset("d", 3);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/transaction", a_transaction_is_one_commit,
          a_rollback_undoes_uncommitted_operations, close_undoes_an_open_transaction)
