/* SPDX-License-Identifier: MIT */
#include "zrecord/write/writer.h"

#include <pthread.h>
#include <sys/mount.h>
#include <sched.h>

#include "../records.h"

START_TEST(closing_the_executor_of_a_writer_is_an_error)
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
    records_append(writer, 100); /* the caller can flush a little itself */
    unit_ok(lx_writer_close(writer, &error));
    expect_dataset("d", 200);
    scratch_remove(scratch);
}
END_TEST

static lx_status append_in_a_task(size_t part, void *user, lx_error *error)
{
    lx_status status = LX_OK;
    (void)part;
    for (uint64_t i = 0; status == LX_OK && i < 9000; i++) /* more than one buffer */
        status = record_append(user, lx_writer_get_length(user), error);
    return status == LX_OK ? lx_writer_commit(user, error) : status;
}

/** A task that appends waits for one of the same queue, whose only thread is its own. */
START_TEST(a_task_of_the_write_queue_can_append)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor;
    lx_ticket *ticket;
    unit_ok(lx_executor_open(NULL, &executor, &error));
    ck_assert_uint_eq(lx_executor_get_writer_count(executor), 1);
    lx_writer_options *options = writer_options(LX_DURABILITY_PERIODIC);
    unit_ok(lx_writer_options_set_executor(options, executor, &error));
    lx_writer *writer = records_create("d", options);
    unit_ok(
        lx_executor_submit(executor, LX_QUEUE_WRITE, append_in_a_task, writer, 1, &ticket, &error));
    unit_ok(lx_ticket_wait(ticket, &error));
    lx_ticket_unref(ticket);
    close_writer(writer);
    lx_executor_close(executor);
    expect_dataset("d", 9000);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/reap", closing_the_executor_of_a_writer_is_an_error,
          a_task_of_the_write_queue_can_append)
