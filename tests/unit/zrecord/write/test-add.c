/* SPDX-License-Identifier: MIT */
/* Operations in write buffers, and the ends of the calls that added them. */
#include "../../scarce.h"
#include "../numbers.h"

static const lx__write_buffer *filled(const lx_writer *writer)
{
    ck_assert(writer->ring.filling);
    return lx__write_ring_last(&writer->ring);
}

START_TEST(write_buffers_record_their_calls)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = numbers_create("d", NULL);
    for (uint64_t i = 1; i <= 5; i++) {
        unit_ok(number_append(writer, i, NULL, &error));
        ck_assert_uint_eq(writer->calls.made, i);
        ck_assert_uint_eq(filled(writer)->first_call, 1);
        ck_assert_uint_eq(filled(writer)->last_call, i);
    }
    ck_assert_uint_eq(filled(writer)->operation_count, 1);
    ck_assert_uint_eq(filled(writer)->count, 5);
    unit_ok(lx_writer_delete(writer, 0, NULL, &error));
    ck_assert_uint_eq(filled(writer)->operation_count, 2);
    /* A call that fills a buffer and continues in the next is the last of the one, the first of the
     * other. */
    unit_ok(numbers_extend(writer, LX__WRITE_BUFFER_VALUES, 9, &error));
    ck_assert_uint_eq(writer->ring.count, 2);
    ck_assert_uint_eq(lx__write_ring_at(&writer->ring, 0)->last_call, 7);
    ck_assert_uint_eq(filled(writer)->first_call, 7);
    ck_assert_uint_eq(filled(writer)->count, 5);
    unit_ok(number_append(writer, 1, NULL, &error));
    ck_assert_uint_eq(filled(writer)->first_call, 7);
    ck_assert_uint_eq(filled(writer)->last_call, 8);
    commit(writer);
    ck_assert(!writer->ring.filling);
    ck_assert_uint_eq(writer->ring.count, 0);
    ck_assert_uint_eq(writer->calls.committed, 8);
    unit_ok(number_append(writer, 1, NULL, &error));
    ck_assert_uint_eq(filled(writer)->first_call, 9);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejected_calls_leave_no_trace)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = numbers_create("d", NULL);
    unit_ok(number_append(writer, 1, NULL, &error));
    lx_value wrong = {"12345", 5};
    unit_fails(lx_writer_append(writer, &wrong, 1, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(number_modify(writer, 1, 5, &error), LX_ERR_RANGE);
    unit_fails(lx_writer_delete(writer, 1, NULL, &error), LX_ERR_RANGE);
    unit_fails(lx_writer_truncate(writer, 2, &error), LX_ERR_RANGE);
    ck_assert_uint_eq(filled(writer)->operation_count, 1);
    ck_assert_uint_eq(writer->calls.made, 1);
    close_writer(writer);
    ck_assert_uint_eq(visible_length("d"), 1);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_call_without_effect_adds_no_operation)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = numbers_create("d", NULL);
    unit_ok(lx_writer_truncate(writer, 0, &error));
    ck_assert(!writer->ring.filling);
    unit_ok(numbers_extend(writer, 0, 1, &error));
    ck_assert(!writer->ring.filling);
    commit(writer);
    ck_assert_uint_eq(frames_of("d"), 1);
    unit_ok(number_append(writer, 1, NULL, &error));
    unit_ok(lx_writer_truncate(writer, 1, &error));
    unit_ok(lx_writer_modify(writer, 0, NULL, NULL, 0, &error));
    ck_assert_uint_eq(filled(writer)->operation_count, 1);
    close_writer(writer);
    ck_assert_uint_eq(visible_length("d"), 1);
    scratch_remove(scratch);
}
END_TEST

/** All four buffers are used, and then reaped in order. */
START_TEST(a_full_ring_reaps_the_oldest_buffer)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = numbers_create("d", NULL);
    unit_ok(lx_writer_begin_transaction(writer, &error));
    uint64_t per_stage = LX__WRITE_BUFFER_VALUES, most = LX__WRITE_BUFFERS * per_stage;
    for (uint64_t i = 0; i < LX__WRITE_BUFFERS; i++) {
        unit_ok(numbers_extend(writer, per_stage, i, &error));
        ck_assert_uint_eq(writer->ring.count, i + 1);
        ck_assert(!writer->ring.filling); /* the last one is with the flush tasks */
    }
    ck_assert_uint_eq(writer->applied.length, 0);
    unit_ok(number_append(writer, 9, NULL, &error));
    ck_assert_uint_eq(writer->applied.length, per_stage);
    ck_assert_uint_eq(writer->calls.applied, 1);
    ck_assert_uint_eq(writer->ring.count, LX__WRITE_BUFFERS);
    unit_ok(lx_writer_end_transaction(writer, &error));
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), most + 1);
    for (uint64_t i = 0; i < most; i += 1021)
        ck_assert_uint_eq(number_at(dataset, i), i / per_stage);
    ck_assert_uint_eq(number_at(dataset, most), 9);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(undoes_a_call_that_runs_out_of_memory)
{
    char *scratch = scratch_make();
    unsigned failures = 0;
    lx_writer *writer = numbers_create("d", writer_options(LX_DURABILITY_NONE));
    uint64_t length = 0;
    for (int left = 0; left < 40; left++) {
        lx_error error = LX_ERROR_INIT;
        scarce_begin(left);
        lx_status status = numbers_extend(writer, 40000, 1, &error);
        if (status == LX_OK)
            status = lx_writer_delete(writer, 5, NULL, &error);
        if (status == LX_OK)
            status = number_modify(writer, 0, 2, &error);
        lx_status committed = lx_writer_commit(writer, NULL);
        lx_set_allocator(NULL, NULL);
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
        ck_assert(committed == LX_OK || committed == LX_ERR_NOMEM);
        ck_assert(status == LX_OK || committed != LX_OK || writer->calls.failure.status == LX_OK);
        failures += status != LX_OK;
        lx_error_clear(&error);
        unit_ok(lx_writer_rollback(writer, &error));
        uint64_t now_there = lx_writer_get_length(writer);
        ck_assert_uint_eq(now_there, visible_length("d"));
        bool done = committed == LX_OK && status == LX_OK;
        ck_assert_uint_eq(now_there, done ? length + 39999 : length);
        length = now_there;
    }
    ck_assert_uint_gt(failures, 0);
    ck_assert_uint_gt(length, 0);
    close_writer(writer);
    ck_assert_uint_eq(visible_length("d"), length);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/add", write_buffers_record_their_calls, rejected_calls_leave_no_trace,
          a_call_without_effect_adds_no_operation, a_full_ring_reaps_the_oldest_buffer,
          undoes_a_call_that_runs_out_of_memory)
